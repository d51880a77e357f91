"""Which candidates are silver, once their scores and the answers they hold are known.

Candidates are places in the pool, from 0; equal scores are ordered as the first stage did.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import NamedTuple

__all__ = ["Choice", "choose_best", "choose_direct", "choose_silver"]


class Choice(NamedTuple):
    """A chosen candidate, and the number of the direct answer it was chosen for, if it was for one."""

    place: int
    answer: int | None = None


def choose_best(scores: Sequence[float], k: int, *, above: float = -math.inf) -> list[Choice]:
    """The ``k`` candidates of the largest scores; none whose score is not more than ``above``.

    >>> [choice.place for choice in choose_best([0.2, 0.0, 0.7, 0.2], 3)]
    [2, 0, 3]
    """
    return [Choice(place) for place in _ordered(scores) if scores[place] > above][:k]


def choose_direct(held: Sequence[Collection[int]], scores: Sequence[float], k: int) -> list[Choice]:
    """The ``k`` best of the candidates that hold a direct answer; fewer where fewer do.

    ``held`` gives, for every candidate, the numbers of the answers it holds. Christmann et al., 2024, section 2,
    "Matching with DA": the score is the token recall with the question.

    >>> [choice.place for choice in choose_direct([{0}, {}, {0, 1}], [0.2, 0.9, 0.7], 5)]
    [2, 0]
    """
    return [Choice(place, min(held[place])) for place in _ordered(scores) if held[place]][:k]


def choose_silver(held: Sequence[Collection[int]], scores: Sequence[float], k: int) -> list[Choice]:
    """Every direct answer matched by its best candidate, the rest by their scores: ``k`` in all.

    Christmann et al., 2024, section 2, "SILVER", and Algorithm 1, lines 10 to 13. Of the candidates that hold an answer
    the one with the best match with the long answer is chosen; an answer that a chosen candidate already holds needs
    no other. Answers whose best candidate matches better come first, so that where there are more answers than ``k``,
    the choice does not depend on the order in which they are listed. The rest is filled with candidates that match the
    long answer at all.

    >>> choose_silver([{0}, set(), {0, 1}, {2}], [0.6, 0.9, 0.5, 0.1], 3)
    [Choice(place=0, answer=0), Choice(place=2, answer=1), Choice(place=3, answer=2)]
    >>> choose_silver([{0}, set(), set()], [0.1, 0.9, 0.0], 3)
    [Choice(place=0, answer=0), Choice(place=1, answer=None)]
    """
    order = _ordered(scores)
    best: dict[int, int] = {}
    for place in order:
        for answer in sorted(held[place]):
            best.setdefault(answer, place)
    chosen: dict[int, Choice] = {}
    covered: set[int] = set()
    # ``best`` was filled from the best candidate down: its order is that of the answers' best matches.
    for answer, place in best.items():
        if answer not in covered and len(chosen) < k:
            chosen[place] = Choice(place, answer)
            covered.update(held[place])
    for place in order:
        if len(chosen) >= k or scores[place] <= 0:
            break
        chosen.setdefault(place, Choice(place))
    return list(chosen.values())


def _ordered(scores: Sequence[float]) -> list[int]:
    return sorted(range(len(scores)), key=lambda place: -scores[place])
