"""QAMPARI: lists of answers, scored question by question (Amouyal et al., 2022, section 5.1).

Two scorers are in use and disagree. The official one counts the gold answers that the distinct predictions name, so a
second name of the same answer costs precision; ALCE's counts every prediction that names any answer, repeats included.
For the predictions Obama, Barack Obama and X the official precision is 1/3 and ALCE's 2/3.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from longform.errors import InputError
from longform.score.answers import harmonic
from longform.score.recall import TitledText, answer_ranks, evidence_recall, recall_at
from longform.score.report import Report, mean_of
from longform.score.rows import json_rows
from longform.text import normalize_answer

__all__ = [
    "QampariAnswer",
    "QampariQuestion",
    "alce_measures",
    "arecall",
    "by_type",
    "erecall",
    "load_predictions",
    "load_qampari",
    "official_measures",
    "question_type",
    "read_qampari",
    "score_qampari",
    "split_answers",
]

_PAPER = "Amouyal et al., 2022, section 5.1"
_ALCE = "Gao et al., EMNLP 2023, section 4; ALCE eval.py"
_OFFICIAL_METRICS = {
    "recall": "gold answers named / gold answers",
    "precision": "gold answers named / distinct predictions",
    "f1": "harmonic mean of the two, per question",
    "f1_above": "share of questions whose F1 is at least 0.5",
    "rec_above": "share of questions whose recall is at least 0.8",
}
_ALCE_METRICS = {
    "num_preds": "predictions per question",
    "qampari_prec": "predictions that name an answer / predictions",
    "qampari_rec": "answers named / answers",
    "qampari_rec_top5": "answers named, at most 5 / answers, at most 5",
    "qampari_f1": "harmonic mean of qampari_prec and qampari_rec, per question",
    "qampari_f1_top5": "harmonic mean of qampari_prec and qampari_rec_top5, per question",
}


class QampariAnswer(NamedTuple):
    """A gold answer and its names; the text counts as a name only where it is listed among them."""

    text: str
    aliases: tuple[str, ...]


class QampariQuestion(NamedTuple):
    """A question's id, its text and its gold answers."""

    id: str
    question: str
    answers: tuple[QampariAnswer, ...]


def question_type(identifier: str) -> str:
    """The kind of a question, the middle part of its id; empty where the id has none.

    >>> question_type("799__wikidata_simple__dev"), question_type("q1")
    ('wikidata_simple', '')
    """
    parts = identifier.split("__")
    return parts[1] if len(parts) > 2 else ""


def read_qampari(rows: Iterable[Mapping[str, Any]]) -> list[QampariQuestion]:
    """Questions from objects of the official form: ``qid``, ``question_text``, ``answer_list`` with ``aliases``.

    Only ``aliases`` count, as in the official scorer; in the released files the answer's text is always one of them.
    """
    questions: dict[str, QampariQuestion] = {}
    for place, row in enumerate(rows, 1):
        if row.get("qid") is None:
            raise InputError(f"Question {place} of the QAMPARI file has no qid.")
        item = str(row["qid"])
        if item in questions:
            raise InputError(f"Item {item} stands twice in the QAMPARI file.")
        if not row.get("answer_list"):
            raise InputError(f"Item {item} has no gold answers.")
        answers = []
        for answer in row["answer_list"]:
            if not answer.get("aliases"):
                raise InputError(f"Item {item}: the answer {answer.get('answer_text')!r} has no aliases.")
            aliases = tuple(map(str, answer["aliases"]))
            answers.append(QampariAnswer(str(answer.get("answer_text", aliases[0])), aliases))
        questions[item] = QampariQuestion(item, str(row.get("question_text", "")), tuple(answers))
    return list(questions.values())


def load_qampari(path: str | Path) -> list[QampariQuestion]:
    """Questions from the official file, ``.jsonl`` or ``.jsonl.gz``."""
    return read_qampari(json_rows(path))


def load_predictions(path: str | Path) -> dict[str, str | list[str]]:
    """Predictions by question id from JSONL: ``predictions``, a list, or ``output``, the text that a model wrote."""
    found: dict[str, str | list[str]] = {}
    for place, row in enumerate(json_rows(path), 1):
        item = str(row.get("qid", row.get("id", "")))
        given = row.get("predictions", row.get("output"))
        if not item:
            raise InputError(f"Row {place} of the predictions has no qid.")
        if item in found:
            raise InputError(f"Item {item} is predicted twice.")
        if (isinstance(given, list) and all(isinstance(name, str) for name in given)) or isinstance(given, str):
            found[item] = given
        else:
            raise InputError(f"Item {item} has no predictions: a list of names in `predictions`, or text in `output`.")
    return found


def official_measures(answers: Sequence[QampariAnswer], predictions: Iterable[str]) -> dict[str, float]:
    """The official scorer on one question; without predictions everything is 0, where the published script crashes.

    Predictions are made distinct as they are written, before normalisation. An alias listed by two answers names the
    last of them; of aliases that differ only before normalisation the first one listed decides. Answers of the same
    text are one answer above the line and several below it.

    >>> obama = QampariAnswer("Barack Obama", ("Obama", "Barack Obama"))
    >>> official_measures([obama, QampariAnswer("Bush", ("Bush",))], ["Obama", "Barack Obama", "X"])["precision"]
    0.3333333333333333
    """
    aliases_of = {answer.text: answer.aliases for answer in answers}
    owner = {alias: text for text, aliases in aliases_of.items() for alias in aliases}
    named_by: dict[str, str] = {}
    for alias, text in owner.items():
        named_by.setdefault(normalize_answer(alias), text)
    distinct = set(predictions)
    named = {named_by[name] for name in map(normalize_answer, distinct) if name in named_by}
    precision = len(named) / len(distinct) if distinct else 0.0
    recall = len(named) / len(answers)
    f1 = harmonic(precision, recall)
    return {
        "recall": recall,
        "precision": precision,
        "f1": f1,
        "f1_above": float(f1 >= 0.5),
        "rec_above": float(recall >= 0.8),
    }


