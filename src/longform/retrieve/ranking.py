"""Rankings of rows, with ties broken the same way everywhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

__all__ = ["Ranked", "best_rows", "break_ties"]

# Scores are 32-bit sums whose terms are added in an order that depends on how the index is cut into segments; equal
# scores then differ in the last bits. One part in 100,000 is far above that noise and far below any real difference.
_TOLERANCE = 1e-5


class Ranked(NamedTuple):
    """A row of the index and its score."""

    row: int
    score: float


def _is_tie(higher: float, lower: float) -> bool:
    return higher - lower <= _TOLERANCE * abs(higher)


def break_ties(ranked: Sequence[Ranked], identify: Callable[[int], str]) -> list[Ranked]:
    """Order rows of the same score by passage id, so that a ranking never depends on where a row is stored.

    Scores that differ by less than one part in 100,000 count as the same, and become the same.

    >>> names = {0: "b", 1: "a", 2: "c"}
    >>> break_ties([Ranked(2, 3.0), Ranked(0, 1.0), Ranked(1, 0.9999999)], names.__getitem__)
    [Ranked(row=2, score=3.0), Ranked(row=1, score=1.0), Ranked(row=0, score=1.0)]
    """
    ordered: list[Ranked] = []
    start = 0
    while start < len(ranked):
        score = ranked[start].score
        end = start + 1
        while end < len(ranked) and _is_tie(score, ranked[end].score):
            end += 1
        rows = [item.row for item in ranked[start:end]]
        if len(rows) > 1:
            rows.sort(key=identify)
        ordered += [Ranked(row, score) for row in rows]
        start = end
    return ordered


def best_rows(fetch: Callable[[int], Sequence[Ranked]], k: int, identify: Callable[[int], str]) -> list[Ranked]:
    """The ``k`` best rows of an engine whose ``fetch(limit)`` returns its ``limit`` best in no certain order of ties.

    One more than asked for shows whether the last place is tied; if it is, the search widens until the tie ends.
    """
    limit = k + 1
    while True:
        ranked = fetch(limit)
        if len(ranked) < limit or not _is_tie(ranked[k - 1].score, ranked[-1].score):
            return break_ties(ranked, identify)[:k]
        limit *= 2
