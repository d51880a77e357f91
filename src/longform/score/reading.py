"""Short answers that a reader finds in long ones: what Disambig-F1 compares with the gold ones.

I. Stelmakh et al., "ASQA: Factoid Questions Meet Long-Form Answers", EMNLP 2022, section 4: every disambiguated
question is put to a reader that sees nothing but the predicted long answer, as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from longform.errors import InputError
from longform.models.reader import Reader, ReaderStyle
from longform.progress import Progress, no_progress
from longform.score.asqa import check_predictions

__all__ = ["read_answers"]


def read_answers(
    gold: Mapping[str, Mapping[str, Any]],
    predictions: Mapping[str, str],
    reader: str | Path | Reader,
    *,
    style: ReaderStyle = "asqa",
    progress: Progress = no_progress,
) -> dict[str, str]:
    """The reader's answer to every disambiguated question of every predicted answer, by ``key_index`` of the pair.

    ``gold`` is one split (:func:`longform.score.asqa.load_asqa`), ``predictions`` the long answers by key, ``reader``
    a loaded one or what :meth:`Reader.load` takes; ``style="alce"`` reads as ALCE's script does. The result is the
    ``qa`` of :func:`longform.score.asqa.score_asqa`; the empty string stands for "no answer".

    ``read_answers({"7": {"qa_pairs": [{"question": "Who won in 2010?"}]}}, {"7": "In 2010, Spain won."}, "my-reader")``
    gives ``{"7_0": "Spain"}``.
    """
    asked = _asked(gold, predictions)
    loaded = reader if isinstance(reader, Reader) else Reader.load(reader)
    total = len(asked)
    progress("reading", 0, total)
    found = loaded.read(list(asked.values()), style=style, progress=lambda done: progress("reading", done, total))
    return {identifier: answer.text for identifier, answer in zip(asked, found, strict=True)}


def _asked(gold: Mapping[str, Mapping[str, Any]], predictions: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """The (question, context) of every pair, by ``key_index``, in the order of ``gold``."""
    check_predictions(gold, predictions)
    asked: dict[str, tuple[str, str]] = {}
    for key in gold:
        if key not in predictions:
            continue
        pairs = gold[key].get("qa_pairs") if isinstance(gold[key], Mapping) else None
        questions = [pair.get("question") if isinstance(pair, Mapping) else None for pair in pairs or [None]]
        for place, question in enumerate(questions):
            if not isinstance(question, str):
                raise InputError(f"Question {key} has no qa_pairs, or one without a question: mend the gold file.")
            asked[f"{key}_{place}"] = question, predictions[key]
    return asked
