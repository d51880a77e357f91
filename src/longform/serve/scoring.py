"""Scores over HTTP: the benchmarks' own data as JSON values, the report as ``longform score --json`` prints it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from longform.errors import InputError, LongformError
from longform.score.report import Report
from longform.score.statistics import intervals
from longform.score.store import summary
from longform.serve.shapes import ScoreRequest

__all__ = ["score"]


def score(asked: ScoreRequest) -> dict[str, Any]:
    """The report of a request."""
    try:
        report = _report(asked)
    except LongformError:
        raise
    except (TypeError, ValueError, KeyError, IndexError, AttributeError) as error:
        # The scorers check what files hold, row by row; what is no row at all ends here.
        raise InputError(
            f"The gold or the predictions have not the form of {asked.task}: see docs/metrics for it."
        ) from error
    found = intervals(report, resamples=asked.resamples, seed=asked.seed)
    row = summary(report, found, {"resamples": asked.resamples, "interval_seed": asked.seed})
    return {**row, "items": report.items()} if asked.items else row


def _report(asked: ScoreRequest) -> Report:
    return {
        "asqa": _asqa,
        "nq": _nq,
        "kilt": _kilt,
        "qampari": _qampari,
        "alce": _alce,
        "retrieval": _retrieval,
    }[asked.task](asked)


def _asqa(asked: ScoreRequest) -> Report:
    from longform.score.asqa import score_asqa

    gold = _object(asked.gold, "gold")
    # A whole ASQA.json has splits, and questions in them.
    if asked.split in gold and "qa_pairs" not in _object(gold[asked.split], "gold"):
        gold = _object(gold[asked.split], "gold")
    for key, item in gold.items():
        _object(item, f"gold item {key}")
    answers = _object(asked.predictions, "predictions")
    if not all(isinstance(text, str) for text in answers.values()):
        raise InputError('The predictions must be an object of texts: {"key": "long answer"}.')
    return score_asqa(gold, answers, asked.qa, subset=asked.subset, seed=asked.seed)


def _nq(asked: ScoreRequest) -> Report:
    from longform.score.nq import score_nq
    from longform.score.nq_records import read_gold, read_predictions

    rows = asked.predictions.get("predictions") if isinstance(asked.predictions, dict) else asked.predictions
    wanted, given = read_gold(_rows(asked.gold, "gold")), read_predictions(_rows(rows, "predictions"))
    if asked.subset:
        wanted = {item: labels for item, labels in wanted.items() if item in given}
    return score_nq(wanted, given)


def _kilt(asked: ScoreRequest) -> Report:
    from longform.score.kilt import score_kilt

    wanted, given = _rows(asked.gold, "gold"), _rows(asked.predictions, "predictions")
    if asked.subset:
        guessed = {str(row.get("id")) for row in given}
        wanted = [row for row in wanted if str(row.get("id")) in guessed]
    return score_kilt(wanted, given)


def _qampari(asked: ScoreRequest) -> Report:
    from longform.score.qampari import read_qampari, score_qampari

    given = asked.predictions
    if isinstance(given, list):
        rows = _rows(given, "predictions")
        given = {str(row.get("qid", row.get("id", ""))): row.get("predictions", row.get("output")) for row in rows}
    given = _object(given, "predictions")
    for item, names in given.items():
        if not isinstance(names, str) and not (isinstance(names, list) and all(isinstance(one, str) for one in names)):
            raise InputError(f"Item {item} has no predictions: a list of names, or a text.")
    questions = read_qampari(_rows(asked.gold, "gold"))
    if asked.subset:
        questions = [question for question in questions if question.id in given]
    return score_qampari(questions, given)


def _alce(asked: ScoreRequest) -> Report:
    from longform.score.alce import score_alce

    rows = asked.predictions.get("data") if isinstance(asked.predictions, dict) else asked.predictions
    return score_alce(_rows(rows, "predictions"), asked.dataset)


def _retrieval(asked: ScoreRequest) -> Report:
    from longform.score.retrieval import score_qrels
    from longform.score.trec import Scored

    run: dict[str, list[Scored]] = {}
    for question, ranking in _object(asked.predictions, "predictions").items():
        # {"passage": score}, or passages in their order.
        if isinstance(ranking, list) and all(isinstance(one, str) for one in ranking):
            run[question] = [Scored(one, float(-place)) for place, one in enumerate(ranking)]
        else:
            scores = {one: float(value) for one, value in _object(ranking, f"ranking of {question}").items()}
            run[question] = [Scored(one, scores[one]) for one in sorted(scores, key=lambda one: (-scores[one], one))]
    qrels = {
        question: {passage: int(value) for passage, value in _object(judged, f"judgments of {question}").items()}
        for question, judged in _object(asked.gold, "gold").items()
    }
    if asked.subset:
        qrels = {question: judged for question, judged in qrels.items() if question in run}
    return score_qrels(run, qrels, **({"measures": asked.measures} if asked.measures else {}))


def _object(value: Any, what: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise InputError(f"The {what} must be a JSON object.")
    return cast(dict[str, Any], value)


def _rows(value: Any, what: str) -> list[dict[str, Any]]:
    if not isinstance(value, list) or not all(isinstance(row, dict) for row in value):
        raise InputError(f"The {what} must be a list of JSON objects.")
    return cast(list[dict[str, Any]], value)
