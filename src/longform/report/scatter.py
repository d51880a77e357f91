"""Quality against groundedness: who answers well, and who answers from what was found."""

from __future__ import annotations

from collections.abc import Sequence

from longform.report.gather import DatasetRuns
from longform.report.labels import Box, place_labels
from longform.report.measures import measure_of
from longform.report.plot import WIDTH, Plot, add_mark
from longform.report.svg import SIZE, Drawing, nice_ticks, number, shortened, text_width
from longform.report.table import ScoreTable

__all__ = ["scatter", "side_by_side"]

_LEFT, _TOP = 46.0, 14.0
_HEIGHTS = (250.0, 340.0, 460.0, 640.0)
_GROUNDED = "groundedness"
# Marks nearer to each other than this cover each other.
_MARK = 11.0


def scatter(dataset: DatasetRuns, table: ScoreTable, quality: str, name: str) -> Plot | None:
    """A point for each system that has passages; the plot grows until every name has a place of its own."""
    systems = [
        system for system in table.systems if quality in table.cells[system] and _GROUNDED in _scores(dataset, system)
    ]
    if not systems:
        return None
    xs = [_scores(dataset, system)[_GROUNDED] for system in systems]
    ys = [table.cells[system][quality].value for system in systems]
    across = nice_ticks(min(min(xs), 90.0), 100.0)
    up = nice_ticks(min(ys), max(ys))
    right = WIDTH - 14
    titles = {entry.system: entry.title for entry in dataset.entries}
    texts = [shortened(titles[system], 150) for system in systems]
    sizes = [(text_width(text) + 2, SIZE + 2) for text in texts]
    for height in _HEIGHTS:
        bottom = _TOP + height
        points = [
            (
                _LEFT + (x - across[0]) / (across[-1] - across[0]) * (right - _LEFT),
                bottom - (y - up[0]) / (up[-1] - up[0]) * height,
            )
            for x, y in zip(xs, ys, strict=True)
        ]
        points, moved = side_by_side(points, _LEFT)
        boxes = place_labels(points, sizes, Box(_LEFT, 0, WIDTH, bottom - 2))
        if boxes is not None:
            break
    heading = measure_of(quality).heading
    told = ", ".join(
        f"{system}: {heading} {y:.1f}, grounded {x:.1f}" for system, x, y in zip(systems, xs, ys, strict=True)
    )
    title = f"{heading} against groundedness on {dataset.label}"
    drawing = Drawing(name, title, f"{told}.", WIDTH, bottom + 40)
    for tick in up:
        y = bottom - (tick - up[0]) / (up[-1] - up[0]) * height
        drawing.add("line", x1=_LEFT, x2=right, y1=y, y2=y, class_="grid")
        drawing.text(_LEFT - 6, y + SIZE * 0.35, f"{tick:g}", text_anchor="end", class_="soft")
    for tick in across:
        x = _LEFT + (tick - across[0]) / (across[-1] - across[0]) * (right - _LEFT)
        drawing.add("line", x1=x, x2=x, y1=_TOP, y2=bottom, class_="grid")
        drawing.text(x, bottom + 16, f"{tick:g}", text_anchor="middle", class_="soft")
    drawing.text((_LEFT + right) / 2, bottom + 33, "grounded words, percent", text_anchor="middle", class_="soft")
    drawing.text(12, _TOP + height / 2, heading, text_anchor="middle", class_="soft turned", transform=_turned(height))
    for place, (point, text) in enumerate(zip(points, texts, strict=True)):
        if boxes is not None:
            box = boxes[place]
            near = min(max(point[0], box.left), box.right), min(max(point[1], box.top), box.bottom)
            if abs(near[0] - point[0]) + abs(near[1] - point[1]) > 14:
                drawing.add("line", x1=point[0], y1=point[1], x2=near[0], y2=near[1], class_="leader")
            # Letters may be narrower than reckoned: they stand at the end that is next to the point.
            at, anchor = (box.right - 1, "end") if box.right < point[0] else (box.left + 1, "start")
            drawing.text(at, box.bottom - 3, text, text_anchor=anchor, class_="halo point-label")
    for place, point in enumerate(points):
        add_mark(drawing, place, *point)
    rows = [
        [titles[system], table.cells[system][quality].text, f"{x:.1f}"] for system, x in zip(systems, xs, strict=True)
    ]
    caption = (
        f"{heading} against the share of the answer's words that stand in its passages: high and to the right is an "
        "answer that is good and drawn from what was found. Systems without passages are not in it."
    )
    if moved:
        caption += " Marks that would cover each other stand side by side."
    return Plot(drawing, caption, ("system", heading, "grounded"), rows)


def side_by_side(points: Sequence[tuple[float, float]], left: float) -> tuple[list[tuple[float, float]], bool]:
    """The points, those that would cover an earlier one moved to its left, near ``left`` to its right; and if any was.

    >>> side_by_side([(50, 5), (80, 5), (51, 6)], 0)
    ([(50, 5), (80, 5), (34.5, 6)], True)
    """
    placed: list[tuple[float, float]] = []
    for x, y in points:
        at, step = x, -_MARK
        while any(abs(at - other) < _MARK and abs(y - above) < _MARK for other, above in placed):
            at += step / 2
            if at < left:
                at, step = x, _MARK
        placed.append((at, y))
    return placed, placed != list(points)


def _scores(dataset: DatasetRuns, system: str) -> dict[str, float]:
    """All scores of a system, also those that the table leaves out."""
    entry = dataset.entry(system)
    return {} if entry is None else entry.report.scores


def _turned(height: float) -> str:
    return f"rotate(-90 12 {number(_TOP + height / 2)})"
