from __future__ import annotations

import math
from difflib import SequenceMatcher

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longform.records import Passage
from longform.score.recall import (
    PassageText,
    answer_ranks,
    evidence_ranks,
    evidence_recall,
    page_ranks,
    recall_at,
    same_evidence,
)


def test_answers_are_looked_for_in_title_and_text() -> None:
    passages = [PassageText("Ringo Starr", "He drummed."), PassageText("Paul", "He sang in Rome, the city.")]
    assert answer_ranks([["ringo"], ["Rome city"], ["John", "Paul"], ["Yoko"]], passages) == [1, 2, 2, math.inf]


def test_a_passage_record_is_a_titled_text() -> None:
    record = Passage(id="a#0", document="a", title="A", text="One.", start=0, end=4)
    assert answer_ranks([["one"]], [record]) == [1]


def test_an_answer_that_normalises_to_nothing_is_nowhere() -> None:
    assert answer_ranks([["A", "The"]], [PassageText("A", "A the")]) == [math.inf]


def test_pages_compare_by_title() -> None:
    passages = [PassageText("Abbey_Road", ""), PassageText("HELP!", "")]
    assert page_ranks(["Help!", "Abbey Road", "abbey road", "Let It Be"], passages) == [2, 1, math.inf]


@pytest.mark.parametrize(
    ("gold", "found", "same"),
    [
        ("0123456789", "01234567", True),
        ("0123456789", "xxx0123456", False),
        ("ABCDEFGH", "abcdefgh", True),
        ("", "abc", False),
        ("abc", "", False),
    ],
)
def test_same_evidence(gold: str, found: str, same: bool) -> None:
    assert same_evidence(PassageText("T", gold), PassageText("t", found)) is same
    assert not same_evidence(PassageText("T", gold), PassageText("other", found))


@given(st.text("ab", max_size=12), st.text("ab", max_size=12))
def test_same_evidence_is_the_longest_common_substring(first: str, second: str) -> None:
    match = SequenceMatcher(None, first, second, autojunk=False).find_longest_match()
    shorter = min(len(first), len(second))
    expected = shorter > 0 and match.size / shorter > 0.7
    assert same_evidence(PassageText("t", first), PassageText("t", second)) is expected


def test_each_passage_proves_one_thing() -> None:
    gold = [PassageText("T", "abcdefghij"), PassageText("T", "abcdefghij!")]
    found = PassageText("T", "abcdefghij")
    assert evidence_ranks(gold, [found]) == [1, math.inf]
    assert evidence_ranks(gold, [found, found]) == [1, 2]


def test_evidence_recall_is_a_mean_over_answers() -> None:
    one, two, three = (PassageText("T", letter * 10) for letter in "abc")
    assert evidence_recall([[one], [two, three]], [one, two], 1) == 0.5
    assert evidence_recall([[one], [two, three]], [one, two], 2) == 0.75
    assert evidence_recall([[one], [one]], [one], 1) == 1, "shared evidence counts for both"
    assert evidence_recall([[], []], [one], 1) == 0


TEXTS = st.lists(st.builds(PassageText, st.sampled_from("pq"), st.text("uvw ", max_size=5)), max_size=6)


@given(st.lists(st.lists(st.sampled_from(["u", "vw", "wu", "the"]), min_size=1, max_size=2), min_size=1), TEXTS)
def test_recall_grows_with_k(answers: list[list[str]], passages: list[PassageText]) -> None:
    values = [recall_at(answer_ranks(answers, passages), k) for k in range(1, 8)]
    assert values == sorted(values)
    assert 0 <= values[0] <= values[-1] <= 1
    assert values[1] == recall_at(answer_ranks(answers, passages[:2]), 2)
    assert values[-1] == recall_at(answer_ranks(answers[::-1], passages[::-1]), 7)
