from __future__ import annotations

from pathlib import Path

import pytest

from longform.errors import InputError
from longform.score.annotators import answer_bands, answer_coverage, single_annotator, super_annotator, super_label
from longform.score.nq_records import Label, NqSpan, load_gold

SHARED = Path(__file__).parents[3] / "shared" / "data" / "nq" / "nq-dev-00.jsonl.gz"


def long(start: int) -> Label:
    return Label(NqSpan(start_token=start, end_token=start + 5), (NqSpan(start_token=start, end_token=start + 1),))


A, B, YES, NONE = long(1), long(50), Label(yes_no="yes"), Label()


def test_bands_are_open_below_and_closed_above() -> None:
    labels = {"a": [A] * 5, "b": [A] + [NONE] * 4, "c": [NONE] * 5, "d": [A, A, NONE, NONE, NONE]}
    bands = answer_bands(labels, verdicts={"a": "C", "b": "W", "d": "Cd"})
    assert [band.share for band in bands] == [0.25, 0.25, 0, 0, 0.25]
    assert [band.judged for band in bands] == [{"W": 0.25}, {"Cd": 0.25}, {}, {}, {"C": 0.25}]
    with pytest.raises(InputError, match=r"^Item a has no verdict.$"):
        answer_bands(labels, verdicts={"b": "W", "d": "Cd"})


def test_coverage_of_the_most_popular_answers() -> None:
    assert answer_coverage({"1": [A, A, B, NONE], "2": [B, YES, NONE]}, most=2) == [0.75, 1.0]
    assert answer_coverage({"1": [A, A, B, NONE], "2": [B, YES, NONE]}, "short", most=2) == [0.6, 1.0]
    assert answer_coverage({"1": [NONE]}, most=2) == [0, 0]


def test_the_order_of_short_spans_does_not_matter() -> None:
    first, second = NqSpan(start_token=1, end_token=2), NqSpan(start_token=5, end_token=6)
    labels = [Label(short=(first, second)), Label(short=(second, first, first))]
    assert answer_coverage({"1": labels}, "short", most=1) == [1.0]


def test_super_label() -> None:
    assert super_label([A] * 7 + [NONE] * 13) == NONE, "fewer than 8 of 20"
    assert super_label([B] + [A] * 7 + [NONE] * 12) == A
    assert super_label([A, B, NONE], alpha=2) == A, "the first of two equally frequent"
    assert super_label([A, YES, YES], alpha=1) == Label(A.long, (), "yes"), "long and short are decided apart"
    assert super_label([]) == NONE


def test_many_heads_are_better_than_one() -> None:
    # 25 annotators of whom 60 % find the answer: the majority does, a single one often does not.
    labels = {str(n): [A] * 15 + [NONE] * 10 for n in range(20)}
    one, all_of_them = single_annotator(labels, draws=20).scores, super_annotator(labels, draws=20).scores
    assert all_of_them["long-answer-recall"] == pytest.approx(1.0)
    assert one["long-answer-recall"] == pytest.approx(0.6, abs=0.05)
    assert one["long-answer-f1"] < all_of_them["long-answer-f1"]
    assert super_annotator(labels, draws=20, alpha=21).scores["long-answer-f1"] == 0


def test_same_seed_same_numbers() -> None:
    labels = {"1": [A, A, B, NONE, NONE, A, YES]}
    assert single_annotator(labels, seed=3).scores == single_annotator(labels, seed=3).scores


def test_too_few_annotations() -> None:
    with pytest.raises(InputError, match=r"^Item 1 has 5 annotations; 6 are needed.$"):
        single_annotator({"1": [A] * 5})
    with pytest.raises(InputError, match=r"^There are no annotations.$"):
        answer_coverage({})


@pytest.mark.shared
@pytest.mark.skipif(not SHARED.exists(), reason="the NQ pages are not beside the checkout (../shared/data/nq)")
def test_real_five_way_annotations() -> None:
    labels = load_gold(SHARED)
    bands = answer_bands(labels)
    assert [band.share for band in bands] == [0, 0.5, 0, 0, 0], "one page has two long answers of five, one has none"
    assert answer_coverage(labels) == [1.0] * 5
    # With only two answers of five, the four references of either annotator hold one: nobody can be right.
    scores = single_annotator(labels, references=4).scores
    assert scores["long-answer-f1"] == 0
    assert 0 <= scores["long-answer-accuracy"] <= 1
