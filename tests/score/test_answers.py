from __future__ import annotations

from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longform.score.answers import any_within, best, exact_match, harmonic, token_f1, within
from longform.text import normalize_answer

WORDS = st.text(alphabet="ab the.'", max_size=12)


def test_exact_match_is_after_normalisation() -> None:
    assert exact_match("The O'Neil-Smith!", "oneilsmith") == 1
    assert exact_match("1990–91", "1990-91") == 0, "an en dash is not ASCII punctuation"


def test_token_f1_counts_a_bag_of_words() -> None:
    assert token_f1("new new york", "new york") == pytest.approx(2 * (2 / 3) * 1 / (2 / 3 + 1))
    assert token_f1("paris", "rome") == 0


def test_two_empty_answers_agree_for_asqa_and_not_for_kilt() -> None:
    assert token_f1("", "The") == 1
    assert token_f1("", "The", empty_agree=False) == 0
    assert token_f1("", "Rome") == token_f1("Rome", "") == 0


def test_best_takes_the_largest_over_predictions_and_golds() -> None:
    assert best(exact_match, ["x", "rome"], ["Roma", "Rome"]) == 1
    assert best(exact_match, "Rome", []) == 0
    assert best(exact_match, [], ["Rome"]) == 0
    assert best(partial(token_f1, empty_agree=False), "", [""]) == 0


def test_within_is_a_substring_of_letters() -> None:
    assert within("1", "2016")
    assert within("A", "")
    assert any_within(["x", "Paul"], normalize_answer("It was the Paul."))
    assert not any_within([], "paul")


@given(WORDS, WORDS)
def test_bounds_and_symmetry(first: str, second: str) -> None:
    assert 0 <= token_f1(first, second) <= 1
    assert token_f1(first, second) == pytest.approx(token_f1(second, first))
    assert exact_match(first, second) <= token_f1(first, second)
    assert exact_match(first, first) == token_f1(first, first) == 1


@given(st.floats(0, 1), st.floats(0, 1))
def test_harmonic_lies_between(first: float, second: float) -> None:
    assert harmonic(first, second) <= max(first, second) + 1e-12
    assert harmonic(first, second) >= 0
