"""Which candidates are silver: the paper's rules, as cases and as properties."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from longform.silver.choice import Choice, choose_best, choose_direct, choose_silver

# A busy machine is no failure.
patient = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

SCORES = st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.5, 1.0])
POOLS = st.lists(st.tuples(st.frozensets(st.integers(0, 5), max_size=3), SCORES), max_size=12)


def test_best_breaks_ties_by_rank() -> None:
    assert [choice.place for choice in choose_best([0.5, 0.7, 0.5, 0.0], 9)] == [1, 0, 2, 3]
    assert [choice.place for choice in choose_best([0.5, 0.0], 9, above=0.0)] == [0]
    assert choose_best([], 5) == []


def test_direct_is_never_padded() -> None:
    held = [{0}, set(), {1}, {0, 1}]
    assert choose_direct(held, [0.1, 0.9, 0.5, 0.5], 5) == [Choice(2, 1), Choice(3, 0), Choice(0, 0)]
    assert choose_direct(held, [0.1, 0.9, 0.5, 0.5], 1) == [Choice(2, 1)]
    assert choose_direct([set()], [1.0], 5) == []


def test_silver_takes_the_best_match_of_each_answer() -> None:
    held = [{0}, {0}, {1}, set(), set()]
    assert choose_silver(held, [0.2, 0.3, 0.1, 0.9, 0.8], 3) == [Choice(1, 0), Choice(2, 1), Choice(3)]


def test_an_answer_that_is_held_already_needs_no_other_passage() -> None:
    held = [{0, 1}, {1}, set()]
    assert choose_silver(held, [0.9, 0.5, 0.6], 2) == [Choice(0, 0), Choice(2)]


def test_more_answers_than_places() -> None:
    held = [{0}, {1}, {2}]
    assert [choice.place for choice in choose_silver(held, [0.1, 0.3, 0.2], 2)] == [1, 2], "the best matches"


def test_a_passage_with_an_answer_is_silver_even_without_a_match() -> None:
    assert choose_silver([set(), {0}], [0.0, 0.0], 5) == [Choice(1, 0)], "the other one supports nothing"


@patient
@given(POOLS, st.integers(1, 6))
def test_silver_properties(pool: list[tuple[frozenset[int], float]], k: int) -> None:
    held, scores = [item[0] for item in pool], [item[1] for item in pool]
    chosen = choose_silver(held, scores, k)
    places = [choice.place for choice in chosen]
    assert len(set(places)) == len(places) <= k
    covered = frozenset().union(*(held[place] for place in places))
    everything = frozenset().union(*held)
    assert covered == everything or len(places) == k, "an answer is missed only for want of room"
    useful = sum(score > 0 for score in scores)
    assert len(places) >= min(k, useful), "and no room is left while something matches"
    for choice in chosen:
        if choice.answer is not None:
            rivals = [scores[place] for place, answers in enumerate(held) if choice.answer in answers]
            assert scores[choice.place] == max(rivals)
    rest = [scores[choice.place] for choice in chosen if choice.answer is None]
    assert rest == sorted(rest, reverse=True)
    assert all(score > 0 for score in rest)


@patient
@given(POOLS, st.integers(1, 6), st.permutations(range(6)))
def test_the_order_of_the_answers_changes_no_coverage(
    pool: list[tuple[frozenset[int], float]], k: int, order: list[int]
) -> None:
    scores = [float(place) + 1 for place in range(len(pool))]
    held = [item[0] for item in pool]
    renamed = [frozenset(order[answer] for answer in answers) for answers in held]
    first = {choice.place for choice in choose_silver(held, scores, k)}
    assert first == {choice.place for choice in choose_silver(renamed, scores, k)}
