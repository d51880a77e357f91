"""What a folder of runs holds, and what is wrong with it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from longform.errors import FailureError, InputError
from longform.report import gather
from longform.report.caveats import caveats, share


def edit(path: Path, **changes: object) -> None:
    record = json.loads(path.read_text())
    for name, value in changes.items():
        place = record
        *outer, last = name.split("__")
        for key in outer:
            place = place[key]
        place[last] = value
    path.write_text(json.dumps(record))


def drop_last(path: Path, lines: int) -> None:
    kept = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(kept[:-lines]))


def test_runs_stand_in_the_order_of_the_study(made_runs: Path) -> None:
    ambiguous, talks = gather(made_runs).datasets
    assert ambiguous.label == "ambiguous" and talks.label == "talks"
    names = [entry.system for entry in ambiguous.entries]
    assert names == [
        "question-x8",
        "random-answer",
        "bm25@1",
        "bm25@5",
        "hostile_100",
        "best-training-answer@7",
        "human",
    ]
    assert [entry.system for entry in ambiguous.competing] == ["bm25@1", "bm25@5", "hostile_100"]
    sides = [(bound.name, bound.side) for bound in ambiguous.bounds]
    assert sides == [
        ("question-x8", "lower"),
        ("random-answer", "lower"),
        ("best-training-answer@7", "upper"),
        ("human", "upper"),
    ]
    assert caveats(gather(made_runs)) == []


def test_one_run_alone(made_runs: Path) -> None:
    (dataset,) = gather(made_runs / "talks" / "bm25@1").datasets
    assert [entry.system for entry in dataset.entries] == ["bm25@1"]


def test_a_folder_without_runs(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"There are no runs in .*: `longform study run` makes some"):
        gather(tmp_path)


def test_an_unfinished_run_is_not_scored(runs: Path) -> None:
    drop_last(runs / "ambiguous" / "bm25@5" / "items.jsonl", 7)
    found = gather(runs)
    dataset = found.datasets[0]
    assert dataset.entry("bm25@5") is None
    (one,) = dataset.unfinished
    assert (one.done, one.items, one.why) == (17, 24, "is not finished")
    assert "bm25@5 on ambiguous is not finished and is in no table: 17 of 24 (70 %) answers." in caveats(found)


def test_scores_of_other_answers_do_not_count(runs: Path) -> None:
    path = runs / "ambiguous" / "bm25@5" / "items.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"total":', b'"total": '))
    (one,) = gather(runs).datasets[0].unfinished
    assert one.why == "has scores of other answers"


def test_a_run_that_is_not_scored_yet(runs: Path) -> None:
    shutil.rmtree(runs / "ambiguous" / "human" / "scores")
    (one,) = gather(runs).datasets[0].unfinished
    assert (one.run.system, one.why, one.done) == ("human", "is not scored yet", 24)


def test_damaged_scores_do_not_stop_a_report(runs: Path) -> None:
    items = runs / "ambiguous" / "bm25@5" / "scores" / "items.jsonl"
    items.write_bytes(items.read_bytes()[:-40])
    found = gather(runs)
    (one,) = found.datasets[0].unfinished
    assert (one.run.system, one.why) == ("bm25@5", "has damaged scores")
    assert "bm25@5 on ambiguous has damaged scores and is in no table: 24 of 24 (100 %) answers." in caveats(found)


def test_a_damaged_run_does_not_stop_a_report(runs: Path) -> None:
    first, second = (path.parent for path in sorted(runs.rglob("bm25@*/run.json"))[:2])
    (first / "run.json").write_text("[]")
    (second / "items.jsonl").write_text('{"id": "x", "answers": 3}\n')
    found = gather(runs)
    told = caveats(found)
    assert told[0].startswith(f"Left out: {first / 'run.json'} is damaged: remove {first}")
    assert told[1].startswith(f"Left out: {second / 'items.jsonl'} is damaged: its line for x has no answers")
    assert not {first, second} & {run.folder for dataset in found.datasets for run in dataset.runs}
    for path in runs.rglob("run.json"):
        path.write_text("[]")
    with pytest.raises(FailureError, match="is damaged"):
        gather(runs)


def test_two_runs_of_the_same_name_are_told_apart(runs: Path) -> None:
    shutil.copytree(runs / "ambiguous" / "bm25@5", runs / "ambiguous" / "again")
    dataset = gather(runs).datasets[0]
    assert {entry.system for entry in dataset.entries} >= {"bm25@5", "again"}
    assert len(dataset.entries) == 8


def test_mixed_runs_are_noted(runs: Path) -> None:
    edit(runs / "talks" / "bm25@1" / "run.json", identity__longform="0.0.1", seed=7, machine__cores=96)
    edit(runs / "talks" / "bm25@1" / "run.json", versions__numpy="1.0")
    edit(runs / "talks" / "bm25@5" / "scores" / "scores.json", settings__sentences="punkt")
    told = "\n".join(caveats(gather(runs)))
    assert "several versions of Longform" in told and "0.0.1 (bm25@1)" in told
    assert "Runs have several seeds: 0 (most runs); 7 (bm25@1)." in told
    assert "several machines" in told and "96 cores" in told
    assert "several versions of numpy: see the end of the page" in told
    assert "several ways to split sentences: own (most runs); punkt (bm25@5)." in told


def test_datasets_of_the_same_name_are_told_apart(runs: Path, tmp_path: Path) -> None:
    both = tmp_path / "both"
    shutil.copytree(runs, both / "first")
    shutil.copytree(runs, both / "second")
    labels = [dataset.label for dataset in gather(both).datasets]
    assert labels == ["first/ambiguous", "first/talks", "second/ambiguous", "second/talks"]


def test_share_is_never_whole_before_the_end() -> None:
    assert share(999, 1000) == "999 of 1,000 (99 %)"
    assert share(0, 0) == "0 of 0 (0 %)"


def test_findings_of_audits(runs: Path) -> None:
    finding = {"check": "Length", "verdict": "concern", "words": "It is long.", "numbers": {"share": 0.4}, "notes": []}
    table = {"title": "Cuts", "columns": ["cut", "score"], "rows": [["50 %", "12"]], "note": "n"}
    (runs / "findings.json").write_text(json.dumps([finding]))
    (runs / "talks" / "bm25@1" / "findings.json").write_text(json.dumps({"findings": [{**finding, "tables": [table]}]}))
    first, second = gather(runs).findings
    assert (first.where, first.finding.words) == ("", "It is long.")
    assert (second.where, second.finding.tables[0].title) == ("talks/bm25@1", "Cuts")


@pytest.mark.parametrize("text", ["{", '[{"check": "x"}]', '[{"check": "x", "verdict": "grand", "words": ""}]', "3"])
def test_broken_findings_are_named(runs: Path, text: str) -> None:
    (runs / "findings.json").write_text(text)
    with pytest.raises(InputError, match=r"findings.json holds no findings: run the audit again, or remove the file\."):
        gather(runs)


def test_bounds_of_a_file(runs: Path) -> None:
    rows = [
        {"name": "copy", "side": "lower", "scores": {"str_em": 3.0}},
        {"name": "other", "side": "upper", "scores": {"str_em": 3.0}, "dataset": "talks"},
        {"name": "human", "side": "upper", "scores": {"str_em": 1.0}},
    ]
    (runs / "bounds.json").write_text(json.dumps({"bounds": rows}))
    ambiguous, talks = gather(runs).datasets
    assert [bound.name for bound in ambiguous.extra_bounds] == ["copy", "human"]
    assert next(bound for bound in ambiguous.bounds if bound.name == "human").scores["str_em"] == 100, "the run counts"
    (runs / "talks" / "bounds.json").write_text(json.dumps(rows[1:2]))
    assert [bound.name for bound in gather(runs).datasets[1].extra_bounds] == ["other"], "the nearest file counts"
    assert [bound.name for bound in talks.extra_bounds] == ["copy", "other", "human"]


def test_broken_bounds_are_named(runs: Path) -> None:
    (runs / "bounds.json").write_text('[{"name": "x"}]')
    with pytest.raises(InputError, match=r"bounds\.json holds no bounds: each has a name, a side and scores"):
        gather(runs)
    (runs / "bounds.json").write_text('[{"name": "x", "side": "left", "scores": {}}]')
    with pytest.raises(InputError, match='the side of x is neither "lower" nor "upper"'):
        gather(runs)


def test_other_questions_than_the_run_was_made_with(runs: Path) -> None:
    from longform.errors import FailureError
    from longform.report import make_report

    drop_last(runs / "talks" / "examples.jsonl", 1)
    with pytest.raises(FailureError, match=r"is not the file that .* was made with: run the study again"):
        make_report(runs, runs.parent / "report", resamples=100)
