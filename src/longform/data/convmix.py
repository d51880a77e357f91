"""ConvMix: conversations of five or ten questions (Christmann et al., "CONVINSE", SIGIR 2022)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from longform.data.example import Example, FollowUp
from longform.data.values import identifier_of, list_of, read_values, text_of
from longform.errors import InputError

__all__ = ["read_convmix"]


def read_convmix(path: str, split: str | None) -> Iterator[Example]:  # noqa: ARG001
    """The conversations of ``….._set_ALL.json``: the first question asks, the others are ``follow_ups``.

    So does SILVER use them (Christmann et al., 2024, section 3.1). Every gold answer of a turn is an answer of its
    own, by its label; dates have verbal labels, and yes and no are answers. A follow-up's question is its ``completed``
    form, which names what it is about, where there is one. ``meta`` holds the domain, and of every turn the ids of
    answers and entities, the question as it was asked and its paraphrase, by which the official scores go.
    """
    for where, _, row in read_values(path):
        # The README of the distant supervision writes conversation_id; data and code have conv_id.
        field = "conversation_id" if isinstance(row, Mapping) and "conv_id" not in row else "conv_id"
        identifier = identifier_of(row, field, where)
        turns = list_of(row, "questions", where)
        if not turns:
            raise InputError(f"{where}: the conversation has no questions.")
        first, *later = [_turn(turn, f"{where}, turn {place}") for place, turn in enumerate(turns)]
        yield Example(
            identifier,
            text_of(turns[0], "question", f"{where}, turn 0"),
            (),
            first.short_answers,
            follow_ups=tuple(later),
            meta={"domain": str(row.get("domain") or ""), "turns": [_asked(turn) for turn in turns]},
        )


def _turn(turn: Any, where: str) -> FollowUp:
    question = text_of(turn, "question", where)
    completed = turn.get("completed")
    answers = list_of(turn, "answers", where)
    if not answers:
        raise InputError(f"{where}: the question has no answers.")
    labels = tuple((text_of(answer, "label", where),) for answer in answers)
    return FollowUp(
        str(turn.get("question_id") or ""), completed if isinstance(completed, str) and completed else question, labels
    )


def _asked(turn: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "question": turn["question"],
        "paraphrase": turn.get("paraphrase") or "",
        "answer_text": turn.get("answer_text") or "",
        "answer_src": turn.get("answer_src") or "",
        "answers": [str(answer.get("id", "")) for answer in turn["answers"]],
        "entities": [str(entity.get("id", "")) for entity in turn.get("entities") or ()],
    }
