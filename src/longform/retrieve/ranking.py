"""Rankings of rows, with ties broken the same way everywhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple

__all__ = ["Ranked", "as_ranked", "best_rows", "break_ties", "first_limit"]

# Scores are 32-bit sums whose terms are added in an order that depends on how the index is cut into segments; equal
# scores then differ in the last bits. One part in 100,000 is far above that noise and far below any real difference.
_TOLERANCE = 1e-5


class Ranked(NamedTuple):
    """A row of the index and its score."""

    row: int
    score: float


def as_ranked(rows: Iterable[int], scores: Iterable[float]) -> list[Ranked]:
    """Rows and their scores as a ranking; nearly twice as fast as calling ``Ranked`` for each.

    >>> as_ranked([4, 2], [1.5, 0.5])
    [Ranked(row=4, score=1.5), Ranked(row=2, score=0.5)]
    """
    return list(map(partial(tuple.__new__, Ranked), zip(rows, scores, strict=True)))


def _is_tie(higher: float, lower: float) -> bool:
    return higher - lower <= _TOLERANCE * abs(higher)


def break_ties(ranked: Sequence[Ranked], identify: Callable[[int], Any], k: int | None = None) -> list[Ranked]:
    """The first ``k`` rows (all, if ``None``), those of the same score in the order of their passage ids.

    ``identify`` gives the id of a row, or anything that sorts as the ids do.

    Neighbours whose scores differ by less than one part in 100,000 count as the same, and become the same.

    >>> names = {0: "b", 1: "a", 2: "c"}
    >>> break_ties([Ranked(2, 3.0), Ranked(0, 1.0), Ranked(1, 0.9999999)], names.__getitem__)
    [Ranked(row=2, score=3.0), Ranked(row=1, score=1.0), Ranked(row=0, score=1.0)]
    """
    ordered: list[Ranked] = []
    wanted = len(ranked) if k is None else min(k, len(ranked))
    start = 0
    while start < wanted:
        leader = last = ranked[start][1]
        end = start + 1
        while end < len(ranked) and last - ranked[end][1] <= _TOLERANCE * abs(last):
            last = ranked[end][1]
            end += 1
        if end == start + 1:
            ordered.append(ranked[start])
        else:
            rows = sorted([item[0] for item in ranked[start:end]], key=identify)
            ordered += as_ranked(rows, [leader] * len(rows))
        start = end
    return ordered[:wanted]


def best_rows(fetch: Callable[[int], Sequence[Ranked]], k: int, identify: Callable[[int], Any]) -> list[Ranked]:
    """The ``k`` best rows of an engine whose ``fetch(limit)`` returns its ``limit`` best in no certain order of ties.

    More than asked for show whether the last place is tied; if it is, the search widens until the tie ends.
    """
    limit = first_limit(k)
    while True:
        ranked = fetch(limit)
        if len(ranked) < limit or not _is_tie(ranked[k - 1].score, ranked[-1].score):
            return break_ties(ranked, identify, k)
        limit *= 2


def first_limit(k: int) -> int:
    """How many rows to fetch at first: so many that a second fetch is rare, at hardly any cost.

    On 52,197 passages, 37 % of questions need a second fetch for their top 100 when the first brings 101 rows, 4 %
    when it brings 108, and 0.1 % when it brings 133.
    """
    return k + k // 4 + 8
