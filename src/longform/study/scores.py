"""From a run's answers to its scores: each benchmark's own, and what the passages were worth.

The scores of a run follow from the examples and from what the run kept, and from nothing else: not from the clock, not
from the order in which items were made.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from longform.data.example import Example
from longform.errors import InputError
from longform.score.answers import any_within, best, exact_match, token_f1
from longform.score.recall import PassageText
from longform.score.report import Metric, Report, mean_of
from longform.score.silver import c_f1, groundedness
from longform.text import normalize_answer

__all__ = ["RECALL_AT", "TASKS", "asked_of", "rouge_for", "score_rows"]

TASKS = ("asqa", "kilt", "eli5", "qampari", "text")
RECALL_AT = (1, 5, 20, 100)
# As SILVER has it (Christmann et al., 2024, section 3.1): the first question, and the next four.
_FOLLOW_UPS = 4

Row = Mapping[str, Any]
Read = Mapping[str, Sequence[Sequence[str]]]
Columns = dict[str, list[float]]


def rouge_for(task: str, sentences: str = "own") -> Callable[[str, Sequence[str]], float]:
    """The ROUGE-L by which a task compares an answer with the better reference.

    >>> rouge_for("kilt")("Tea is hot.", ["Tea is hot.", "No."]) > 0.99
    True
    """
    if task in ("kilt", "eli5"):
        from longform.score.rouge_kilt import rouge_l_kilt

        return lambda text, references: max(rouge_l_kilt(reference, text).f for reference in references)
    from longform.score.alce import alce_rouge

    return partial(alce_rouge, official=sentences == "punkt")


def asked_of(example: Example) -> list[str]:
    """The questions that a reader puts to an answer: the readings, or the first questions of the conversation."""
    if example.readings:
        return [reading.question for reading in example.readings]
    if example.follow_ups:
        return [example.question, *(turn.question for turn in example.follow_ups[:_FOLLOW_UPS])]
    return []


def score_rows(
    examples: Sequence[Example],
    rows: Mapping[str, Row],
    task: str,
    *,
    sentences: str = "own",
    read: Read | None = None,
) -> Report:
    """The report of a run.

    ``rows`` are the run's items by id; an item with several answers has the mean of their scores. ``read`` are the
    short answers that a reader found in each answer, for each question of :func:`asked_of`; without them there is no
    QA metric. A kind of gold that at least half of the examples have is measured, on the examples that have all kinds
    measured.
    """
    if task not in TASKS:
        raise InputError(f"There is no task {task!r} to score by: it is one of {', '.join(TASKS)}.")
    kinds = _kinds(examples)
    kept = [example for example in examples if all(getattr(example, kind) for kind in kinds)]
    missing = [example.id for example in kept if example.id not in rows]
    if missing:
        raise InputError(f"{len(missing)} of {len(kept)} questions have no answer, {missing[0]} among them.")
    flat = [(example, place, answer) for example in kept for place, answer in enumerate(rows[example.id]["answers"])]
    with_qa = read is not None and all(asked_of(example) for example in kept)
    found = {"asqa": _asqa, "kilt": _kilt, "eli5": _eli5, "qampari": _qampari, "text": _text}[task](
        [
            _Flat(example, place, answer["text"], answer.get("references"), rows[example.id])
            for example, place, answer in flat
        ],
        sentences,
        read if with_qa else None,
    )
    columns = _averaged(found, [example.id for example, _, _ in flat], kept)
    report = replace(
        found,
        ids=[example.id for example in kept],
        columns=columns,
        settings={**found.settings, "task": task, "sentences": sentences, "of": len(examples)},
    )
    return _with_passages(report, kept, rows)


def check_scorable(examples: Sequence[Example], task: str, sentences: str) -> None:
    """Raise where the examples have nothing to score by, or what splits sentences is not here."""
    _kinds(examples)
    if task in ("asqa", "eli5", "text") and any(example.long_answers for example in examples):
        rouge_for("text", sentences)("One. Two.", ["One. Two."])


class _Flat:
    """An answer of an example, with the references that it is compared with."""

    def __init__(self, example: Example, place: int, text: str, references: Sequence[int] | None, row: Row) -> None:
        self.example, self.place, self.text, self.row = example, place, text, row
        places = range(len(example.long_answers)) if references is None else references
        self.references = [example.long_answers[one] for one in places]
        self.key = f"{example.id}\x1f{place}"


def _kinds(examples: Sequence[Example]) -> list[str]:
    found = {
        kind: sum(bool(getattr(example, kind)) for example in examples) for kind in ("long_answers", "short_answers")
    }
    kinds = [kind for kind, count in found.items() if 2 * count >= len(examples) and count]
    if not kinds:
        raise InputError("There is nothing to score by: most of the questions have neither long nor short answers.")
    return kinds


def _asqa(flat: Sequence[_Flat], sentences: str, read: Read | None) -> Report:
    from longform.score.asqa import score_asqa

    gold = {
        one.key: {
            "qa_pairs": [
                {"question": reading.question, "short_answers": list(reading.short_answers)}
                for reading in one.example.readings
            ],
            "annotations": [{"long_answer": text} for text in one.references],
        }
        for one in flat
    }
    qa: dict[str, str | Sequence[str]] | None = None
    if read is not None:
        qa = {f"{one.key}_{place}": text for one in flat for place, text in enumerate(read[one.example.id][one.place])}
    assert sentences in ("own", "punkt")
    return score_asqa(gold, {one.key: one.text for one in flat}, qa, sentences=sentences)  # type: ignore[arg-type]


def _kilt(flat: Sequence[_Flat], sentences: str, read: Read | None) -> Report:  # noqa: ARG001
    from longform.score.kilt import answer_measures

    values = [{"length": _length(one.text), **answer_measures(one.text, one.references)} for one in flat]
    return _report("kilt", flat, {name: [row[name] for row in values] for name in ("length", "em", "f1", "rougel")})


def _eli5(flat: Sequence[_Flat], sentences: str, read: Read | None) -> Report:
    measure = rouge_for("text", sentences)
    report = _kilt(flat, sentences, read)
    rouge = np.array([measure(one.text, one.references) for one in flat])
    metric = mean_of("rougeLsum", *_DEFINITIONS["rougeLsum"], scale=100.0)
    return replace(report, columns={**report.columns, "rougeLsum": rouge}, metrics=[*report.metrics, metric])


def _qampari(flat: Sequence[_Flat], sentences: str, read: Read | None) -> Report:  # noqa: ARG001
    from longform.score.qampari import QampariAnswer, QampariQuestion, score_qampari

    questions, predictions = [], {}
    for one in flat:
        texts = one.example.meta.get("answers") or [names[0] for names in one.example.short_answers]
        answers = [QampariAnswer(text, names) for text, names in zip(texts, one.example.short_answers, strict=True)]
        questions.append(QampariQuestion(one.key, one.example.question, tuple(answers)))
        items = one.row.get("items")
        predictions[one.key] = one.text if items is None else list(items)
    report = score_qampari(questions, predictions)
    length = np.array([_length(one.text) for one in flat])
    metric = mean_of("length", *_DEFINITIONS["length"])
    return replace(report, columns={"length": length, **report.columns}, metrics=[metric, *report.metrics])


def _text(flat: Sequence[_Flat], sentences: str, read: Read | None) -> Report:
    columns: Columns = {"length": [_length(one.text) for one in flat]}
    if all(one.example.short_answers for one in flat):
        columns |= {"str_em": [], "em": [], "f1": []}
        for one in flat:
            normal, answers = normalize_answer(one.text), one.example.short_answers
            every = [name for names in answers for name in names]
            columns["str_em"].append(sum(any_within(names, normal) for names in answers) / len(answers))
            columns["em"].append(best(exact_match, one.text, every))
            columns["f1"].append(best(token_f1, one.text, every))
    if all(one.references for one in flat):
        measure = rouge_for("text", sentences)
        columns["rougeLsum"] = [measure(one.text, one.references) for one in flat]
    if read is not None:
        columns["C-F1"] = [c_f1(_golds(one.example), read[one.example.id][one.place]) for one in flat]
    return _report("text", flat, columns)


def _golds(example: Example) -> list[list[str]]:
    """The names that a reader may answer each question of :func:`asked_of` with."""
    if example.readings:
        return [list(reading.short_answers) for reading in example.readings]
    turns = [example.short_answers, *(turn.short_answers for turn in example.follow_ups[:_FOLLOW_UPS])]
    return [[name for names in turn for name in names] for turn in turns]


def _length(text: str) -> int:
    return len(text.split())


_HURDLES = "Krishna et al., NAACL 2021, section 3"
_DEFINITIONS = {
    "length": ("words of the answer, by white space", "Stelmakh et al., EMNLP 2022, section 4"),
    "str_em": ("share of answers of which a name stands in the text", "Stelmakh et al., EMNLP 2022, section 4"),
    "em": ("the normalised text equals a gold answer", "Petroni et al., NAACL 2021, section 5"),
    "f1": ("best F1 of normalised words over the gold answers", "Petroni et al., NAACL 2021, section 5"),
    "rougel": ("best ROUGE-L (rouge 1.0.1) over the gold answers", "Petroni et al., NAACL 2021, section 5"),
    "rougeLsum": ("ROUGE-L of a summary, F against the better reference", "Stelmakh et al., EMNLP 2022, section 4"),
    "C-F1": ("token F1 of a reader on the readings or the conversation", "Christmann et al., 2024, section 3"),
    "groundedness": ("share of the answer's words in its passages", "Christmann et al., 2024, section 3"),
    "answer_recall": ("share of the short answers in the first k passages", "Christmann et al., 2024, section 3"),
    "page_recall": ("share of the pages among the first k passages", "Christmann et al., 2024, section 3"),
    "follow_up_recall": ("share of follow-up answers in the first k passages", "Christmann et al., 2024, section 3"),
}
_PLAIN = ("length",)


def _report(task: str, flat: Sequence[_Flat], columns: Columns) -> Report:
    arrays = {name: np.asarray(values, dtype=np.float64) for name, values in columns.items()}
    return Report(task, [one.key for one in flat], arrays, [_metric(name) for name in columns])


def _metric(name: str) -> Metric:
    definition, citation = _DEFINITIONS[name.partition("@")[0]]
    return mean_of(name, definition, citation, scale=1.0 if name in _PLAIN else 100.0)


def _averaged(report: Report, of: Sequence[str], kept: Sequence[Example]) -> dict[str, Any]:
    """The columns by example: the mean over its answers."""
    place_of = {example.id: place for place, example in enumerate(kept)}
    places = np.array([place_of[identifier] for identifier in of])
    counts = np.bincount(places, minlength=len(kept))
    if not counts.all():
        raise InputError(f"The question {kept[int(counts.argmin())].id} has an item without an answer.")
    return {
        name: np.bincount(places, weights=column, minlength=len(kept)) / counts
        for name, column in report.columns.items()
    }


def _with_passages(report: Report, kept: Sequence[Example], rows: Mapping[str, Row]) -> Report:
    """What the passages were worth, for systems that have any."""
    columns: Columns = {}
    mine = [rows[example.id] for example in kept]
    if any(row.get("passages") for row in mine):
        columns["groundedness"] = [
            sum(groundedness(answer["text"], texts) for answer in row["answers"]) / len(row["answers"])
            for row in mine
            for texts in [[PassageText(one["title"], one["text"]) for one in row.get("passages", ())]]
        ]
    deepest = max((len(row.get("ranking", ())) for row in mine), default=0)
    for k in (k for k in RECALL_AT if k <= deepest):
        for name in ("answer", "page", "follow_up"):
            # A question that finds nothing has no ranks, and a recall of 0.
            if all(_gold_of(name, example) for example in kept):
                ranks = [row.get("ranks", {}).get(name) or [None] for row in mine]
                columns[f"{name}_recall@{k}"] = [_recall(found, k) for found in ranks]
    arrays = {name: np.asarray(values, dtype=np.float64) for name, values in columns.items()}
    metrics = [_metric(name) for name in columns]
    return replace(report, columns={**report.columns, **arrays}, metrics=[*report.metrics, *metrics])


def _gold_of(name: str, example: Example) -> bool:
    """Whether there is anything to be found for an example."""
    follow_ups = any(turn.short_answers for turn in example.follow_ups)
    return {"answer": bool(example.short_answers), "page": bool(example.pages), "follow_up": follow_ups}[name]


def _recall(ranks: Sequence[float | None], k: int) -> float:
    return sum((math.inf if rank is None else rank) <= k for rank in ranks) / len(ranks)
