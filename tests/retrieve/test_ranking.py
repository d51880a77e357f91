"""Ties: ordered by id, found to their end, whatever order the engine gives them in."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longform.retrieve.ranking import Ranked, as_ranked, best_rows, break_ties


def name(row: int) -> str:
    """Ids that sort in another order than rows."""
    return f"p{(row * 7) % 101:03d}"


def test_equal_scores_are_ordered_by_id() -> None:
    ranked = as_ranked([0, 1, 2, 3], [2.0, 1.0, 1.0, 1.0])
    assert [item.row for item in break_ties(ranked, {0: "z", 1: "c", 2: "a", 3: "b"}.__getitem__)] == [0, 2, 3, 1]


def test_noise_in_the_last_bits_is_a_tie_and_the_scores_become_one() -> None:
    ranked = [Ranked(0, 10.0), Ranked(1, 9.99999), Ranked(2, 9.99)]
    assert break_ties(ranked, {0: "b", 1: "a", 2: "c"}.__getitem__) == [
        Ranked(1, 10.0),
        Ranked(0, 10.0),
        Ranked(2, 9.99),
    ]


@pytest.mark.parametrize("ranked", [[], [Ranked(3, 1.0)], [Ranked(3, 0.0), Ranked(1, -1.0)]])
def test_nothing_to_break(ranked: list[Ranked]) -> None:
    assert break_ties(ranked, str) == ranked


def test_negative_and_zero_scores_tie_too() -> None:
    ranked = as_ranked([2, 1, 4, 3], [0.0, 0.0, -0.5, -0.5])
    assert [item.row for item in break_ties(ranked, str)] == [1, 2, 3, 4]


@given(st.lists(st.integers(0, 5), min_size=1, max_size=60), st.integers(1, 60), st.integers(0, 10**6))
def test_the_best_are_the_same_in_whatever_order_ties_come(scores: list[int], k: int, seed: int) -> None:
    expected = sorted(range(len(scores)), key=lambda row: (-scores[row], name(row)))[:k]
    chance = random.Random(seed)

    def fetch(limit: int) -> list[Ranked]:
        rows = sorted(range(len(scores)), key=lambda row: (-scores[row], chance.random()))[:limit]
        return [Ranked(row, float(scores[row])) for row in rows]

    assert [item.row for item in best_rows(fetch, k, name)] == expected


def test_the_search_widens_to_the_end_of_the_tie_and_no_further() -> None:
    asked = []

    def fetch(limit: int) -> list[Ranked]:
        asked.append(limit)
        return [Ranked(row, 1.0 if row < 500 else 0.5) for row in range(min(limit, 100_000))]

    found = best_rows(fetch, 2, lambda row: f"{1000 - row:04d}")
    assert [item.row for item in found] == [499, 498]
    assert 500 < asked[-1] < 1500
