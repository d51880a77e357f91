"""Scoring as many candidates as a time allows, the most promising first."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["LEAST", "score_within"]

# Candidates that are scored whatever the time says: fewer make no ranking.
LEAST = 5

# The share of the time left that is planned for: the machine may have other work too.
_PLANNED = 0.9

# So few candidates are not worth measuring in between.
_SMALL = 8


def score_within(
    costs: Sequence[int],
    score: Callable[[int, int], NDArray[np.float32]],
    seconds: float | None = None,
    *,
    started: float | None = None,
    clock: Callable[[], float] = time.perf_counter,
) -> NDArray[np.float32]:
    """The scores of the first candidates, as many as ``seconds`` since ``started`` allow; all of them without a limit.

    ``score(first, last)`` scores a slice of the candidates, ``costs`` are what each of them costs (its tokens). The
    first five are always scored, and tell what a token costs. Then follow slices of half of what fits into the time
    that is left, each measured again, so that the plan follows a machine that becomes slower.

    >>> now = [0.0]
    >>> def score(first, last):
    ...     now[0] += 0.01 * (last - first)
    ...     return np.zeros(last - first, dtype=np.float32)
    >>> len(score_within([1] * 100, score, 0.5, started=0.0, clock=lambda: now[0]))
    49
    """
    if seconds is None or len(costs) <= LEAST:
        return score(0, len(costs))
    begun = clock()
    deadline = (begun if started is None else started) + seconds
    scores = [score(0, LEAST)]
    done, total = LEAST, np.cumsum(costs)
    while done < len(costs):
        now = clock()
        rate = (now - begun) / float(total[done - 1])
        room = _fitting(total, done, (deadline - now) * _PLANNED, rate)
        if room < 1:
            break
        last = done + (room if room <= _SMALL else (room + 1) // 2)
        scores.append(score(done, last))
        done = last
    return np.concatenate(scores)


def _fitting(total: NDArray[np.int64], done: int, seconds: float, rate: float) -> int:
    """How many more candidates fit into a time."""
    if seconds <= 0:
        return 0
    if rate <= 0:
        # A clock that did not move: there is no reason to stop.
        return len(total) - done
    return int(np.searchsorted(total, total[done - 1] + seconds / rate, side="right")) - done
