"""How sure a score is: bootstrap intervals, paired tests, and the correction for asking many times.

Everything works on the columns of a :class:`~longform.score.report.Report`: a resample is a weight per item, the means
of all columns are one matrix product, and each metric follows by its own formula, so that a ratio or a root of means
(F1 over a corpus, DR) is resampled as it is defined. The same seed gives the same numbers.

A metric that does not follow from the means, such as the best threshold of Natural Questions, gives one number whatever
the means are; it has no interval and is in no test.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from longform.errors import InputError
from longform.score.report import Metric, Report

__all__ = ["Comparison", "Interval", "compare", "holm", "intervals", "p_text", "permutation_test"]

Floats = NDArray[np.float64]
# Weights of one chunk of resamples: a million numbers, 8 MB.
_CHUNK = 1 << 20
# Differences closer than this, relative to the largest, are the same but for rounding.
_TOLERANCE = 1e-10


class Interval(NamedTuple):
    """A score and the interval that holds it."""

    value: float
    low: float
    high: float


class Comparison(NamedTuple):
    """Two systems on one metric: their scores, the difference (first − second) with its interval, and p-values.

    ``p`` is the paired permutation test's; ``holm`` is ``p`` corrected for all the metrics compared at once.
    """

    first: float
    second: float
    difference: float
    low: float
    high: float
    p: float
    holm: float


def intervals(report: Report, *, level: float = 0.95, resamples: int = 10_000, seed: int = 0) -> dict[str, Interval]:
    """The percentile bootstrap interval of every metric (Efron and Tibshirani 1993, section 13.3), items resampled.

    The interval always holds the score itself, which rounding alone could push out of it where all items agree.

    >>> from longform.score.report import mean_of
    >>> report = Report("x", list("abcd"), {"em": np.array([0.0, 1.0, 1.0, 1.0])}, [mean_of("em", "", "")])
    >>> intervals(report)["em"]
    Interval(value=0.75, low=0.25, high=1.0)
    """
    _check(level, resamples)
    names, table = _table(report)
    metrics = _resampled(report.metrics, names)
    values: dict[str, list[Floats]] = {metric.name: [] for metric in metrics}
    for weights in _bootstrap(report.n, resamples, seed):
        means = dict(zip(names, (weights @ table / report.n).T, strict=True))
        for metric in metrics:
            values[metric.name].append(_values(metric, means, len(weights)))
    scores = report.scores
    return {name: _interval(scores[name], np.concatenate(parts), level) for name, parts in values.items()}


def permutation_test(first: Report, second: Report, *, resamples: int = 10_000, seed: int = 0) -> dict[str, float]:
    """The p-value of every metric's difference: how often chance alone gives one as large (two-sided).

    Under the null hypothesis it does not matter which system answered which item, so the two are swapped at random
    item by item (Fisher's sign flips, for a mean; Noreen 1989 for formulas). With so few items that all 2ⁿ swaps are
    within ``resamples`` they are all tried and p is exact; else p = (hits + 1) / (resamples + 1), which is never 0.

    >>> from longform.score.report import mean_of
    >>> one, two = (Report("x", list("abcd"), {"em": np.array(column)}, [mean_of("em", "", "")])
    ...             for column in ([1.0, 1.0, 1.0, 1.0], [0.0, 0.0, 0.0, 0.0]))
    >>> permutation_test(one, two)["em"]
    0.125
    """
    _check(0.95, resamples)
    names, ours, theirs, metrics = _paired(first, second)
    middle, half = (ours + theirs) / 2, (ours - theirs) / 2
    centre = middle.mean(axis=0)
    observed = {
        metric.name: float(_difference(metric, names, ours.mean(axis=0)[None], theirs.mean(axis=0)[None])[0])
        for metric in metrics
    }
    hits = dict.fromkeys(observed, 0)
    exact = first.n < 63 and 2**first.n <= resamples
    for signs in _signs(first.n, resamples, seed, exact):
        shift = signs @ half / first.n
        for metric in metrics:
            found = np.abs(_difference(metric, names, centre + shift, centre - shift))
            limit = abs(observed[metric.name])
            hits[metric.name] += int(np.sum(found >= limit - _TOLERANCE * max(limit, float(found.max()))))
    if exact:
        return {name: count / 2**first.n for name, count in hits.items()}
    return {name: (count + 1) / (resamples + 1) for name, count in hits.items()}


def compare(
    first: Report, second: Report, *, level: float = 0.95, resamples: int = 10_000, seed: int = 0
) -> dict[str, Comparison]:
    """Two systems on the same items, metric by metric: the paired bootstrap of the difference and the paired test.

    Both reports must hold the same ids, in any order; metrics that only one has are left out. The bootstrap draws the
    same items for both (Koehn, EMNLP 2004, section 4).

    >>> from longform.score.report import mean_of
    >>> one, two = (Report("x", list("abc"), {"em": np.array(column)}, [mean_of("em", "", "")])
    ...             for column in ([1.0, 1.0, 0.0], [0.0, 1.0, 0.0]))
    >>> compare(one, two)["em"].p
    1.0
    """
    _check(level, resamples)
    names, ours, theirs, metrics = _paired(first, second)
    values: dict[str, list[Floats]] = {metric.name: [] for metric in metrics}
    for weights in _bootstrap(first.n, resamples, seed):
        means, others = weights @ ours / first.n, weights @ theirs / first.n
        for metric in metrics:
            values[metric.name].append(_difference(metric, names, means, others))
    p_values = permutation_test(first, second, resamples=resamples, seed=seed)
    corrected = dict(zip(p_values, holm(list(p_values.values())), strict=True))
    found_first, found_second = first.scores, second.scores
    result = {}
    for name, parts in values.items():
        interval = _interval(found_first[name] - found_second[name], np.concatenate(parts), level)
        result[name] = Comparison(found_first[name], found_second[name], *interval, p_values[name], corrected[name])
    return result


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's correction (1979): p-values that hold jointly, for as many comparisons as are given.

    >>> [round(p, 3) for p in holm([0.01, 0.04, 0.03])]
    [0.03, 0.06, 0.06]
    """
    corrected, largest = [0.0] * len(p_values), 0.0
    for place, index in enumerate(sorted(range(len(p_values)), key=lambda index: p_values[index])):
        largest = max(largest, min(1.0, (len(p_values) - place) * p_values[index]))
        corrected[index] = largest
    return corrected


def _check(level: float, resamples: int) -> None:
    if not 0 < level < 1:
        raise InputError(f"The level of an interval lies between 0 and 1: {level} does not.")
    if resamples < 1:
        raise InputError(f"At least one resample is needed, not {resamples}.")


def _table(report: Report) -> tuple[list[str], Floats]:
    names = list(report.columns)
    return names, np.stack([np.asarray(report.columns[name], dtype=np.float64) for name in names], axis=1)


def _resampled(metrics: Sequence[Metric], names: Sequence[str]) -> list[Metric]:
    """The metrics that follow from the means: given two resamples, they give two numbers."""
    two = {name: np.full(2, 0.5) for name in names}
    return [metric for metric in metrics if np.shape(metric.formula(two)) == (2,)]


def _paired(first: Report, second: Report) -> tuple[list[str], Floats, Floats, list[Metric]]:
    """The columns that both reports have, the second's rows in the first's order, and the metrics of both."""
    place_of = {identifier: place for place, identifier in enumerate(second.ids)}
    missing = next((item for item in first.ids if item not in place_of), None)
    if missing is not None:
        raise InputError(f"Item {missing} is in the first report only: two systems compare on the same items.")
    if len(place_of) != first.n:
        extra = next(item for item in second.ids if item not in set(first.ids))
        raise InputError(f"Item {extra} is in the second report only: two systems compare on the same items.")
    order = [place_of[identifier] for identifier in first.ids]
    names = [name for name in first.columns if name in second.columns]
    shared = {metric.name for metric in _resampled(second.metrics, list(second.columns))}
    metrics = [metric for metric in _resampled(first.metrics, list(first.columns)) if metric.name in shared]
    if not metrics:
        raise InputError("The two reports have no metric in common.")
    ours, theirs = (
        np.stack([np.asarray(report.columns[name], dtype=np.float64) for name in names], axis=1)
        for report in (first, second)
    )
    return names, ours, theirs[order], metrics


def _values(metric: Metric, means: dict[str, Floats], count: int) -> Floats:
    values = np.asarray(metric.formula(means), dtype=np.float64)
    if values.shape != (count,) or not np.isfinite(values).all():
        raise ValueError(f"the formula of {metric.name} does not give one finite number per resample")
    return values


def _difference(metric: Metric, names: Sequence[str], ours: Floats, theirs: Floats) -> Floats:
    first, second = (_values(metric, dict(zip(names, means.T, strict=True)), len(means)) for means in (ours, theirs))
    return first - second


def _bootstrap(n: int, resamples: int, seed: int) -> Iterator[Floats]:
    """How often each item is drawn, in chunks of resamples: counting draws is seven times as fast as a multinomial."""
    generator = np.random.default_rng(seed)
    rows = max(1, _CHUNK // n)
    for start in range(0, resamples, rows):
        count = min(rows, resamples - start)
        drawn = generator.integers(0, n, size=(count, n), dtype=np.int32)
        drawn += np.arange(count, dtype=np.int32)[:, None] * np.int32(n)
        yield np.bincount(drawn.ravel(), minlength=count * n).reshape(count, n).astype(np.float64)


def _signs(n: int, resamples: int, seed: int, exact: bool) -> Iterator[Floats]:
    """+1 where an item stays, −1 where the systems are swapped: all ways, or as many random ones as asked for."""
    generator = np.random.default_rng(seed)
    total = 2**n if exact else resamples
    rows = max(1, _CHUNK // n)
    for start in range(0, total, rows):
        end = min(start + rows, total)
        if exact:
            swapped = ((np.arange(start, end)[:, None] >> np.arange(n)) & 1).astype(np.uint8)
        else:
            # Whole words of coin flips, cut to n: twenty times as fast as drawing each by itself.
            words = generator.integers(0, 2**64, size=(end - start, -(-n // 64)), dtype=np.uint64).astype("<u8")
            swapped = np.unpackbits(words.view(np.uint8), axis=1)[:, :n]
        yield 1.0 - 2.0 * swapped.astype(np.float64)


def _interval(value: float, resampled: Floats, level: float) -> Interval:
    tail = (1 - level) / 2
    low, high = np.quantile(resampled, [tail, 1 - tail])
    return Interval(value, min(float(low), value), max(float(high), value))


def p_text(value: float) -> str:
    """A p-value as it is shown.

    >>> p_text(0.00001), p_text(0.0312), p_text(0.5)
    ('< 0.001', '0.031', '0.50')
    """
    if value < 0.001:
        return "< 0.001"
    return f"{value:.3f}" if value < 0.1 else f"{value:.2f}"
