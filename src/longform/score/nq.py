"""Natural Questions: long and short answers against five annotators (Kwiatkowski et al., TACL 2019, section 5).

A question has an answer when at least β annotators (2 of 5; ``--long_non_null_threshold`` and its twin in the official
scorer) gave one. The F is the plain F1: nothing here is an F-β.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from longform.errors import InputError
from longform.score.answers import harmonic
from longform.score.nq_records import Label, NqPrediction, NqSpan
from longform.score.report import Means, Metric, Report

__all__ = [
    "PRECISION_TARGETS",
    "BestThreshold",
    "Judged",
    "best_threshold",
    "h_beta",
    "judge_long",
    "judge_short",
    "ratio_metrics",
    "same_spans",
    "score_nq",
]

PRECISION_TARGETS = (0.5, 0.75, 0.9)
_CITATION = "Kwiatkowski et al., TACL 2019, section 5"


class Judged(NamedTuple):
    """One prediction against its annotations: is there an answer, is one predicted, and is it right?"""

    gold: bool
    predicted: bool
    correct: bool


def same_spans(first: Iterable[NqSpan], second: Iterable[NqSpan]) -> bool:
    """Whether two lists hold the same spans; order, repeats and null spans do not count.

    >>> same_spans([NqSpan(0, 4), NqSpan()], [NqSpan(0, 4), NqSpan(0, 4)])
    True
    """
    ours, theirs = ([span for span in spans if not span.null] for spans in (first, second))
    return all(any(a.same(b) for b in theirs) for a in ours) and all(any(b.same(a) for a in ours) for b in theirs)


def judge_long(annotations: Sequence[Label], label: Label, *, threshold: int = 2) -> Judged:
    """The long answer: right if it is the span of any annotator, where at least ``threshold`` of them gave one.

    >>> page = Label(NqSpan(start_token=3, end_token=9))
    >>> judge_long([page, page, Label()], page), judge_long([page, Label(), Label()], page)
    (Judged(gold=True, predicted=True, correct=True), Judged(gold=False, predicted=True, correct=False))
    """
    given = [annotation.long for annotation in annotations if annotation.has_long]
    gold = len(given) >= threshold
    correct = gold and label.has_long and any(label.long.same(span) for span in given)
    return Judged(gold, label.has_long, correct)


def judge_short(annotations: Sequence[Label], label: Label, *, threshold: int = 2) -> Judged:
    """The short answer: yes and no are right if any annotator says the same, spans if they are one annotator's set.

    >>> yes, none = Label(yes_no="yes"), Label()
    >>> judge_short([yes, yes, none], yes)
    Judged(gold=True, predicted=True, correct=True)
    """
    gold = sum(annotation.has_short for annotation in annotations) >= threshold
    if label.yes_no != "none":
        agrees = any(annotation.yes_no == label.yes_no for annotation in annotations)
    else:
        agrees = label.has_short and any(same_spans(a.short, label.short) for a in annotations)
    return Judged(gold, label.has_short, gold and agrees)


def h_beta(judged: Judged) -> float:
    """The paper's h_β (Definition 1): 1 for a right answer, and 1 for none where there is none.

    >>> h_beta(Judged(True, True, True)), h_beta(Judged(False, False, False)), h_beta(Judged(True, False, False))
    (1.0, 1.0, 0.0)
    """
    return float(judged.correct or not (judged.gold or judged.predicted))


class BestThreshold(NamedTuple):
    """The point of a precision-recall curve with the largest F1, and the recall at each precision wanted."""

    f1: float
    precision: float
    recall: float
    threshold: float
    at_precision: dict[float, tuple[float, float]]


def best_threshold(
    judged: Sequence[Judged], scores: Sequence[float], targets: Iterable[float] = PRECISION_TARGETS
) -> BestThreshold:
    """Keep only predictions of at least some score, for every score there is; items of one score go together.

    ``at_precision`` holds, for every target, the largest recall among the points whose precision reaches it, and that
    precision; 0 and 0 where none does. The best threshold starts from 0.0, and stays there if nothing is ever right.

    >>> right, wrong = Judged(True, True, True), Judged(True, True, False)
    >>> best_threshold([right, wrong, right], [3.0, 2.0, 1.0], [0.9])
    BestThreshold(f1=0.6666666666666666, precision=0.6666666666666666, recall=0.6666666666666666, threshold=1.0, \
at_precision={0.9: (0.3333333333333333, 1.0)})
    """
    total_gold = sum(item.gold for item in judged)
    ranked = sorted(zip(scores, judged, strict=True), key=lambda pair: -pair[0])
    predicted = correct = 0
    points: dict[float, tuple[float, float]] = {}
    for score, item in ranked:
        predicted += item.predicted
        correct += item.correct
        points[score] = (correct / predicted if predicted else 0.0, correct / total_gold if total_gold else 0.0)
    found = BestThreshold(0.0, 0.0, 0.0, 0.0, dict.fromkeys(targets, (0.0, 0.0)))
    for threshold, (precision, recall) in points.items():
        for target, (most, _) in found.at_precision.items():
            if precision >= target and recall > most:
                found.at_precision[target] = (recall, precision)
        f1 = harmonic(precision, recall)
        if f1 > found.f1:
            found = BestThreshold(f1, precision, recall, threshold, found.at_precision)
    return found


def _ratio(numerator: NDArray[np.float64], denominator: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.divide(numerator, denominator, out=np.zeros_like(numerator), where=denominator > 0)


def ratio_metrics(kind: str, citation: str = _CITATION) -> list[Metric]:
    """Precision, recall, F1 and accuracy of one kind of answer ("long", "short") as formulas over its columns.

    Precision is the mean of ``<kind>_correct`` over that of ``<kind>_predicted``, recall over that of ``<kind>_gold``;
    both are 0 where nothing is predicted or wanted. Accuracy is the mean of h_β.
    """

    def precision(means: Means) -> NDArray[np.float64]:
        return _ratio(np.asarray(means[f"{kind}_correct"]), np.asarray(means[f"{kind}_predicted"]))

    def recall(means: Means) -> NDArray[np.float64]:
        return _ratio(np.asarray(means[f"{kind}_correct"]), np.asarray(means[f"{kind}_gold"]))

    def f1(means: Means) -> NDArray[np.float64]:
        # The harmonic mean of the two ratios, without dividing by either.
        total = np.asarray(means[f"{kind}_predicted"]) + np.asarray(means[f"{kind}_gold"])
        return _ratio(2 * np.asarray(means[f"{kind}_correct"]), total)

    def accuracy(means: Means) -> NDArray[np.float64]:
        return np.asarray(means[f"{kind}_accuracy"])

    return [
        Metric(f"{kind}-answer-f1", "harmonic mean of precision and recall", citation, f1),
        Metric(f"{kind}-answer-precision", "right answers / answers given", citation, precision),
        Metric(f"{kind}-answer-recall", "right answers / questions with an answer", citation, recall),
        Metric(f"{kind}-answer-accuracy", "mean of h_β: right, or rightly silent", citation, accuracy),
    ]


def _fixed(name: str, definition: str, value: float) -> Metric:
    """A metric of the whole run that does not follow from the columns' means, and so has no interval."""
    return Metric(name, definition, _CITATION, lambda _: np.asarray(value))


