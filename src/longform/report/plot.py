"""What every plot is: a drawing, and the same numbers as a table for who does not see it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from longform.report.svg import SIZE, Drawing, shortened

__all__ = ["KEYS", "WIDTH", "Plot", "add_key", "add_mark", "key_height", "line_class", "series_class"]

WIDTH = 420.0
"""Of every drawing: as wide as a phone shows it with letters that can be read, and two fit on a desk."""
KEYS = 8
_ROW = 17.0
_SHAPES = 4


@dataclass(frozen=True)
class Plot:
    """A drawing with its caption, and its numbers as columns and rows of text."""

    drawing: Drawing
    caption: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]


def series_class(place: int) -> str:
    """The class that colours a series; dashes and marks differ where colours come again.

    >>> series_class(1), series_class(9)
    ('c1 d0', 'c1 d1')
    """
    return f"c{place % KEYS} d{place // KEYS % 3}"


def add_mark(drawing: Drawing, place: int, x: float, y: float) -> None:
    """The mark of a series: circle, square, diamond, triangle, so that nobody needs the colours."""
    kind, name = place % _SHAPES, f"mark {series_class(place)}"
    if kind == 0:
        drawing.add("circle", cx=x, cy=y, r=3.6, class_=name)
    elif kind == 1:
        drawing.add("rect", x=x - 3.2, y=y - 3.2, width=6.4, height=6.4, class_=name)
    elif kind == 2:
        drawing.add("path", d=f"M{x:.1f} {y - 4.6:.1f}l4.6 4.6-4.6 4.6-4.6-4.6z", class_=name)
    else:
        drawing.add("path", d=f"M{x:.1f} {y - 4.4:.1f}l4.6 8h-9.2z", class_=name)


def line_class(place: int, dash: int | None = None) -> str:
    """The class of a series' line; ``dash`` is how it is dashed where it lies on others, so that these show too."""
    colour, own = series_class(place).split()
    return f"curve {colour} {own if dash is None else f'over{dash}'}"


def key_height(count: int) -> float:
    """How much room the key of so many series takes."""
    return count * _ROW + 6


def add_key(
    drawing: Drawing,
    names: Sequence[str],
    top: float,
    left: float = 8.0,
    *,
    lines: bool = True,
    places: Sequence[int] | None = None,
    dashes: Mapping[int, int] | None = None,
) -> None:
    """The key: one row a name, with the line and mark of its series, or with a filled square.

    ``places`` are the series of the names, where several names share one; ``dashes`` how the lines of some are dashed.
    """
    for row, name in enumerate(names):
        place = row if places is None else places[row]
        y = top + row * _ROW + _ROW / 2
        if lines:
            kind = line_class(place, (dashes or {}).get(place))
            drawing.add("line", x1=left, x2=left + 22, y1=y, y2=y, class_=kind)
            add_mark(drawing, place, left + 11, y)
        else:
            drawing.add("rect", x=left + 6, y=y - 5, width=10, height=10, class_=f"fill {series_class(place)}")
        drawing.text(left + 30, y + SIZE * 0.35, shortened(name, drawing.width - left - 34))
