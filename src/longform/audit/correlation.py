"""Spearman's rank correlation with a bootstrap interval."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from longform.score.statistics import Interval

__all__ = ["spearman"]

Floats = NDArray[np.float64]
_CHUNK = 1 << 20


def spearman(
    first: Floats, second: Floats, *, level: float = 0.95, resamples: int = 10_000, seed: int = 0
) -> Interval | None:
    """Spearman's ρ: the correlation of ranks, ties at their mean rank; ``None`` where one side is the same everywhere.

    The interval is the percentile bootstrap over items, ranked anew in every resample; resamples in which one side is
    constant have no correlation and are left out.

    >>> value = spearman(np.array([1.0, 2.0, 3.0, 4.0]), np.array([1.0, 3.0, 2.0, 4.0]))
    >>> round(value.value, 3)
    0.8
    >>> spearman(np.ones(3), np.arange(3.0)) is None
    True
    """
    n = len(first)
    if n < 2:
        return None
    whole = _correlations(first, second, np.ones((1, n)))[0]
    if not np.isfinite(whole):
        return None
    generator = np.random.default_rng(seed)
    parts = []
    rows = max(1, _CHUNK // n)
    for start in range(0, resamples, rows):
        count = min(rows, resamples - start)
        drawn = generator.integers(0, n, size=(count, n)) + np.arange(count)[:, None] * n
        weights = np.bincount(drawn.ravel(), minlength=count * n).reshape(count, n).astype(np.float64)
        parts.append(_correlations(first, second, weights))
    values = np.concatenate(parts)
    values = values[np.isfinite(values)]
    tail = (1 - level) / 2
    low, high = np.quantile(values, [tail, 1 - tail]) if len(values) else (whole, whole)
    return Interval(float(whole), min(float(low), float(whole)), max(float(high), float(whole)))


def _correlations(first: Floats, second: Floats, weights: Floats) -> Floats:
    """ρ for every row of weights, which say how often each item was drawn; NaN where a side is constant."""
    a, b = _ranks(first, weights), _ranks(second, weights)
    total = weights.sum(axis=1, keepdims=True)
    a = a - (weights * a).sum(axis=1, keepdims=True) / total
    b = b - (weights * b).sum(axis=1, keepdims=True) / total
    spread = np.sqrt((weights * a * a).sum(axis=1) * (weights * b * b).sum(axis=1))
    shared = (weights * a * b).sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(spread > 1e-9, np.clip(shared / spread, -1.0, 1.0), np.nan)


def _ranks(values: Floats, weights: Floats) -> Floats:
    """The mean rank of every item among those drawn."""
    _, group = np.unique(values, return_inverse=True)
    order = np.argsort(group, kind="stable")
    starts = np.flatnonzero(np.diff(group[order], prepend=-1))
    counts = np.add.reduceat(weights[:, order], starts, axis=1)
    middle = np.cumsum(counts, axis=1) - (counts - 1) / 2
    ranks: Floats = middle[:, group]
    return ranks
