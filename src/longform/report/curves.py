"""Lines: recall against the number of passages, and answer recall turn by turn of a conversation."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from longform.report.gather import DatasetRuns, Entry
from longform.report.plot import WIDTH, Plot, add_key, add_mark, key_height, line_class
from longform.report.svg import SIZE, Drawing, number

__all__ = ["TURN_K", "covered_lines", "recall_by_turn", "recall_curve", "recall_plot", "turns_plot"]

TURN_K = 5
"""How many passages count in the plot over turns, as in Christmann et al., 2024, section 4."""

_LEFT, _TOP, _PLOT = 40.0, 12.0, 210.0
_AT = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
# In percent of recall: about as much as a line is wide.
_STROKE = 1.0
_COVERED = 0.25
_GOLD = {"answer": "short answers", "page": "gold pages", "follow_up": "follow-ups' answers"}


def recall_curve(rows: Sequence[Mapping[str, object]], gold: str) -> list[float]:
    """Recall at 1, 2, …, as deep as the longest ranking goes: the mean over questions of the share found, in percent.

    >>> recall_curve([{"ranking": ["a", "b"], "ranks": {"answer": [1, None]}}], "answer")
    [50.0, 50.0]
    """
    found = [(ranks, row) for row in rows if (ranks := _ranks(row, gold))]
    deepest = max((len(_list(row.get("ranking"))) for _, row in found), default=0)
    total = [0.0] * (deepest + 1)
    for ranks, _ in found:
        for rank in ranks:
            if rank is not None and rank <= deepest:
                total[rank] += 1 / len(ranks)
    curve, sum_ = [], 0.0
    for added in total[1:]:
        sum_ += added
        curve.append(100 * sum_ / len(found))
    return curve


def recall_by_turn(entry: Entry, k: int = TURN_K) -> list[tuple[float, int]]:
    """Recall at ``k`` for each turn of the conversations, in percent, and over how many conversations.

    The first turn is the question itself; the run keeps the ranks of later turns in a row, and the gold says where
    each begins.
    """
    sums: list[float] = []
    counts: list[int] = []
    for example in entry.run.examples:
        row = entry.run.rows[example.id]
        first, later = _ranks(row, "answer"), _ranks(row, "follow_up")
        if not first or not later:
            continue
        turns = [first]
        for turn in example.follow_ups:
            turns.append(later[: len(turn.short_answers)])
            later = later[len(turn.short_answers) :]
        for place, ranks in enumerate(turns):
            if place == len(sums):
                sums.append(0.0)
                counts.append(0)
            if ranks:
                sums[place] += sum(rank is not None and rank <= k for rank in ranks) / len(ranks)
                counts[place] += 1
    return [(100 * total / count, count) for total, count in zip(sums, counts, strict=True) if count]


def recall_plot(dataset: DatasetRuns, gold: str, name: str) -> Plot | None:
    """Recall against k; systems with the very same ranking share a line."""
    curves: dict[tuple[float, ...], list[str]] = {}
    for entry in dataset.entries:
        curve = tuple(recall_curve(list(entry.run.rows.values()), gold))
        if curve:
            curves.setdefault(curve, []).append(entry.title)
    if not curves:
        return None
    deepest = max(len(curve) for curve in curves)
    names = [", ".join(systems) for systems in curves.values()]
    ticks = [k for k in _AT if k <= deepest]
    span = math.log(deepest) or 1.0
    lines = [[(k, value) for k, value in enumerate(curve, 1)] for curve in curves]
    title = f"Recall of {_GOLD[gold]} on {dataset.label}"
    told = "; ".join(
        f"{name}: " + ", ".join(f"{curve[k - 1]:.0f} % at {k}" for k in ticks if k <= len(curve))
        for name, curve in zip(names, curves, strict=True)
    )
    groups = list(curves.values())
    drawing = _frame(name, title, f"{told}.", groups)
    _draw(drawing, lines, groups, ticks, lambda k: math.log(k) / span, "passages looked at, k")
    rows = [
        [name, *(f"{curve[k - 1]:.1f}" if k <= len(curve) else "" for k in ticks)]
        for name, curve in zip(names, curves, strict=True)
    ]
    caption = f"The share of the {_GOLD[gold]} that stand in the first k passages, in percent, by k."
    return Plot(drawing, caption, ("system", *(f"k = {k}" for k in ticks)), rows)


def turns_plot(dataset: DatasetRuns, name: str, k: int = TURN_K) -> Plot | None:
    """Answer recall at ``k`` for the question and each follow-up."""
    found: dict[tuple[tuple[float, int], ...], list[str]] = {}
    for entry in dataset.entries:
        turns = tuple(recall_by_turn(entry, k))
        if len(turns) > 1:
            found.setdefault(turns, []).append(entry.title)
    if not found:
        return None
    names = [", ".join(systems) for systems in found.values()]
    longest = max(len(turns) for turns in found)
    lines = [[(turn, value) for turn, (value, _) in enumerate(turns, 1)] for turns in found]
    told = "; ".join(
        f"{name}: " + ", ".join(f"{value:.0f} % in turn {turn}" for turn, value in line)
        for name, line in zip(names, lines, strict=True)
    )
    groups = list(found.values())
    drawing = _frame(name, f"Answer recall per turn on {dataset.label}", f"{told}.", groups)
    ticks = list(range(1, longest + 1))
    _draw(drawing, lines, groups, ticks, lambda turn: (turn - 1) / max(longest - 1, 1), "turn of the conversation")
    rows = [
        [name, *(f"{value:.1f} (n = {count})" for value, count in turns)] + [""] * (longest - len(turns))
        for name, turns in zip(names, found, strict=True)
    ]
    caption = (
        f"The share of each turn's answers that stand in the first {k} passages found for the first question, in "
        "percent: what the passages foresee of the conversation."
    )
    return Plot(drawing, caption, ("system", *(f"turn {turn}" for turn in ticks)), rows)


def _frame(name: str, title: str, description: str, groups: Sequence[Sequence[str]]) -> Drawing:
    return Drawing(name, title, description, WIDTH, _TOP + _PLOT + 44 + key_height(sum(map(len, groups))))


def covered_lines(lines: Sequence[Sequence[tuple[int, float]]]) -> dict[int, int]:
    """Lines that lie on earlier ones for a good part, each with how it is dashed: the second on a place, the third, …

    As lines are drawn one above the other, the dashes let those below show.

    >>> covered_lines([[(1, 50.0), (2, 60.0)], [(1, 50.2), (2, 60.0)], [(1, 10.0), (2, 20.0)]])
    {1: 1}
    """
    found: dict[int, int] = {}
    for place, line in enumerate(lines):
        below = [other for other in range(place) if _shared(line, lines[other]) >= _COVERED]
        if below:
            found[place] = 1 + max(found.get(other, 0) for other in below) % 2
    return found


def _shared(line: Sequence[tuple[int, float]], other: Sequence[tuple[int, float]]) -> float:
    """The share of a line's points that lie on another line, but for the width of a stroke."""
    there = dict(other)
    return sum(abs(there.get(x, math.inf) - y) < _STROKE for x, y in line) / len(line)


