"""Fuse two rankings into one: by reciprocal ranks, or by weighted scores."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from longform.errors import InputError
from longform.retrieve.ranking import Ranked, break_ties

__all__ = ["FUSIONS", "fuse", "reciprocal_rank_fusion", "weighted_fusion"]

FUSIONS = ("rrf", "weighted")


def reciprocal_rank_fusion(
    rankings: Mapping[str, Sequence[Ranked]], weights: Mapping[str, float], constant: float = 60.0
) -> dict[int, float]:
    """The sum over rankings of ``weight / (constant + rank)`` (Cormack, Clarke and Büttcher, SIGIR 2009).

    >>> reciprocal_rank_fusion({"a": [Ranked(7, 9.0)], "b": [Ranked(7, 0.5)]}, {"a": 1, "b": 1})
    {7: 0.03278688524590164}
    """
    fused: dict[int, float] = {}
    for name, ranking in rankings.items():
        for rank, item in enumerate(ranking, 1):
            fused[item.row] = fused.get(item.row, 0.0) + weights[name] / (constant + rank)
    return fused


def weighted_fusion(rankings: Mapping[str, Sequence[Ranked]], weights: Mapping[str, float]) -> dict[int, float]:
    """The weighted sum of scores, each ranking's scaled to 0 … 1 over its own rows; a row it lacks gets 0 there.

    >>> weighted_fusion({"a": [Ranked(7, 9.0), Ranked(8, 5.0)], "b": [Ranked(8, 0.5)]}, {"a": 0.5, "b": 0.5})
    {7: 0.5, 8: 0.5}
    """
    fused: dict[int, float] = {}
    for name, ranking in rankings.items():
        if not ranking:
            continue
        lowest = min(item.score for item in ranking)
        spread = max(item.score for item in ranking) - lowest
        for item in ranking:
            scaled = (item.score - lowest) / spread if spread > 0 else 1.0
            fused[item.row] = fused.get(item.row, 0.0) + weights[name] * scaled
    return fused


def fuse(
    rankings: Mapping[str, Sequence[Ranked]],
    k: int,
    identify: Callable[[int], Any],
    *,
    method: str = "rrf",
    dense_weight: float = 0.5,
) -> list[Ranked]:
    """Fuse the rankings named ``bm25`` and ``dense``; ``dense_weight`` is the share of the latter, from 0 to 1."""
    if method not in FUSIONS:
        raise InputError(f"There is no fusion {method!r}: choose one of {', '.join(FUSIONS)}.")
    if not 0 <= dense_weight <= 1:
        raise InputError(f"The weight of dense search must lie between 0 and 1, and {dense_weight} does not.")
    weights = {"bm25": 1 - dense_weight, "dense": dense_weight}
    combine = reciprocal_rank_fusion if method == "rrf" else weighted_fusion
    fused = [Ranked(row, score) for row, score in combine(rankings, weights).items()]
    fused.sort(key=lambda item: -item.score)
    return break_ties(fused, identify, k)