def _threshold_metrics(kind: str, judged: Sequence[Judged], scores: Sequence[float]) -> list[Metric]:
    found = best_threshold(judged, scores)
    metrics = [
        _fixed(f"{kind}-best-threshold-f1", "largest F1 over all score thresholds", found.f1),
        _fixed(f"{kind}-best-threshold-precision", "precision at that threshold", found.precision),
        _fixed(f"{kind}-best-threshold-recall", "recall at that threshold", found.recall),
        _fixed(f"{kind}-best-threshold", "that threshold", found.threshold),
    ]
    for target, (recall, precision) in found.at_precision.items():
        text = f"over the thresholds whose precision is at least {target}"
        metrics += [
            _fixed(f"{kind}-recall-at-precision>={target}", f"largest recall {text}", recall),
            _fixed(f"{kind}-precision-at-precision>={target}", f"precision at the largest recall {text}", precision),
        ]
    return metrics


def score_nq(
    gold: Mapping[str, Sequence[Label]],
    predictions: Mapping[str, NqPrediction],
    *,
    long_threshold: int = 2,
    short_threshold: int = 2,
) -> Report:
    """Every number of the official scorer, under its own names, on a scale of 0 to 1.

    The ids of both sides must be the same. The ``…-best-threshold…`` and ``…-at-precision…`` values belong to the run
    as a whole: they stand in ``scores`` and are left out of intervals and tests.

    >>> span = Label(NqSpan(start_token=3, end_token=9))
    >>> report = score_nq({"1": [span, span, Label()]}, {"1": NqPrediction(span, 0.7, 0.0)})
    >>> report.scores["long-answer-f1"], report.scores["long-best-threshold"], report.scores["short-answer-f1"]
    (1.0, 0.7, 0.0)
    """
    _check(gold, predictions)
    ids = list(gold)
    columns: dict[str, NDArray[np.float64]] = {}
    metrics: list[Metric] = []
    for kind, judge, threshold in (("long", judge_long, long_threshold), ("short", judge_short, short_threshold)):
        judged = [judge(gold[item], predictions[item].label, threshold=threshold) for item in ids]
        scores = [predictions[item].long_score if kind == "long" else predictions[item].short_score for item in ids]
        table = np.array(judged, dtype=np.float64).reshape(len(ids), 3)
        columns |= {f"{kind}_{name}": table[:, place] for place, name in enumerate(Judged._fields)}
        columns[f"{kind}_accuracy"] = np.array([h_beta(item) for item in judged])
        metrics += [*ratio_metrics(kind), *_threshold_metrics(kind, judged, scores)]
        metrics.append(_fixed(f"{kind}-answer-n", "number of questions", len(ids)))
    settings = {"long_non_null_threshold": long_threshold, "short_non_null_threshold": short_threshold}
    return Report("nq", ids, columns, metrics, settings)


def _check(gold: Mapping[str, Sequence[Label]], predictions: Mapping[str, NqPrediction]) -> None:
    missing, extra = gold.keys() - predictions.keys(), predictions.keys() - gold.keys()
    if missing:
        raise InputError(
            f"Item {min(missing)} is not predicted ({len(missing)} of {len(gold)} gold items are missing)."
        )
    if extra:
        raise InputError(f"Item {min(extra)} is predicted but not in the gold files ({len(extra)} such items).")
    spans = [span for labels in gold.values() for label in labels for span in (label.long, *label.short)]
    if any(span.start_byte >= 0 for span in spans) or not any(span.start_token >= 0 for span in spans):
        return
    # Against simplified gold a prediction in bytes could never be right: that is a mistake, not a score of 0.
    for item, prediction in predictions.items():
        for span in (prediction.label.long, *prediction.label.short):
            if not span.null and span.start_token < 0:
                raise InputError(f"Item {item} gives byte offsets only, but the simplified gold has tokens only.")
