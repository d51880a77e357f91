"""Fusion of two rankings, against values worked out by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longform import InputError
from longform.retrieve.fusion import FUSIONS, fuse
from longform.retrieve.ranking import Ranked

BM25 = [Ranked(0, 12.0), Ranked(1, 6.0), Ranked(2, 2.0)]
DENSE = [Ranked(1, 0.9), Ranked(3, 0.5), Ranked(0, 0.1)]


def scores(method: str, **options: float) -> dict[int, float]:
    return dict(fuse({"bm25": BM25, "dense": DENSE}, 10, str, method=method, **options))


def test_reciprocal_ranks() -> None:
    assert scores("rrf") == pytest.approx(
        {0: 0.5 / 61 + 0.5 / 63, 1: 0.5 / 62 + 0.5 / 61, 2: 0.5 / 63, 3: 0.5 / 62}, abs=1e-12
    )


def test_weighted_scores_are_scaled_to_one() -> None:
    assert scores("weighted") == pytest.approx({0: 0.5, 1: 0.5 * 0.4 + 0.5, 2: 0.0, 3: 0.5 * 0.5}, abs=1e-12)


@pytest.mark.parametrize("method", FUSIONS)
@pytest.mark.parametrize(("weight", "first"), [(0.0, 0), (1.0, 1)])
def test_all_weight_on_one_ranking_gives_its_order(method: str, weight: float, first: int) -> None:
    fused = fuse({"bm25": BM25, "dense": DENSE}, 1, str, method=method, dense_weight=weight)
    assert [item.row for item in fused] == [first]


@pytest.mark.parametrize("method", FUSIONS)
def test_an_empty_ranking_leaves_the_other(method: str) -> None:
    fused = fuse({"bm25": [], "dense": DENSE}, 3, str, method=method)
    assert [item.row for item in fused] == [1, 3, 0]
    assert fuse({"bm25": [], "dense": []}, 3, str, method=method) == []


def test_one_score_for_all_counts_in_full() -> None:
    fused = fuse({"bm25": [Ranked(0, 3.0), Ranked(1, 3.0)], "dense": []}, 3, str, method="weighted")
    assert fused == [Ranked(0, 0.5), Ranked(1, 0.5)]


@pytest.mark.parametrize("weight", [-0.1, 1.1, float("nan"), float("inf")])
def test_a_weight_out_of_bounds(weight: float) -> None:
    with pytest.raises(InputError, match=r"^The weight of dense search must lie between 0 and 1, and .* does not\.$"):
        fuse({}, 1, str, dense_weight=weight)


def test_an_unknown_method() -> None:
    with pytest.raises(InputError, match=r"^There is no fusion 'sum': choose one of rrf, weighted\.$"):
        fuse({}, 1, str, method="sum")


@given(st.permutations(list(range(8))), st.permutations(list(range(8))), st.sampled_from(FUSIONS), st.integers(1, 10))
def test_every_row_once_and_scores_fall(first: list[int], second: list[int], method: str, k: int) -> None:
    rankings = {
        "bm25": [Ranked(row, 8.0 - place) for place, row in enumerate(first)],
        "dense": [Ranked(row, 1 / (1 + place)) for place, row in enumerate(second)],
    }
    fused = fuse(rankings, k, str, method=method)
    assert len(fused) == min(k, 8)
    assert len({item.row for item in fused}) == len(fused)
    assert [item.score for item in fused] == sorted((item.score for item in fused), reverse=True)
