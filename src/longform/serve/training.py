"""From what people said of answers to questions that ``longform silver`` learns from."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from longform.corpus.training_questions import TrainingQuestion
from longform.serve.history import Rated
from longform.text import normalize_answer

__all__ = ["Exported", "training_questions"]

_MARKS = re.compile(r"\s*(?:\[\d+\])+")


class Exported(NamedTuple):
    """The questions, and how many ratings teach nothing: bad answers that nobody corrected, and non-answers."""

    questions: list[TrainingQuestion]
    left_out: int


def training_questions(rated: Iterable[Rated]) -> Exported:
    """Questions with the answers that people found good, or wrote themselves.

    A correction counts whatever the rating; an answer without one counts where it was liked. What was asked twice
    becomes one question with both answers. The pages are those that a liked answer cites; the direct answers are the
    items of a liked list.
    """
    found: dict[str, TrainingQuestion] = {}
    left_out = 0
    for one in rated:
        correction = one.correction.strip()
        liked = one.rating > 0 and one.answered
        if not correction and not liked:
            left_out += 1
            continue
        items = one.record.get("items", []) if liked and not correction else []
        long = correction or ("" if items else plain(one.answer))
        short = tuple((item["text"], *item["aliases"]) for item in items)
        pages = tuple(dict.fromkeys(_cited_pages(one))) if liked else ()
        key = normalize_answer(one.question)
        before = found.get(key, TrainingQuestion(f"feedback-{one.id}", one.question))
        found[key] = TrainingQuestion(
            before.id,
            before.question,
            tuple(dict.fromkeys([*before.long_answers, *([long] if long else [])])),
            tuple(dict.fromkeys([*before.short_answers, *short])),
            tuple(dict.fromkeys([*before.pages, *pages])),
        )
    return Exported(list(found.values()), left_out)


def plain(answer: str) -> str:
    """An answer without its citations.

    >>> plain("He sang [1][2]. She danced [3].")
    'He sang. She danced.'
    """
    return _MARKS.sub("", answer).strip()


def _cited_pages(one: Rated) -> list[str]:
    passages = one.record.get("passages", [])
    numbers = {number for sentence in one.record.get("sentences", []) for number in sentence["citations"]}
    return [
        hit["title"]
        for number, hit in enumerate(passages, 1)
        if hit["title"] and (number in numbers or one.record.get("items"))
    ]
