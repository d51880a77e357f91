"""Scoring within a time: never more than fits, never fewer than five, always the first."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from longform.rerank.budget import LEAST, score_within


class Machine:
    """A clock, and a scorer that takes so long for a token."""

    def __init__(self, costs: list[int], rate: float) -> None:
        self.costs, self.rate, self.now = costs, rate, 0.0
        self.slices: list[tuple[int, int]] = []

    def clock(self) -> float:
        return self.now

    def score(self, first: int, last: int) -> np.ndarray:
        self.slices.append((first, last))
        self.now += self.rate * sum(self.costs[first:last])
        return np.arange(first, last, dtype=np.float32)


COSTS = st.lists(st.integers(1, 300), max_size=120)


@given(COSTS, st.floats(1e-6, 1e-2), st.floats(1e-3, 10))
def test_the_time_is_kept(costs: list[int], rate: float, seconds: float) -> None:
    machine = Machine(costs, rate)
    found = score_within(costs, machine.score, seconds, clock=machine.clock)
    assert found.tolist() == list(range(len(found)))
    assert len(found) >= min(LEAST, len(costs))
    assert len(found) <= LEAST or machine.now <= seconds * 1.0001
    if rate * sum(costs) < seconds * 0.8:
        assert len(found) == len(costs)
    # Each slice goes on where the one before ended.
    assert machine.slices[0][0] == 0
    assert all(one[1] == two[0] for one, two in zip(machine.slices, machine.slices[1:], strict=False))


@given(COSTS)
def test_without_a_limit_all_are_scored_at_once(costs: list[int]) -> None:
    machine = Machine(costs, 1.0)
    assert len(score_within(costs, machine.score)) == len(costs)
    assert machine.slices == [(0, len(costs))]


def test_most_of_the_time_is_used() -> None:
    machine = Machine([100] * 1000, 1e-4)
    found = score_within([100] * 1000, machine.score, 5.0, clock=machine.clock)
    assert 4.5 <= machine.now <= 5.0
    assert len(found) == round(machine.now / 0.01)


def test_a_machine_that_becomes_slower_is_noticed() -> None:
    machine = Machine([100] * 1000, 1e-4)

    def score(first: int, last: int) -> np.ndarray:
        machine.rate = 1e-4 if first == 0 else 2e-4
        return machine.score(first, last)

    score_within([100] * 1000, score, 5.0, clock=machine.clock)
    assert machine.now <= 5.6


def test_what_happened_before_counts() -> None:
    machine = Machine([1] * 100, 0.01)
    machine.now = 3.0
    assert len(score_within([1] * 100, machine.score, 3.1, started=0.0, clock=machine.clock)) < 12
    assert len(score_within([1] * 100, machine.score, 1.0, started=0.0, clock=machine.clock)) == LEAST


def test_a_clock_that_stands_still() -> None:
    machine = Machine([1] * 100, 0.0)
    assert len(score_within([1] * 100, machine.score, 0.5, clock=machine.clock)) == 100
