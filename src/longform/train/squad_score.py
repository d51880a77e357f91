"""SQuAD 2.0's own scores: exact match and F1, over all questions, those with an answer and those without.

P. Rajpurkar et al., "Know What You Don't Know: Unanswerable Questions for SQuAD", ACL 2018, and the evaluation
script that goes with it. Added are how well a reader tells which questions have no answer, and the columns from which
:mod:`longform.score.statistics` takes its intervals.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from longform.errors import InputError
from longform.score.answers import best, exact_match, token_f1
from longform.score.report import Means, Metric, Report, mean_of
from longform.text import normalize_answer
from longform.train.squad import SquadExample

__all__ = ["Threshold", "best_threshold", "score_squad"]

_SOURCE = "Rajpurkar et al., ACL 2018"


class Threshold(NamedTuple):
    """The score, in percent, that the best threshold gives, and that threshold."""

    score: float
    threshold: float


def score_squad(examples: Sequence[SquadExample], predictions: Mapping[str, str]) -> Report:
    """Scores of answers by question id, ``""`` for "no answer", in percent as the official script gives them.

    ``exact`` and ``f1`` are over all questions, ``HasAns_…`` and ``NoAns_…`` over those with and without an answer;
    ``null_accuracy``, ``null_precision`` and ``null_recall`` judge nothing but whether an answer was given. Where
    there is no question of a kind, its scores are 0.

    >>> from longform.train.squad import Span
    >>> answered = SquadExample("1", "Tea", "?", "Hot tea", (Span("Hot tea", 0),))
    >>> asked = [answered, SquadExample("2", "Tea", "?", "…", ())]
    >>> scores = score_squad(asked, {"1": "tea", "2": ""}).scores
    >>> [round(scores[name], 1) for name in ("exact", "f1", "HasAns_f1", "NoAns_f1", "null_accuracy")]
    [50.0, 83.3, 66.7, 100.0, 100.0]
    """
    missing = [example.id for example in examples if example.id not in predictions]
    if missing:
        raise InputError(f"{len(missing)} of {len(examples)} questions have no prediction, {missing[0]} among them.")
    answered = np.array([bool(example.answers) for example in examples], dtype=np.float64)
    given = np.array([bool(predictions[example.id]) for example in examples], dtype=np.float64)
    pairs = [(predictions[example.id], _golds(example)) for example in examples]
    columns = {
        "exact": np.array([best(exact_match, *pair) for pair in pairs]),
        "f1": np.array([best(token_f1, *pair) for pair in pairs]),
        "answered": answered,
        "unanswered": 1 - answered,
        "null": 1 - given,
        "null_right": (1 - given) * (1 - answered),
        "null_agrees": (given == answered).astype(np.float64),
    }
    for name in ("exact", "f1"):
        columns[f"HasAns_{name}"] = columns[name] * answered
        columns[f"NoAns_{name}"] = columns[name] * (1 - answered)
    metrics = [
        mean_of("exact", "share of answers equal to a gold one", _SOURCE, scale=100),
        mean_of("f1", "F1 of words against the nearest gold answer", _SOURCE, scale=100),
        *(_ratio(f"HasAns_{name}", f"HasAns_{name}", "answered", _SOURCE) for name in ("exact", "f1")),
        *(_ratio(f"NoAns_{name}", f"NoAns_{name}", "unanswered", _SOURCE) for name in ("exact", "f1")),
        mean_of("null_accuracy", "share of questions rightly answered or not", "own", column="null_agrees", scale=100),
        _ratio("null_precision", "null_right", "null", "own"),
        _ratio("null_recall", "null_right", "unanswered", "own"),
    ]
    return Report("squad", [example.id for example in examples], columns, metrics)


def best_threshold(
    examples: Sequence[SquadExample],
    predictions: Mapping[str, str],
    null_odds: Mapping[str, float],
    measure: str = "f1",
) -> Threshold:
    """The threshold above which "no answer" should be said, by the official script's search (``find_best_thresh``).

    ``predictions`` are what the reader says when it must answer, ``null_odds`` how much it rather would not. The search
    starts from answering nothing, at threshold 0, and walks up the odds.

    >>> from longform.train.squad import Span
    >>> asked = [SquadExample("1", "Tea", "?", "Hot tea", (Span("tea", 4),)), SquadExample("2", "Tea", "?", "…", ())]
    >>> best_threshold(asked, {"1": "tea", "2": "tea"}, {"1": -2.0, "2": 3.0})
    Threshold(score=100.0, threshold=-2.0)
    """
    scores = score_squad(examples, predictions).columns[measure]
    ordered = sorted(range(len(examples)), key=lambda place: null_odds[examples[place].id])
    current = top = float(sum(not example.answers for example in examples))
    threshold = 0.0
    for place in ordered:
        example = examples[place]
        current += float(scores[place]) if example.answers else -float(bool(predictions[example.id]))
        if current > top:
            top, threshold = current, null_odds[example.id]
    return Threshold(100 * top / len(examples), threshold)


def _golds(example: SquadExample) -> list[str]:
    """The answers that are not empty when normalised; the empty one where none is left."""
    return [answer.text for answer in example.answers if normalize_answer(answer.text)] or [""]


def _ratio(name: str, above: str, below: str, source: str) -> Metric:
    """The ratio of two columns' sums in percent, 0 where the lower is 0."""

    def formula(means: Means) -> np.typing.NDArray[np.float64]:
        top, bottom = np.asarray(means[above], dtype=np.float64), np.asarray(means[below], dtype=np.float64)
        return np.asarray(100 * np.divide(top, bottom, out=np.zeros_like(top), where=bottom > 0))

    return Metric(name, f"{above} / {below}", source, formula)
