"""Subsequences by bit-vectors against the table of lengths that the official scorers build."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longform.score.lcs import STOP, SentenceBits, lcs_indices, lcs_length

words = st.lists(st.sampled_from("abcde"), max_size=25)


def table(reference: list[str], candidate: list[str]) -> list[list[int]]:
    """The lengths for every pair of prefixes, by the textbook's recurrence."""
    lengths = [[0] * (len(candidate) + 1) for _ in range(len(reference) + 1)]
    for i, ours in enumerate(reference, 1):
        for j, theirs in enumerate(candidate, 1):
            longer = max(lengths[i - 1][j], lengths[i][j - 1])
            lengths[i][j] = lengths[i - 1][j - 1] + 1 if ours == theirs else longer
    return lengths


def walked(reference: list[str], candidate: list[str]) -> list[int]:
    """The official walk back: off a match, along the candidate only where that keeps a greater length."""
    lengths = table(reference, candidate)
    i, j = len(reference), len(candidate)
    places = []
    while i and j:
        if reference[i - 1] == candidate[j - 1]:
            i, j = i - 1, j - 1
            places.append(i)
        elif lengths[i][j - 1] > lengths[i - 1][j]:
            j -= 1
        else:
            i -= 1
    return places[::-1]


def joined(sentences: list[list[str]]) -> list[str]:
    """One list, with a stop between two sentences."""
    return [word for sentence in sentences for word in (*sentence, STOP)][:-1]


def test_known() -> None:
    assert lcs_indices(list("abca"), list("cab")) == [0, 1]
    assert lcs_indices([], ["a"]) == lcs_indices(["a"], []) == []
    assert lcs_length([], []) == 0


@given(words, words)
def test_same_places_as_the_table(reference: list[str], candidate: list[str]) -> None:
    places = lcs_indices(reference, candidate)
    assert places == walked(reference, candidate)
    assert len(places) == lcs_length(reference, candidate) == table(reference, candidate)[-1][-1]


@given(words, words)
def test_length_is_symmetric_and_bounded(one: list[str], other: list[str]) -> None:
    assert lcs_length(one, other) == lcs_length(other, one) <= min(len(one), len(other))
    assert lcs_length(one, one) == len(one)


@given(st.lists(words, max_size=5), st.lists(words, max_size=5))
def test_union_side_by_side_is_the_union_one_by_one(reference: list[list[str]], candidates: list[list[str]]) -> None:
    flat, others = joined(reference), joined(candidates)
    bits = SentenceBits(flat)
    expected, start = [], 0
    for sentence in reference:
        union = {place for candidate in candidates for place in walked(sentence, candidate)}
        expected += [start + place for place in sorted(union)]
        start += len(sentence) + 1
    assert bits.places(bits.union(others)) == expected
    assert bits.words_at(bits.union(others)) == [flat[place] for place in expected]
    assert set(bits.words_at(bits.union(others, once=True))) == {flat[place] for place in expected}


def test_more_words_than_the_table_of_masks() -> None:
    dice = random.Random(3)
    reference, candidate = ([dice.choice("abcdefghij") for _ in range(1300)] for _ in range(2))
    assert lcs_indices(reference, candidate) == walked(reference, candidate)


def test_same_places_as_rouge_score() -> None:
    official = pytest.importorskip("rouge_score.rouge_scorer")
    dice = random.Random(5)
    for _ in range(2000):
        letters = "abcdefghijkl"[: dice.randint(1, 12)]
        one, other = (dice.choices(letters, k=dice.randint(0, 25)) for _ in range(2))
        assert lcs_indices(one, other) == official.lcs_ind(one, other)


def test_same_words_as_rouge_with_places_changed() -> None:
    official = pytest.importorskip("rouge.rouge_score")
    dice = random.Random(6)
    for _ in range(1000):
        letters = "abcdefghijkl"[: dice.randint(1, 12)]
        reference, hypothesis = (dice.choices(letters, k=dice.randint(0, 25)) for _ in range(2))
        ours = [hypothesis[place] for place in lcs_indices(hypothesis, reference)]
        assert ours == official._recon_lcs(reference, hypothesis, exclusive=False)._ngrams
