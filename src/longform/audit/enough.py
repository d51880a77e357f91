"""Whether there are questions enough to judge by, and about how many it would take.

Two limits. A paired permutation test of n questions has 2ⁿ ways to swap the systems, so that its p is at least 2¹⁻ⁿ:
with too few questions nothing can be significant, least of all after Holm's correction for many tests (the smallest of
m p-values is multiplied by m). And a difference that is there is found in four cases of five only with
n ≈ ((z₁₋α/₂ₘ + z₀.₈) · sd / mean)² questions (Cohen, 1988, section 2.4), with the mean and the standard deviation of
the differences seen so far.
"""

from __future__ import annotations

import math
from statistics import NormalDist

from longform.score.statistics import Comparison

__all__ = [
    "FEW",
    "LEVEL",
    "POWER",
    "fewest_questions",
    "more_questions",
    "more_to_decide",
    "questions_needed",
    "too_few",
]

FEW = 20
"""On fewer questions than this nothing is ruled out, and nothing is fine."""
LEVEL = 0.05
POWER = 0.8
_MOST = 1_000_000
"""Above so many questions a difference is next to nothing, and no number is given."""


def fewest_questions(tests: int = 1, level: float = LEVEL) -> int:
    """With how many questions the paired permutation test can be significant at all, corrected for so many tests.

    >>> fewest_questions(1), fewest_questions(20)
    (6, 10)
    """
    return math.floor(1 + math.log2(max(1, tests) / level)) + 1


def questions_needed(found: Comparison, n: int, tests: int = 1, level: float = LEVEL) -> int | None:
    """About how many questions show a difference as large as this one in four cases of five.

    The spread is that of the 95 % interval, so that it holds for scores that are no means. ``None`` where there is no
    difference, or one that a million questions would not show.

    >>> questions_needed(Comparison(31.0, 30.0, 1.0, -1.0, 3.0, 0.3, 0.3), 100)
    818
    """
    spread = (found.high - found.low) / (2 * NormalDist().inv_cdf(0.975))
    if not found.difference or not math.isfinite(spread):
        return None
    wanted = NormalDist().inv_cdf(1 - level / (2 * max(1, tests))) + NormalDist().inv_cdf(POWER)
    needed = n * (wanted * spread / found.difference) ** 2
    return None if needed > _MOST else max(math.ceil(needed), fewest_questions(tests, level))


def more_questions(found: Comparison, n: int, tests: int = 1, resamples: int = 10_000) -> str:
    """The sentence that says how many questions would tell, to stand at the end of a verdict that is not sure.

    >>> more_questions(Comparison(31.0, 30.0, 1.0, -1.0, 3.0, 0.3, 0.3), 100)
    'About 820 questions would tell, if the difference stays as it is.'
    >>> more_questions(Comparison(31.0, 30.0, 1.0, 1.0, 1.0, 0.5, 0.5), 3, tests=8)
    'With fewer than 9 questions no difference can be significant after correction for 8 tests.'
    """
    least = fewest_questions(tests)
    if n < least:
        after = f" after correction for {tests} tests" if tests > 1 else ""
        return f"With fewer than {least} questions no difference can be significant{after}."
    if (1 << min(n, 62)) > resamples and tests / (resamples + 1) >= LEVEL:
        # Not all swaps are tried, so that p is at least 1 / (resamples + 1).
        return f"So few resamples cannot show it: {math.ceil(tests / LEVEL):,} are needed at least (--resamples)."
    needed = questions_needed(found, n, tests)
    if needed is None:
        return "The difference is so small that a million questions would not tell."
    if needed <= n:
        return "A few more questions would tell."
    return f"About {_rounded(needed):,} questions would tell, if the difference stays as it is."


def more_to_decide(found: Comparison, least: float, n: int, tests: int = 1, resamples: int = 10_000) -> str:
    """As :func:`more_questions`, where a difference counts from ``least`` on: to show it, or else to rule it out.

    >>> more_to_decide(Comparison(31.0, 30.0, 1.0, -1.0, 3.0, 0.3, 0.3), 2.0, 100)
    'About 820 questions would tell, if the difference stays as it is.'
    """
    if n < FEW or found.difference >= least:
        return too_few(n) if n < FEW else more_questions(found, n, tests, resamples)
    away = Comparison(found.first, found.second, least - found.difference, least - found.high, least - found.low, 1, 1)
    return more_questions(away, n)


def too_few(n: int, few: int = FEW) -> str:
    """The sentence for a set of questions on which nothing is judged.

    >>> too_few(6)
    '6 questions are too few to judge by: at least 20 are needed.'
    """
    return f"{n} {'question is' if n == 1 else 'questions are'} too few to judge by: at least {few} are needed."


def _rounded(number: int) -> int:
    """To two digits, upwards: it is an estimate."""
    step = int("1".ljust(len(str(number)) - 1, "0"))
    return -(-number // step) * step
