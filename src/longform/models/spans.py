"""What a reader's spans are to those who use many of them: what it reads, what it gave, and how sure it was."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple, Protocol

from longform.models.reader import ReaderAnswer
from longform.records import Passage

__all__ = ["AnswerReader", "ReaderContext", "confidence", "given", "in_one_line", "reader_context", "scaled"]


class AnswerReader(Protocol):
    """What is needed of a reader: :class:`longform.models.Reader` is one."""

    def read(self, pairs: Sequence[tuple[str, str]]) -> list[ReaderAnswer]: ...


class ReaderContext(NamedTuple):
    """What the reader reads of a passage, and where in it the passage's own text begins."""

    text: str
    offset: int


def reader_context(passage: Passage) -> ReaderContext:
    """The passage's text, with its title before it: that often is the answer of a passage that goes on with "he".

    >>> reader_context(Passage("a#1", "a", "Ada Lovelace", "She wrote the first program.", 0, 28))
    ReaderContext(text='Ada Lovelace. She wrote the first program.', offset=14)
    """
    if not passage.title or passage.text.startswith(passage.title):
        return ReaderContext(passage.text, 0)
    before = f"{passage.title}. "
    return ReaderContext(before + passage.text, len(before))


def given(answer: ReaderAnswer) -> str:
    """The answer's text; a reader that has no candidate says "empty", at no place."""
    return answer.text if answer.end > answer.start else ""


def in_one_line(answer: ReaderAnswer) -> ReaderAnswer:
    """The answer without the heading that a reader took along: its last line that is not empty.

    >>> in_one_line(ReaderAnswer("Galba\\n\\nGalba", 2.0, 1.0, 4, 16))
    ReaderAnswer(text='Galba', score=2.0, null_score=1.0, start=11, end=16)
    """
    if answer.end <= answer.start or "\n" not in answer.text.rstrip():
        return answer
    kept = answer.text.rstrip()
    line = kept.rpartition("\n")[2].lstrip()
    end = answer.start + len(kept)
    return answer._replace(text=line, start=end - len(line), end=end)


def confidence(answer: ReaderAnswer) -> float:
    """How sure the reader is that there is an answer: 0.5 where "no answer" scores the same.

    >>> confidence(ReaderAnswer("tea", 4.0, 4.0, 0, 3))
    0.5
    """
    margin = min(max(answer.score - answer.null_score, -700.0), 700.0)
    return 1 / (1 + math.exp(-margin))


def scaled(scores: Sequence[float]) -> list[float]:
    """Scores from 0 (the lowest) to 1 (the highest); all 1 where they are the same.

    >>> scaled([4.0, 3.0, 2.0])
    [1.0, 0.5, 0.0]
    """
    lowest, highest = min(scores, default=0.0), max(scores, default=0.0)
    return [(score - lowest) / (highest - lowest) if highest > lowest else 1.0 for score in scores]