def _draw(
    drawing: Drawing,
    lines: Sequence[Sequence[tuple[int, float]]],
    groups: Sequence[Sequence[str]],
    ticks: Sequence[int],
    place_of: Callable[[float], float],
    axis: str,
) -> None:
    right, bottom = WIDTH - 12, _TOP + _PLOT

    def at(x: float, y: float) -> tuple[float, float]:
        return _LEFT + place_of(x) * (right - _LEFT), bottom - y / 100 * _PLOT

    for level in range(0, 101, 20):
        y = at(ticks[0], level)[1]
        drawing.add("line", x1=_LEFT, x2=right, y1=y, y2=y, class_="grid")
        drawing.text(_LEFT - 6, y + SIZE * 0.35, number(level), text_anchor="end", class_="soft")
    for tick in ticks:
        drawing.text(at(tick, 0)[0], bottom + 16, number(tick), text_anchor="middle", class_="soft")
    drawing.text((_LEFT + right) / 2, bottom + 33, axis, text_anchor="middle", class_="soft")
    dashes = covered_lines(lines)
    for place, line in enumerate(lines):
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in (at(*point) for point in line))
        drawing.add("polyline", points=points, class_=line_class(place, dashes.get(place)))
        for x, value in line:
            if x in ticks:
                add_mark(drawing, place, *at(x, value))
    # Every system has its row, also where several share a line.
    names = [name for group in groups for name in group]
    places = [place for place, group in enumerate(groups) for _ in group]
    add_key(drawing, names, bottom + 42, places=places, dashes=dashes)


def _ranks(row: Mapping[str, object], gold: str) -> list[int | None]:
    ranks = row.get("ranks")
    return list(ranks.get(gold) or ()) if isinstance(ranks, Mapping) else []


def _list(value: object) -> Sequence[object]:
    return value if isinstance(value, list) else ()
