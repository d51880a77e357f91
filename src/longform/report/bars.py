"""Systems as bars between the bounds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from longform.report.bounds import LOWER, UPPER, Bound
from longform.report.gather import DatasetRuns
from longform.report.labels import in_lanes
from longform.report.measures import measure_of
from longform.report.plot import WIDTH, Plot
from longform.report.svg import SIZE, Drawing, nice_ticks, shortened, shortened_apart, text_width
from longform.report.table import Cell, ScoreTable

__all__ = ["bars"]

_ROW, _BAR, _LANE = 24.0, 13.0, 15.0
_VALUES = 44.0
_LABELS = 128.0


def bars(dataset: DatasetRuns, table: ScoreTable, metric: str, name: str) -> Plot | None:
    """A bar with its interval for each system that competes, then for each control; bounds are lines through all.

    The names of lower bounds stand above the bars, those of upper bounds below, so that no line crosses a name.
    """
    competing, controls = (
        [entry.system for entry in entries if metric in table.cells[entry.system]]
        for entries in (dataset.competing, dataset.controls)
    )
    shown = [*competing, *controls]
    bounds = [bound for bound in dataset.bounds if metric in bound.scores and bound.name not in shown]
    if not shown:
        return None
    cells = {system: table.cells[system][metric] for system in shown}
    heading, about = measure_of(metric)
    highest = max([*(cell.high or cell.value for cell in cells.values()), *(bound.scores[metric] for bound in bounds)])
    lowest = min([0.0, *(cell.value for cell in cells.values()), *(bound.scores[metric] for bound in bounds)])
    ticks = nice_ticks(lowest, highest or 1.0)
    left = 8 + min(_LABELS, max(text_width(system) for system in shown)) + 6
    right = WIDTH - _VALUES

    def x_of(value: float) -> float:
        return left + (value - ticks[0]) / (ticks[-1] - ticks[0]) * (right - left)

    digits = next(iter(cells.values())).digits
    lower = _lanes([bound for bound in bounds if bound.side == LOWER], metric, digits, x_of, to_right=True)
    upper = _lanes([bound for bound in bounds if bound.side == UPPER], metric, digits, x_of, to_right=False)
    top = 8 + _LANE * (max((lane for *_, lane in lower), default=-1) + 1) + (4 if lower else 0)
    # Controls stand apart, below a heading of their own.
    apart = _LANE + 4 if competing and controls else 0.0
    bottom = top + _ROW * len(shown) + apart
    height = bottom + 20 + _LANE * (max((lane for *_, lane in upper), default=-1) + 1) + 6
    title = f"{heading} on {dataset.label}"
    described = _described(heading, cells, controls, bounds, metric, digits)
    drawing = Drawing(name, title, described, WIDTH, height)
    # Below the best that knows nothing, and above all that knows the answer, a score says little.
    for side, edge in ((LOWER, ticks[0]), (UPPER, ticks[-1])):
        values = [bound.scores[metric] for bound in bounds if bound.side == side]
        if values:
            begin, stop = sorted((x_of(edge), x_of(max(values))))
            drawing.add("rect", x=begin, y=top, width=stop - begin, height=bottom - top, class_=f"zone {side}")
    for tick in ticks:
        x = x_of(tick)
        drawing.add("line", x1=x, x2=x, y1=top, y2=bottom, class_="grid")
        drawing.text(x, bottom + 14, f"{tick:g}", text_anchor="middle", class_="soft")
    labels = shortened_apart(list(cells), _LABELS)
    for row, (system, cell) in enumerate(cells.items()):
        middle = top + row * _ROW + _ROW / 2 + (apart if system in controls else 0.0)
        start, end = sorted((x_of(max(0.0, ticks[0])), x_of(cell.value)))
        drawing.text(left - 6, middle + SIZE * 0.35, labels[system], text_anchor="end")
        kind = "bar control" if system in controls else "bar"
        drawing.add("rect", x=start, y=middle - _BAR / 2, width=max(end - start, 0.5), height=_BAR, class_=kind)
        if cell.low is not None and cell.high is not None:
            low, high = x_of(cell.low), x_of(cell.high)
            path = f"M{low:.1f} {middle - 4}v8M{low:.1f} {middle}H{high:.1f}M{high:.1f} {middle - 4}v8"
            drawing.add("path", d=path, class_="whisker under")
            drawing.add("path", d=path, class_="whisker")
        drawing.text(WIDTH - 2, middle + SIZE * 0.35, cell.text, text_anchor="end", class_="strong")
    if apart:
        y = top + _ROW * len(competing) + 3
        drawing.add("line", x1=8, x2=WIDTH - 2, y1=y, y2=y, class_="rule")
        drawing.text(left - 6, y + SIZE + 1, "controls", text_anchor="end", class_="soft")
    for side, placed in ((LOWER, lower), (UPPER, upper)):
        for text, x, start, lane in placed:
            y = top - 6 - lane * _LANE if side == LOWER else bottom + 31 + lane * _LANE
            # A line to a name below is broken where the numbers of the axis stand.
            for start_y, end_y in ((y - 9, bottom),) if side == LOWER else ((top, bottom + 3), (bottom + 19, y + 2)):
                drawing.add("line", x1=x, x2=x, y1=start_y, y2=end_y, class_=f"bound {side}")
            if side == LOWER:
                drawing.text(start, y, text, class_=f"halo {side}-text")
            else:
                end = start + text_width(text)
                drawing.text(end, y, text, text_anchor="end", class_=f"halo {side}-text")
    rows = [
        [f"{system} (control)" if system in controls else system, cell.text, cell.interval, cell.mark]
        for system, cell in cells.items()
    ]
    rows += [[f"{bound.name} ({bound.side} bound)", f"{bound.scores[metric]:.{digits}f}", "", ""] for bound in bounds]
    caption = f"{heading}: {about}." if about else f"{heading}."
    if controls:
        caption += " Controls are given random or gold passages in place of those that they find."
    return Plot(drawing, caption, ("system", heading, "95 % interval", "mark"), rows)


def _lanes(
    bounds: Sequence[Bound], metric: str, digits: int, x_of: Callable[[float], float], *, to_right: bool
) -> list[tuple[str, float, float, int]]:
    """Text, place of the line, start of the text and lane of each bound; texts stand to one side of their lines."""
    ordered = sorted(bounds, key=lambda bound: bound.scores[metric], reverse=to_right)
    lines = [x_of(bound.scores[metric]) for bound in ordered]
    texts, starts = [], []
    for bound, x in zip(ordered, lines, strict=True):
        value = f" {bound.scores[metric]:.{digits}f}"
        room = (WIDTH - x if to_right else x) - 6 - text_width(value)
        text = shortened(bound.name, max(room, 70.0)) + value
        wanted = x + 4 if to_right else x - 4 - text_width(text)
        # A text that would still leave the drawing moves in, and may then touch a line; its halo keeps it legible.
        starts.append(max(2.0, min(wanted, WIDTH - 2 - text_width(text))))
        texts.append(text)
    lanes = in_lanes([(start, start + text_width(text)) for text, start in zip(texts, starts, strict=True)], lines)
    return list(zip(texts, lines, starts, lanes, strict=True))


def _described(
    heading: str,
    cells: Mapping[str, Cell],
    controls: Sequence[str],
    bounds: Sequence[Bound],
    metric: str,
    digits: int,
) -> str:
    told = ", ".join(f"{system} {cell.text}" for system, cell in cells.items() if system not in controls)
    apart = [f"controls: {', '.join(f'{system} {cells[system].text}' for system in controls)}"] if controls else []
    sides = [
        f"{side} bounds: "
        + ", ".join(f"{bound.name} {bound.scores[metric]:.{digits}f}" for bound in bounds if bound.side == side)
        for side in (LOWER, UPPER)
        if any(bound.side == side for bound in bounds)
    ]
    return "; ".join([f"{heading} of the systems: {told}", *apart, *sides]) + "."
