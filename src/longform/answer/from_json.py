"""Answers out of their JSON, as ``longform ask --json``, files of answers and the server's replies hold them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from longform.records import Answer, AnswerItem, AnswerSentence, Evidence, Hit, Passage

__all__ = ["answer_from_json", "hit_from_json"]


def hit_from_json(row: Mapping[str, Any]) -> Hit:
    """The inverse of :meth:`longform.records.Hit.to_json`."""
    return Hit(Passage.from_json(row), row["rank"], row["score"], dict(row["scores"]))


def answer_from_json(row: Mapping[str, Any]) -> Answer:
    """The inverse of :meth:`longform.records.Answer.to_json`; fields that are not the answer's are left out.

    >>> answer = Answer("Who sang?", "Ringo [1].", (AnswerSentence("Ringo.", (1,), 1.0, True),), (), "extractive", 1.0)
    >>> answer_from_json(answer.to_json()) == answer
    True
    """
    return Answer(
        question=row["question"],
        text=row["answer"],
        sentences=tuple(_sentence(one) for one in row["sentences"]),
        passages=tuple(hit_from_json(hit) for hit in row["passages"]),
        model=row["model"],
        groundedness=row["groundedness"],
        answered=row["answered"],
        complete=row["complete"],
        warnings=tuple(row["warnings"]),
        seconds=dict(row["seconds"]),
        items=tuple(
            AnswerItem(one["text"], tuple(one["aliases"]), one["support"], _evidence(one))
            for one in row.get("items", ())
        ),
        follow_ups=tuple(row.get("follow_ups", ())),
        id=row.get("id", ""),
    )


def _sentence(row: Mapping[str, Any]) -> AnswerSentence:
    return AnswerSentence(
        row["text"],
        tuple(row["citations"]),
        row["groundedness"],
        row["supported"],
        _evidence(row),
        tuple((start, end) for start, end in row["ungrounded"]),
    )


def _evidence(row: Mapping[str, Any]) -> tuple[Evidence, ...]:
    return tuple(Evidence(one["passage"], one["start"], one["end"]) for one in row["evidence"])
