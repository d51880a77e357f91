"""Answers of another length: cut to their first words, or repeated until they are as long as they were."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["cut", "cut_rows", "first_words", "repeated"]

_WORD = re.compile(r"\S+")
Row = Mapping[str, Any]


def first_words(text: str, count: int) -> str:
    """The first ``count`` words of a text, by white space, as they stand in it.

    >>> first_words("One two.\\nThree four.", 3)
    'One two.\\nThree'
    """
    if count < 1:
        return ""
    for number, word in enumerate(_WORD.finditer(text), 1):
        if number == count:
            return text[: word.end()]
    return text


def cut(text: str, fraction: float) -> str:
    """The first ``fraction`` of a text's words, rounded, and at least one (Krishna et al., 2021, Table 11: Truncate).

    >>> cut("a b c d e f g h i j", 0.3)
    'a b c'
    """
    words = len(text.split())
    return first_words(text, max(1, math.floor(fraction * words + 0.5))) if words else text


def repeated(text: str, fraction: float) -> str:
    """The first ``fraction`` of a text again and again, until it is as long as the text (Table 11: Repeat 1/f times).

    >>> repeated("a b c d e f g h i j", 0.3)
    'a b c a b c a b c a'
    """
    part, words = cut(text, fraction), len(text.split())
    kept = len(part.split())
    if not kept or kept >= words:
        return text
    times = -(-words // kept)
    return first_words(" ".join([part] * times), words)


def cut_rows(rows: Mapping[str, Row], change: Callable[[str, str, int], str]) -> dict[str, Row]:
    """A run's items with every answer changed, and nothing but answers.

    ``change`` is given the item's id, the text, and the answer's place.
    """
    return {
        identifier: {
            "id": identifier,
            "answers": [
                {**answer, "text": change(identifier, answer["text"], place)}
                for place, answer in enumerate(row["answers"])
            ],
        }
        for identifier, row in rows.items()
    }
