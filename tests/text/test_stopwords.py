"""Stop words and question words: shape, overlap, and what must never be dropped from a question."""

from __future__ import annotations

import re

import pytest

from longform.text import QUESTION_WORDS, STOP_WORDS


def test_stop_words_are_a_list_of_usual_size() -> None:
    assert 120 <= len(STOP_WORDS) <= 180


@pytest.mark.parametrize("words", [STOP_WORDS, QUESTION_WORDS], ids=["stop", "question"])
def test_words_are_single_lower_case_tokens(words: frozenset[str]) -> None:
    assert all(re.fullmatch("[a-z]+", word) for word in words)


def test_the_two_sets_share_no_word() -> None:
    assert not STOP_WORDS & QUESTION_WORDS


@pytest.mark.parametrize("sentence", ["don't", "it's", "they're", "I'll", "we've", "isn't", "he'd", "I'm"])
def test_contractions_leave_nothing_behind(sentence: str) -> None:
    assert set(re.findall("[a-z]+", sentence.lower())) <= STOP_WORDS | QUESTION_WORDS


@pytest.mark.parametrize("word", ["who", "whom", "whose", "what", "which", "when", "where", "why", "how", "did", "is"])
def test_words_that_only_ask_are_dropped(word: str) -> None:
    assert word in STOP_WORDS | QUESTION_WORDS


@pytest.mark.parametrize(
    "word", ["many", "much", "long", "old", "far", "first", "last", "name", "year", "new", "may", "us", "won"]
)
def test_words_with_content_are_kept(word: str) -> None:
    assert word not in STOP_WORDS | QUESTION_WORDS


def test_a_question_keeps_what_it_asks_about() -> None:
    question = "who was the first man to walk on the moon and how long did he stay"
    kept = [word for word in question.split() if word not in STOP_WORDS | QUESTION_WORDS]
    assert kept == ["first", "man", "walk", "moon", "long", "stay"]
