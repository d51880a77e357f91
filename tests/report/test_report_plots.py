"""Plots: they say what the scores say, and nothing lies on anything."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longform.report import gather
from longform.report.bars import bars
from longform.report.curves import covered_lines, recall_by_turn, recall_curve, recall_plot, turns_plot
from longform.report.formats import csv_rows, to_latex, to_markdown
from longform.report.gather import DatasetRuns, Entry
from longform.report.labels import Box, in_lanes, place_labels
from longform.report.page_scores import score_tables
from longform.report.plot import Plot
from longform.report.scatter import scatter, side_by_side
from longform.report.svg import nice_ticks, shortened, text_width
from longform.report.table import score_table
from longform.report.timing import mean_seconds, timing

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def datasets(made_runs: Path) -> tuple[DatasetRuns, ...]:
    return gather(made_runs).datasets


def drawn(plot: Plot | None, *, standalone: bool = True) -> ElementTree.Element:
    assert plot is not None
    return ElementTree.fromstring(plot.drawing.svg(standalone=standalone))


def test_bars_are_as_long_as_the_scores(datasets: tuple[DatasetRuns, ...]) -> None:
    table = score_table(datasets[0], resamples=100)
    plot = bars(datasets[0], table, "str_em", "x")
    image = drawn(plot)
    found = [float(one.attrib["width"]) for one in image.iter(f"{SVG}rect") if one.attrib["class"] == "bar"]
    scores = [table.cells[name]["str_em"].value for name in ("bm25@1", "bm25@5")]
    assert len(found) == 3 and found[2] == 0.5, "a score of 0 is still to be seen"
    assert found[0] / found[1] == pytest.approx(scores[0] / scores[1], rel=1e-3)
    lines = [one for one in image.iter(f"{SVG}line") if one.attrib["class"].startswith("bound")]
    assert [one.attrib["class"] for one in lines].count("bound lower") == 2
    upper = [one.attrib for one in lines if one.attrib["class"] == "bound upper"]
    assert len({one["x1"] for one in upper}) == 2
    numbers = [one for one in image.iter(f"{SVG}text") if one.attrib.get("class") == "soft" and one.text != "controls"]
    (baseline,) = {float(one.attrib["y"]) for one in numbers}
    for one in upper:
        ends = sorted((float(one["y1"]), float(one["y2"])))
        assert ends[1] <= baseline - 9 or ends[0] >= baseline + 2, "no line runs through the numbers of the axis"
    texts = [one.text for one in image.iter(f"{SVG}text")]
    assert "human 100.0" in texts and "question-x8 0.0" in texts
    assert plot is not None and ["human (upper bound)", "100.0", "", ""] in plot.rows


def test_a_picture_says_what_it_shows(datasets: tuple[DatasetRuns, ...]) -> None:
    image = drawn(recall_plot(datasets[0], "answer", "x"))
    assert image.attrib["role"] == "img"
    ids = image.attrib["aria-labelledby"].split()
    named = {one.attrib["id"]: one.text for one in image if one.tag in (f"{SVG}title", f"{SVG}desc")}
    assert named[ids[0]] == "Recall of short answers on ambiguous"
    assert "bm25@1, bm25@5: 48 % at 1" in str(named[ids[1]])
    style = image.find(f"{SVG}style")
    assert style is not None and "var(" not in str(style.text) and "light-dark" not in str(style.text)
    assert not any("style" in one.attrib for one in image.iter()), "the page's policy refuses such styles"


def test_curves_are_the_recall_that_was_scored(datasets: tuple[DatasetRuns, ...]) -> None:
    for dataset in datasets:
        entry = dataset.entry("bm25@5")
        assert entry is not None
        checked = 0
        for gold in ("answer", "page", "follow_up"):
            curve = recall_curve(list(entry.run.rows.values()), gold)
            for k in (1, 5, 20):
                score = entry.report.scores.get(f"{gold}_recall@{k}")
                if score is not None:
                    assert curve[k - 1] == pytest.approx(score)
                    checked += 1
            assert curve == sorted(curve)
        assert checked >= 6


def test_systems_with_the_same_ranking_share_a_line(datasets: tuple[DatasetRuns, ...]) -> None:
    plot = recall_plot(datasets[0], "answer", "x")
    assert plot is not None
    assert [row[0] for row in plot.rows] == ["bm25@1, bm25@5", "hostile_100"]
    assert recall_plot(datasets[1], "page", "x") is None


def test_lines_that_lie_on_each_other_are_both_seen(datasets: tuple[DatasetRuns, ...]) -> None:
    below = [(k, 10.0 * k) for k in range(1, 9)]
    assert covered_lines([below, below[:4], [(k, y + 5) for k, y in below]]) == {1: 1}
    assert covered_lines([below, below, below, below]) == {1: 1, 2: 2, 3: 1}
    image = drawn(recall_plot(datasets[0], "answer", "x"))
    key = [one.text for one in image.iter(f"{SVG}text") if not one.attrib.get("class")]
    assert key == ["bm25@1", "bm25@5", "hostile_100"], "every system has its row"
    kinds = [one.attrib["class"] for one in image.iter(f"{SVG}line") if "curve" in one.attrib["class"]]
    assert kinds[0] == kinds[1] != kinds[2]


def as_control(dataset: DatasetRuns, system: str) -> DatasetRuns:
    """The dataset with one of its systems made a control."""

    def changed(entry: Entry) -> Entry:
        if entry.system != system:
            return entry
        config = {**entry.run.record["config"], "system": {**entry.settings, "given": "random"}}
        return replace(entry, run=replace(entry.run, record={**entry.run.record, "config": config}))

    return replace(dataset, entries=tuple(map(changed, dataset.entries)))


def test_controls_stand_apart(datasets: tuple[DatasetRuns, ...]) -> None:
    dataset = as_control(datasets[0], "bm25@1")
    assert [entry.system for entry in dataset.competing] == ["bm25@5", "hostile_100"]
    assert [entry.system for entry in dataset.controls] == ["bm25@1"]
    table = score_table(dataset, resamples=100)
    assert table.baseline == "bm25@5", "a control is no baseline unless it is named"
    assert [heading for heading, _ in table.groups] == ["Systems", "Controls", "Bounds"]
    assert table.systems[:3] == ["bm25@5", "hostile_100", "bm25@1"]
    plot = bars(dataset, table, "rougeLsum", "x")
    image = drawn(plot)
    assert plot is not None and [row[0] for row in plot.rows][:3] == ["bm25@5", "hostile_100", "bm25@1 (control)"]
    assert "; controls: bm25@1 " in plot.drawing.description
    heights = {one.text: float(one.attrib["y"]) for one in image.iter(f"{SVG}text")}
    assert heights["hostile_100"] < heights["controls"] < heights["bm25@1"]
    assert [one.attrib["class"] for one in image.iter(f"{SVG}rect")].count("bar control") == 1
    assert "bm25@1 (control)" in str([one.text for one in drawn(recall_plot(dataset, "answer", "x")).iter()])
    assert "| bm25@1 (control) |" in to_markdown([table])
    latex = to_latex([table]).split("\\bottomrule")[0]
    assert latex.index("\\midrule") < latex.index("hostile") < latex.rindex("\\midrule")
    assert "bm25@1 (control)" in latex
    assert {row["bound"] for row in csv_rows([table]) if row["system"] == "bm25@1"} == {"control"}
    page = score_tables(table)
    assert '<tr class="group"><th scope="rowgroup">Controls</th>' in page
    assert '<span class="chip control">control</span>' in page


def test_where_all_are_controls_they_compete(datasets: tuple[DatasetRuns, ...]) -> None:
    (one,) = [entry for entry in as_control(datasets[0], "bm25@1").entries if entry.system == "bm25@1"]
    alone = replace(datasets[0], entries=(one,), extra_bounds=())
    assert alone.competing == (one,) and alone.controls == ()
    assert bars(alone, score_table(alone, resamples=50), "str_em", "x") is not None


def test_turns_together_are_the_recall_that_was_scored(datasets: tuple[DatasetRuns, ...]) -> None:
    entry = datasets[1].entry("bm25@5")
    assert entry is not None
    turns = recall_by_turn(entry)
    assert turns[0][0] == pytest.approx(entry.report.scores["answer_recall@5"]) and turns[0][1] == 10
    counts = [count for _, count in turns]
    assert counts == sorted(counts, reverse=True)
    found = [(row["ranks"]["follow_up"]) for row in entry.run.rows.values()]
    hits = sum(rank is not None and rank <= 5 for ranks in found for rank in ranks)
    assert sum(value / 100 * count for value, count in turns[1:]) == pytest.approx(hits), "one answer a turn here"
    plot = turns_plot(datasets[1], "x")
    assert plot is not None and plot.columns[:3] == ("system", "turn 1", "turn 2") and "(n = 10)" in plot.rows[0][1]
    assert turns_plot(datasets[0], "x") is None


def test_scatter_has_the_systems_with_passages(datasets: tuple[DatasetRuns, ...]) -> None:
    plot = scatter(datasets[0], score_table(datasets[0], resamples=100), "rougeLsum", "x")
    assert plot is not None
    assert [row[0] for row in plot.rows] == ["bm25@1", "bm25@5", "hostile_100"]
    assert plot.rows[2] == ["hostile_100", "0.8", "22.2"]
    labels = [one.text for one in drawn(plot).iter(f"{SVG}text") if "point-label" in one.attrib.get("class", "")]
    assert labels == ["bm25@1", "bm25@5", "hostile_100"]


def test_time_by_stage(datasets: tuple[DatasetRuns, ...]) -> None:
    entry = datasets[0].entry("bm25@5")
    assert entry is not None
    rows = list(entry.run.rows.values())
    means = mean_seconds(rows)
    assert list(means) == ["search", "other"]
    assert sum(means.values()) == pytest.approx(sum(row["seconds"]["total"] for row in rows) / len(rows))
    plot = timing(datasets[0], "x")
    assert plot is not None and "human" not in [row[0] for row in plot.rows]
    assert mean_seconds([{"id": "a"}]) == {}


points = st.lists(st.tuples(st.floats(50, 350), st.floats(20, 230)), min_size=1, max_size=14)


@given(points)
def test_no_label_lies_on_another(places: list[tuple[float, float]]) -> None:
    frame = Box(0, 0, 420, 640)
    boxes = place_labels(places, [(70.0, 14.0)] * len(places), frame)
    assert boxes is not None
    for place, box in enumerate(boxes):
        assert box.within(frame)
        assert not any(box.overlaps(other) for other in boxes[:place])
        assert not any(box.left < x < box.right and box.top < y < box.bottom for x, y in places)


def test_no_room_for_labels() -> None:
    assert place_labels([(5, 5)], [(70, 14)], Box(0, 0, 20, 20)) is None


@given(st.lists(st.tuples(st.floats(0, 400), st.floats(20, 150)), max_size=10))
def test_no_line_crosses_a_label(found: list[tuple[float, float]]) -> None:
    ordered = sorted(found, reverse=True)
    spans = [(x + 4, x + 4 + width) for x, width in ordered]
    lines = [x for x, _ in ordered]
    lanes = in_lanes(spans, lines)
    for place, lane in enumerate(lanes):
        low, high = spans[place]
        for other in range(len(lanes)):
            if other != place and lanes[other] == lane:
                assert high <= spans[other][0] or spans[other][1] <= low
            if lanes[other] > lane:
                assert not low < lines[other] < high


@given(st.floats(-1000, 1000), st.floats(0, 1000))
def test_ticks_hold_what_they_measure(low: float, span: float) -> None:
    ticks = nice_ticks(low, low + span)
    assert ticks[0] <= low + 1e-6 and ticks[-1] >= low + span - 1e-6
    assert 2 <= len(ticks) <= 12 and ticks == sorted(set(ticks))


@given(st.text(max_size=60), st.floats(20, 200))
def test_shortened_texts_fit(text: str, width: float) -> None:
    assert text_width(shortened(text, width)) <= max(width, text_width("…"))


def test_marks_of_equal_systems_stand_side_by_side() -> None:
    points = [(100.0, 50.0)] * 3 + [(2.0, 50.0)] * 2
    placed, moved = side_by_side(points, 0.0)
    assert moved and len(set(placed)) == 5
    assert all(abs(first[0] - second[0]) >= 11 for at, first in enumerate(placed[:3]) for second in placed[at + 1 : 3])
    assert placed[4][0] > placed[3][0], "there is no room to the left"
    assert side_by_side([(1.0, 1.0), (90.0, 1.0)], 0.0) == ([(1.0, 1.0), (90.0, 1.0)], False)
