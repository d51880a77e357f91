"""What scoring returns: per-item values, their aggregates, and enough to resample both.

A metric is a value: it has a name, a definition and a source, prints as it is typed, and compares by what it is. A
scorer fills *columns*, one number per item; each metric is the mean of a column, or a formula over such means (DR is
the root of two means, precision a ratio of two), so that error bars and paired tests need nothing but the columns.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from longform.errors import InputError

__all__ = ["Metric", "Report", "mean_of"]

Means = Mapping[str, NDArray[np.float64]]


@dataclass(frozen=True)
class Metric:
    """A named measure: what it is, where it comes from, and how it follows from the means of the columns.

    ``formula`` takes the mean of every column (arrays, so that many resamples are computed at once) and returns the
    metric in its own scale. Where it is nothing but a mean, ``column`` and ``scale`` say of what.
    """

    name: str
    definition: str
    citation: str
    formula: Callable[[Means], NDArray[np.float64]] = field(compare=False, repr=False)
    column: str | None = None
    scale: float = 1.0

    def __str__(self) -> str:
        return self.name


def mean_of(name: str, definition: str, citation: str, *, column: str | None = None, scale: float = 1.0) -> Metric:
    """A metric that is the mean of a column (its own name's, unless told otherwise), times ``scale``.

    >>> mean_of("str_em", "share of readings answered", "ASQA", scale=100.0).formula({"str_em": np.array([0.5])})
    array([50.])
    """
    source = column or name
    return Metric(name, definition, citation, lambda means: scale * np.asarray(means[source]), source, scale)


@dataclass(frozen=True)
class Report:
    """The result of scoring: ``ids`` and ``columns`` are per item, in the same order; ``metrics`` aggregate them.

    A column is a finite number for every item: a scorer that cannot give one raises instead.
    """

    task: str
    ids: Sequence[str]
    columns: Mapping[str, NDArray[np.float64]]
    metrics: Sequence[Metric]
    settings: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.ids:
            raise InputError(f"There is nothing to score: the {self.task} gold file holds no items.")
        for name, column in self.columns.items():
            if len(column) != len(self.ids):
                raise ValueError(f"column {name} has {len(column)} values for {len(self.ids)} items")
            bad = np.flatnonzero(~np.isfinite(column))
            if len(bad):
                raise InputError(f"Item {self.ids[bad[0]]}: {name} is not a finite number.")

    @property
    def n(self) -> int:
        """The number of items."""
        return len(self.ids)

    @property
    def scores(self) -> dict[str, float]:
        """Every metric's value, by name."""
        means = {name: np.asarray(column.mean()) for name, column in self.columns.items()}
        return {metric.name: float(metric.formula(means)) for metric in self.metrics}

    def items(self) -> list[dict[str, Any]]:
        """One JSON object per item: its id and its value in every column."""
        return [
            {"id": identifier, **{name: float(column[place]) for name, column in self.columns.items()}}
            for place, identifier in enumerate(self.ids)
        ]
