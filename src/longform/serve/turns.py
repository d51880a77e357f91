"""A conversation as requests carry it → the turns that follow-up questions are understood by."""

from __future__ import annotations

import re
from collections.abc import Sequence

from longform.answer.from_json import answer_from_json
from longform.answer.history import Turn
from longform.records import Answer, AnswerSentence
from longform.serve.history import History
from longform.serve.shapes import HistoryTurn
from longform.text import split_sentences

__all__ = ["turns_of"]

_MARKS = re.compile(r"\s*((?:\[\d+\])+)")


def turns_of(said: Sequence[HistoryTurn], history: History) -> list[Turn]:
    """The turns, oldest first; with an id the answer is the one that is kept, and only then its passages are known."""
    return [_turn(one, history) for one in said]


def _turn(one: HistoryTurn, history: History) -> Turn:
    kept = history.record(one.id) if one.id else None
    if kept is not None:
        return Turn(kept.get("understood_as") or kept["question"], answer_from_json(kept))
    if not one.answer.strip():
        return Turn(one.question)
    sentences = tuple(
        AnswerSentence(text, (), 0.0, True) for text in split_sentences(_MARKS.sub("", one.answer)) if text.strip()
    )
    return Turn(one.question, Answer(one.question, one.answer, sentences, (), "", 0.0))
