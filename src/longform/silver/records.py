"""What a silver file holds: for every question its candidates, the passages chosen among them, and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

__all__ = ["FORMAT", "SilverFile", "SilverPassage", "SilverRow"]

FORMAT = "longform-silver/1"


@dataclass(frozen=True, slots=True)
class SilverPassage:
    """A passage that was chosen to support an answer, and why.

    ``rank`` is its place in the first stage (from 1), ``score`` what ``method`` gave it, ``answers`` the names of the
    direct answers it holds, ``words`` the words that it shares with the long answer.
    """

    id: str
    title: str
    text: str
    rank: int
    score: float
    method: str
    answers: tuple[str, ...]
    words: tuple[str, ...]
    why: str

    def to_json(self) -> dict[str, Any]:
        """The passage as a JSON object."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class SilverRow:
    """A question, the ids of its candidates in the order of the first stage, and the passages chosen among them.

    ``answers`` counts its direct answers, ``answers_found`` those that a chosen passage holds. What of ``pool`` was not
    chosen are the negatives.
    """

    id: str
    question: str
    pool: tuple[str, ...]
    silver: tuple[SilverPassage, ...]
    answers_found: int
    answers: int
    long_answers: tuple[str, ...] = ()
    short_answers: tuple[tuple[str, ...], ...] = ()

    @property
    def negatives(self) -> tuple[str, ...]:
        """The ids of the candidates that were not chosen, in the order of the first stage."""
        chosen = {passage.id for passage in self.silver}
        return tuple(identifier for identifier in self.pool if identifier not in chosen)

    def to_json(self) -> dict[str, Any]:
        """The row as a line of the file."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class SilverFile:
    """A whole file: ``header`` says how it was made, ``rows`` holds one record for each question."""

    header: Mapping[str, Any]
    rows: tuple[SilverRow, ...]
