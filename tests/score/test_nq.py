from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longform.errors import InputError
from longform.score.nq import Judged, best_threshold, h_beta, judge_long, judge_short, same_spans, score_nq
from longform.score.nq_records import Label, NqPrediction, NqSpan


def span(start: int, end: int) -> NqSpan:
    return NqSpan(start_token=start, end_token=end)


A, B = Label(span(1, 9), (span(2, 3),)), Label(span(20, 30), (span(21, 22), span(24, 25)))
YES, NO, NONE = Label(yes_no="yes"), Label(yes_no="no"), Label()


def test_two_annotators_make_an_answer() -> None:
    assert judge_long([A, NONE, NONE, NONE, NONE], A) == Judged(False, True, False)
    assert judge_long([A, B, NONE, NONE, NONE], A) == Judged(True, True, True)
    assert judge_long([A, B], Label(span(1, 8))) == Judged(True, True, False)
    assert judge_long([A, B], NONE) == Judged(True, False, False)
    assert judge_long([A, NONE], A, threshold=1) == Judged(True, True, True)


def test_short_answers_are_sets() -> None:
    swapped = Label(short=(span(24, 25), span(21, 22), span(21, 22), NqSpan()))
    assert judge_short([B, A], swapped).correct
    assert not judge_short([B, A], Label(short=(span(21, 22),))).correct, "a part of a set is another set"


def test_yes_and_no() -> None:
    assert judge_short([YES, A, NONE], YES).correct
    assert not judge_short([YES, A, NONE], NO).correct
    assert not judge_short([YES, NONE, NONE], YES).gold
    assert judge_short([YES, A], Label(short=(span(2, 3),))).correct
    assert not judge_short([YES, YES], Label(short=(span(2, 3),))).correct


def test_h_beta_is_the_papers_definition() -> None:
    assert h_beta(judge_long([NONE] * 5, NONE)) == 1
    assert h_beta(judge_long([A] + [NONE] * 4, NONE)) == 1
    assert h_beta(judge_long([A, A, NONE], NONE)) == 0
    assert h_beta(judge_long([NONE] * 5, A)) == 0


def test_same_spans_ignores_nulls() -> None:
    assert same_spans([], [NqSpan()])
    assert not same_spans([], [span(1, 2)])


def test_best_threshold_keeps_ties_together() -> None:
    right, wrong = Judged(True, True, True), Judged(True, True, False)
    found = best_threshold([wrong, right], [1.0, 1.0], [0.5, 0.9])
    assert found == (0.5, 0.5, 0.5, 1.0, {0.5: (0.5, 0.5), 0.9: (0.0, 0.0)})
    assert best_threshold([wrong], [5.0])[:4] == (0.0, 0.0, 0.0, 0.0)


def test_a_null_prediction_is_passed_over() -> None:
    silent, right = Judged(True, False, False), Judged(True, True, True)
    assert best_threshold([silent, right], [9.0, 1.0], [0.9]).at_precision == {0.9: (0.5, 1.0)}


def test_report() -> None:
    gold = {"1": (A, A, NONE), "2": (NONE, NONE, A), "3": (B, B, B)}
    guesses = {"1": NqPrediction(A, 3, 3), "2": NqPrediction(A, 2, 2), "3": NqPrediction(NONE, 1, 1)}
    report = score_nq(gold, guesses)
    assert report.scores["long-answer-precision"] == 0.5
    assert report.scores["long-answer-recall"] == 0.5
    assert report.scores["long-answer-f1"] == 0.5
    assert report.scores["long-answer-accuracy"] == pytest.approx(1 / 3)
    assert report.scores["long-best-threshold"] == 3
    assert report.scores["long-best-threshold-f1"] == pytest.approx(2 / 3)
    assert report.scores["short-recall-at-precision>=0.9"] == 0.5
    assert report.scores["short-answer-n"] == 3
    lenient = score_nq(gold, guesses, long_threshold=1)
    assert lenient.scores["long-answer-precision"] == 1


def test_nothing_predicted_and_nothing_wanted_is_zero_and_not_nan() -> None:
    report = score_nq({"1": (NONE, NONE)}, {"1": NqPrediction(NONE, 0, 0)})
    assert report.scores["long-answer-f1"] == report.scores["long-answer-precision"] == 0
    assert report.scores["long-answer-accuracy"] == 1


def test_ids_must_be_the_same() -> None:
    one = {"1": NqPrediction(A, 0, 0)}
    with pytest.raises(InputError, match=r"^Item 2 is not predicted \(1 of 2 gold items are missing\).$"):
        score_nq({"1": (A,), "2": (A,)}, one)
    with pytest.raises(InputError, match=r"^Item 1 is predicted but not in the gold files \(1 such items\).$"):
        score_nq({}, one)


def test_bytes_against_simplified_gold_are_a_mistake() -> None:
    guess = {"1": NqPrediction(Label(NqSpan(5, 9)), 0, 0)}
    with pytest.raises(InputError, match=r"^Item 1 gives byte offsets only, but the simplified gold has tokens only.$"):
        score_nq({"1": (A, A)}, guess)


LABELS = st.sampled_from([A, B, YES, NO, NONE])


@given(st.lists(st.tuples(st.lists(LABELS, min_size=5, max_size=5), LABELS, st.integers(0, 3)), min_size=1, max_size=8))
def test_bounds_and_order(items: list[tuple[list[Label], Label, int]]) -> None:
    gold = {str(n): labels for n, (labels, _, _) in enumerate(items)}
    guesses = {str(n): NqPrediction(label, score, score) for n, (_, label, score) in enumerate(items)}
    scores = score_nq(gold, guesses).scores
    assert all(0 <= value <= 1 for name, value in scores.items() if name[-2:] != "-n" and "threshold" not in name)
    assert scores["long-best-threshold-f1"] >= scores["long-answer-f1"] - 1e-12
    turned = {item: list(reversed(labels)) for item, labels in reversed(gold.items())}
    assert score_nq(turned, guesses).scores == pytest.approx(scores)
