"""Which questions a report shows: those that the systems disagree about most, and some by chance."""

from __future__ import annotations

import random

import numpy as np
from numpy.typing import NDArray

from longform.report.gather import DatasetRuns, Entry

__all__ = ["Chosen", "choose_examples", "item_values"]

Chosen = dict[str, str]
"""Ids of questions, each with why it is shown."""

# Of the examples shown, how many are taken by disagreement: the rest show what is usual.
_DIFFERENT = 0.7


def item_values(entry: Entry, metric: str) -> NDArray[np.float64] | None:
    """A score item by item, in the order of the report's ids; ``None`` for one that no single item has."""
    found = next((one for one in entry.report.metrics if one.name == metric), None)
    if found is None:
        return None
    values = np.asarray(found.formula(entry.report.columns), dtype=np.float64)
    return values if values.shape == (entry.report.n,) else None


def choose_examples(dataset: DatasetRuns, quality: str | None, count: int, seed: int = 0) -> Chosen:
    """At most ``count`` questions.

    Seven of ten are those with the largest spread (standard deviation) of the score over the systems that compete, the
    largest first; the others are drawn by the seed, and stand in the order of the dataset.
    """
    if not dataset.entries or count < 1:
        return {}
    ids = list(dataset.examples)
    spread = _spread(dataset, quality)
    different = sorted(spread, key=lambda identifier: (-spread[identifier], identifier))
    different = [identifier for identifier in different if spread[identifier] > 0]
    taken = different[: max(1, round(count * _DIFFERENT)) if count > 1 else 1]
    left = [identifier for identifier in ids if identifier not in set(taken)]
    drawn = random.Random(f"{seed}:{dataset.label}").sample(left, min(len(left), count - len(taken)))
    by_chance = [identifier for identifier in left if identifier in set(drawn)]
    return {**dict.fromkeys(taken, "the systems disagree"), **dict.fromkeys(by_chance, "drawn by chance")}


def _spread(dataset: DatasetRuns, quality: str | None) -> dict[str, float]:
    """The standard deviation of the score over systems, for every question that all of them are scored on."""
    if quality is None:
        return {}
    by_id = [
        dict(zip(entry.report.ids, values.tolist(), strict=True))
        for entry in dataset.competing
        if (values := item_values(entry, quality)) is not None
    ]
    if not by_id:
        return {}
    return {
        identifier: float(np.std([values[identifier] for values in by_id]))
        for identifier in by_id[0]
        if all(identifier in values for values in by_id)
    }
