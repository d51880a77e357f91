"""Labels that do not lie on each other: beside points, and over lines in lanes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

__all__ = ["Box", "in_lanes", "place_labels"]

_GAP = 4.0
_FAR = 18


class Box(NamedTuple):
    """A rectangle by its left, top, right and bottom edge."""

    left: float
    top: float
    right: float
    bottom: float

    def overlaps(self, other: Box) -> bool:
        """Whether the two share more than an edge."""
        return (
            self.left < other.right and other.left < self.right and self.top < other.bottom and other.top < self.bottom
        )

    def within(self, frame: Box) -> bool:
        """Whether the other holds all of it."""
        return (
            self.left >= frame.left
            and self.right <= frame.right
            and self.top >= frame.top
            and self.bottom <= frame.bottom
        )


def place_labels(
    points: Sequence[tuple[float, float]],
    sizes: Sequence[tuple[float, float]],
    frame: Box,
    *,
    radius: float = 5.0,
) -> list[Box] | None:
    """A box beside each point for its label: within the frame, on no other label and on no point.

    Places near the point come first. ``None`` where there is no room for all: a larger frame has it.

    >>> place_labels([(50, 50), (52, 50)], [(20, 10), (20, 10)], Box(0, 0, 100, 100))
    [Box(left=59.0, top=45.0, right=79.0, bottom=55.0), Box(left=23.0, top=45.0, right=43.0, bottom=55.0)]
    """
    dots = [Box(x - radius, y - radius, x + radius, y + radius) for x, y in points]
    placed: dict[int, Box] = {}
    # Points with the most company first: they have the fewest places to choose from.
    crowded = sorted(range(len(points)), key=lambda place: (-_company(points, place), place))
    for place in crowded:
        taken = [*dots, *placed.values()]
        free = next(
            (
                box
                for box in _around(points[place], sizes[place], radius)
                if box.within(frame) and not any(box.overlaps(other) for other in taken)
            ),
            None,
        )
        if free is None:
            return None
        placed[place] = free
    return [placed[place] for place in range(len(points))]


def in_lanes(spans: Sequence[tuple[float, float]], lines: Sequence[float]) -> list[int]:
    """For each label the first lane in which it lies on no other label and on no other label's line.

    ``spans`` are the labels' ends, ``lines`` where the line of each comes up from the plot, through the lanes nearer to
    it. Labels stand to one side of their lines and are given from that side: to the right of them, from right to left.

    >>> in_lanes([(30, 40), (25, 35), (10, 22)], [30, 25, 10])
    [0, 1, 0]
    """
    lanes: list[int] = []
    for place, (low, high) in enumerate(spans):
        lane = 0
        while any(
            _near(low, high, *spans[other])
            if lanes[other] == lane
            else lanes[other] > lane and _near(low, high, lines[other], lines[other])
            for other in range(place)
        ):
            lane += 1
        lanes.append(lane)
    return lanes


def _near(low: float, high: float, start: float, end: float) -> bool:
    return low < end + _GAP / 2 and start < high + _GAP / 2


def _company(points: Sequence[tuple[float, float]], place: int) -> int:
    x, y = points[place]
    return sum(math.hypot(x - other[0], y - other[1]) < 60 for other in points) - 1


def _around(point: tuple[float, float], size: tuple[float, float], radius: float) -> Iterator[Box]:
    """Boxes around a point, at its sides first, then in widening rings."""
    x, y = point
    width, height = size
    for ring in range(_FAR):
        away = radius + _GAP + ring * height * 0.6
        for right, down in _DIRECTIONS if ring else _SIDES:
            centre_x = x + right * (away + width / 2)
            centre_y = y + down * (away + height / 2)
            yield Box(centre_x - width / 2, centre_y - height / 2, centre_x + width / 2, centre_y + height / 2)


_SIDES = ((1.0, 0.0), (-1.0, 0.0), (0.0, -1.0), (0.0, 1.0))
_DIRECTIONS = (
    *_SIDES,
    (0.8, -0.8),
    (0.8, 0.8),
    (-0.8, -0.8),
    (-0.8, 0.8),
    (0.35, -1.0),
    (0.35, 1.0),
    (-0.35, -1.0),
    (-0.35, 1.0),
    (0.0, -2.0),
    (0.0, 2.0),
)