def split_answers(output: str, *, cot: bool = False) -> list[str]:
    """The answers of a comma-separated list, as ALCE splits it: one trailing stop and comma go, all commas part.

    With ``cot`` (a chain of thought) only what follows the first colon counts; nothing where there is none.

    >>> split_answers("Paul, Ringo, ."), split_answers("The drummers are: Ringo.", cot=True)
    (['Paul', 'Ringo', ''], ['Ringo'])
    """
    if cot:
        output = output.partition(":")[2]
    return [piece.strip() for piece in output.rstrip().rstrip(".").rstrip(",").split(",")]


def alce_measures(answers: Sequence[Sequence[str]], predictions: Iterable[str]) -> dict[str, float]:
    """ALCE's scorer on one question, 0 to 1: predictions that normalise to nothing are dropped, repeats are kept.

    >>> alce_measures([["Obama", "Barack Obama"], ["Bush"]], ["Obama", "Barack Obama", "X"])["qampari_prec"]
    0.6666666666666666
    """
    given = [name for name in map(normalize_answer, predictions) if name]
    gold = [{normalize_answer(alias) for alias in aliases} for aliases in answers]
    every, named = set().union(*gold), set(given)
    hits = sum(not aliases.isdisjoint(named) for aliases in gold)
    precision = sum(name in every for name in given) / len(given) if given else 0.0
    recall, top = hits / len(gold), min(5, hits) / min(5, len(gold))
    return {
        "num_preds": len(given),
        "qampari_prec": precision,
        "qampari_rec": recall,
        "qampari_rec_top5": top,
        "qampari_f1": harmonic(precision, recall),
        "qampari_f1_top5": harmonic(precision, top),
    }


def score_qampari(
    questions: Sequence[QampariQuestion],
    predictions: Mapping[str, str | Sequence[str]],
    *,
    alce: bool = False,
    cot: bool = False,
) -> Report:
    """The official numbers (0 to 1), or ALCE's under its own names (0 to 100, ``num_preds`` a plain mean).

    Predictions are lists by question id, or the text that a model wrote, which is split at its commas
    (:func:`split_answers`; a name with a comma then falls apart, as in ALCE).

    >>> obama, bush = QampariAnswer("Obama", ("Obama", "Barack Obama")), QampariAnswer("Bush", ("Bush",))
    >>> question = QampariQuestion("q", "Who?", (obama, bush))
    >>> given = {"q": ["Obama", "Barack Obama", "X"]}
    >>> [round(score_qampari([question], given, alce=alce).scores[name], 3)
    ...  for alce, name in ((False, "precision"), (True, "qampari_prec"))]
    [0.333, 66.667]
    """
    names = _ALCE_METRICS if alce else _OFFICIAL_METRICS
    missing = [question.id for question in questions if question.id not in predictions]
    if missing:
        raise InputError(f"{len(missing)} of {len(questions)} questions are not predicted, {missing[0]} among them.")
    values = []
    for question in questions:
        given = predictions[question.id]
        if isinstance(given, str):
            given = [name for name in split_answers(given, cot=cot) if name]
        if alce:
            values.append(alce_measures([answer.aliases for answer in question.answers], given))
        else:
            values.append(official_measures(question.answers, given))
    columns = {name: np.array([row[name] for row in values], dtype=np.float64) for name in names}
    metrics = [
        mean_of(name, text, _ALCE if alce else _PAPER, scale=100.0 if alce and name != "num_preds" else 1.0)
        for name, text in names.items()
    ]
    ids = [question.id for question in questions]
    return Report("qampari-alce" if alce else "qampari", ids, columns, metrics, {"alce": alce, "cot": cot})


def by_type(report: Report) -> dict[str, Report]:
    """The report of each question type, as in the paper's Table 6.

    >>> gold = (QampariAnswer("Rome", ("Rome",)),)
    >>> rows = [QampariQuestion(f"{n}__{kind}__dev", "", gold) for n, kind in enumerate("xyx")]
    >>> {kind: part.n for kind, part in by_type(score_qampari(rows, {row.id: [] for row in rows})).items()}
    {'x': 2, 'y': 1}
    """
    types = [question_type(identifier) for identifier in report.ids]
    parts = {}
    for kind in sorted(set(types)):
        places = [place for place, name in enumerate(types) if name == kind]
        ids = [report.ids[place] for place in places]
        columns = {name: column[places] for name, column in report.columns.items()}
        parts[kind] = Report(report.task, ids, columns, report.metrics, {**report.settings, "type": kind})
    return parts


def arecall(answers: Iterable[Sequence[str]], passages: Sequence[TitledText], k: int) -> float:
    """ARECALL@K: the share of gold answers of which any name stands in the first k passages.

    No code for it was released. Here a name stands in a passage if it is a substring of title and text, both
    normalised (:func:`longform.score.recall.answer_ranks`); names that normalise to nothing never do.
    """
    return recall_at(answer_ranks(answers, passages[:k]), k)


def erecall(evidence: Iterable[Sequence[TitledText]], passages: Sequence[TitledText], k: int) -> float:
    """ERECALL@K: the mean over answers of the share of their evidence passages among the first k.

    The published script crashes before it prints. Its rule for "the same passage" is
    :func:`longform.score.recall.same_evidence`; the mean over answers is the paper's.
    """
    return evidence_recall(evidence, passages, k)
