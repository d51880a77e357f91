"""KILT: answers, the pages they were drawn from, and the score that asks for both.

Petroni et al., NAACL 2021, section 5, and ``kilt/eval_downstream.py``. KILT's ROUGE-L is that of the PyPI package
``rouge`` 1.0.1 and is not comparable with ASQA's: see :mod:`longform.score.rouge_kilt`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from longform.errors import InputError
from longform.score.answers import best, exact_match, token_f1
from longform.score.kilt_retrieval import context_measures, gold_answers, retrieval_measures
from longform.score.report import Report, mean_of
from longform.score.rows import json_rows

__all__ = ["answer_measures", "load_kilt", "score_kilt", "score_kilt_retrieval"]

_CITATION = "Petroni et al., NAACL 2021, section 5"
_ANSWER = ("accuracy", "em", "f1", "rougel")
_DEFINITIONS = {
    "accuracy": "the answer is, character for character, a gold answer",
    "em": "the normalised answer equals a gold answer",
    "f1": "best F1 of normalised words over the gold answers",
    "rougel": "best ROUGE-L (rouge 1.0.1) over the gold answers",
    "Rprec": "best R-precision of the guessed pages over the gold outputs",
    "entity_in_input": "a gold title stands in the question",
    "recall": "evidence sets completed in the first k places / evidence sets",
    "precision": "evidence sets completed in the first k places / k",
    "success_rate": "any evidence set completed in the first k places",
    "answer_in_context": "an answer stands in one of the first k passages",
    "answer_and_ent_in_context": "an answer and a gold title stand in one of the first k passages",
    "entity_in_context": "a gold title stands in one of the first k passages",
}

Row = Mapping[str, Any]


def load_kilt(path: str | Path) -> list[dict[str, Any]]:
    """The rows of a KILT file: one JSON object per line, with ``id``, ``input`` and ``output``."""
    return list(json_rows(path))


def answer_measures(
    guess: str, golds: Sequence[str], rouge: Callable[[str, str], float] | None = None
) -> dict[str, float]:
    """accuracy, em, f1 and rougel of one answer; an empty one is worth 0 in all.

    Two answers without a word are not alike here (no both-empty rule). ``rouge`` is KILT's ROUGE-L unless given.

    >>> answer_measures("The Rome", ["Rome", "Roma"], rouge=lambda guess, gold: 0.5)
    {'accuracy': 0.0, 'em': 1.0, 'f1': 1.0, 'rougel': 0.5}
    """
    guess = guess.strip()
    if not guess:
        return dict.fromkeys(_ANSWER, 0.0)
    return {
        "accuracy": float(guess in golds),
        "em": best(exact_match, guess, golds),
        "f1": best(partial(token_f1, empty_agree=False), guess, golds),
        "rougel": best(rouge or _rouge_l, guess, golds),
    }


def _rouge_l(guess: str, gold: str) -> float:
    from longform.score.rouge_kilt import rouge_l_kilt

    return rouge_l_kilt(gold, guess).f


def score_kilt(
    gold: Iterable[Row],
    guess: Iterable[Row],
    *,
    ks: Sequence[int] = (5,),
    rank_key: str = "wikipedia_id",
    rouge: Callable[[str, str], float] | None = None,
) -> Report:
    """Answers, pages, and ``KILT-…``: each answer measure where the item's R-precision is 1, and 0 elsewhere.

    Every gold id needs exactly one guess with exactly one output; other guesses are left out, order does not matter.
    The scale is 0 to 1.

    >>> row = {"id": "q", "input": "?", "output": [{"answer": "Rome", "provenance": [{"wikipedia_id": "5"}]}]}
    >>> report = score_kilt([row], [row], rouge=lambda guess, gold: 1.0)
    >>> report.scores["KILT-em"], report.scores["recall@5"]
    (1.0, 1.0)
    """

    def measure(wanted: Row, given: Row) -> dict[str, float]:
        golds = gold_answers(wanted)
        if not golds:
            raise InputError(f"Item {wanted['id']} has no gold answer.")
        answers = answer_measures(str(given["output"][0].get("answer") or ""), golds, rouge)
        pages = retrieval_measures(wanted, given, ks, rank_key)
        both = {f"KILT-{name}": value * (pages["Rprec"] == 1) for name, value in answers.items()}
        return {**answers, **pages, **both}

    return _report("kilt", gold, guess, measure, {"ks": list(ks), "rank_key": rank_key})


def score_kilt_retrieval(
    gold: Iterable[Row], guess: Iterable[Row], *, ks: Sequence[int] = (1, 5, 10, 20), rank_key: str = "wikipedia_id"
) -> Report:
    """Pages alone, with all that the official retrieval script prints; gold answers may be missing."""

    def measure(wanted: Row, given: Row) -> dict[str, float]:
        return {**retrieval_measures(wanted, given, ks, rank_key), **context_measures(wanted, given, ks)}

    return _report("kilt-retrieval", gold, guess, measure, {"ks": list(ks), "rank_key": rank_key})


def _report(
    task: str,
    gold: Iterable[Row],
    guess: Iterable[Row],
    measure: Callable[[Row, Row], dict[str, float]],
    settings: dict[str, Any],
) -> Report:
    if any(k < 1 for k in settings["ks"]):
        raise InputError(f"k must be at least 1, not {min(settings['ks'])}.")
    wanted, given = _by_id(gold, "gold"), _by_id(guess, "guess")
    missing = [item for item in wanted if item not in given]
    if missing:
        raise InputError(f"{len(missing)} of {len(wanted)} items have no guess, {missing[0]} among them.")
    for item in wanted:
        if len(given[item]["output"]) != 1:
            raise InputError(f"Item {item} has {len(given[item]['output'])} guessed outputs; give exactly one.")
    values = [measure(row, given[item]) for item, row in wanted.items()]
    names = list(values[0]) if values else []
    columns = {name: np.array([row[name] for row in values]) for name in names}
    metrics = [mean_of(name, _definition(name), _CITATION) for name in names]
    return Report(task, list(wanted), columns, metrics, settings)


def _by_id(rows: Iterable[Row], what: str) -> dict[str, Row]:
    found: dict[str, Row] = {}
    for place, row in enumerate(rows, 1):
        if row.get("id") is None:
            raise InputError(f"Row {place} of the {what} file has no id.")
        item = str(row["id"]).strip()
        if item in found:
            raise InputError(f"Item {item} stands twice in the {what} file.")
        if not isinstance(row.get("output"), list):
            raise InputError(f"Item {item} has no list of outputs in the {what} file.")
        found[item] = row
    return found


def _definition(name: str) -> str:
    if name.startswith("KILT-"):
        return f"{_DEFINITIONS[name[5:]]}, where R-precision is 1"
    return _DEFINITIONS[name.split("@")[0]]
