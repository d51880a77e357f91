"""What every dataset becomes: a question and all that its owners say of its answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Example", "FollowUp", "GoldPassage", "Reading"]

Names = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Reading:
    """One way to understand an ambiguous question: the question that it then is, and the names of its answer."""

    question: str
    short_answers: Names


@dataclass(frozen=True, slots=True)
class FollowUp:
    """A later turn of a conversation; ``question`` can be understood by itself where the dataset has such a form."""

    id: str
    question: str
    short_answers: tuple[Names, ...]


@dataclass(frozen=True, slots=True)
class GoldPassage:
    """A text that the owners say supports an answer; ``answer`` is the long answer it was noted for, -1 for all."""

    title: str
    text: str
    answer: int = -1


@dataclass(frozen=True, slots=True)
class Example:
    """A question with its gold: whatever a dataset does not have is empty.

    ``long_answers`` are alternatives, each a whole answer. ``short_answers`` are answers that all belong to the
    question, each a tuple of names of the same thing; of an ambiguous question there is one for each of its
    ``readings``. ``meta`` holds what is particular to the dataset, as plain JSON values.

    >>> example = Example("7", "Who sang?", ("Ringo sang.",), (("Ringo", "Starr"),), ("The Beatles",))
    >>> Example.from_json(example.to_json()) == example
    True
    """

    id: str
    question: str
    long_answers: tuple[str, ...] = ()
    short_answers: tuple[Names, ...] = ()
    pages: tuple[str, ...] = ()
    readings: tuple[Reading, ...] = ()
    follow_ups: tuple[FollowUp, ...] = ()
    passages: tuple[GoldPassage, ...] = ()
    meta: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """The example as a JSON object; what is empty is left out."""
        row: dict[str, Any] = {
            "id": self.id,
            "question": self.question,
            "long_answers": list(self.long_answers),
            "short_answers": [list(names) for names in self.short_answers],
            "pages": list(self.pages),
            "readings": [
                {"question": reading.question, "short_answers": list(reading.short_answers)}
                for reading in self.readings
            ],
            "follow_ups": [
                {
                    "id": turn.id,
                    "question": turn.question,
                    "short_answers": [list(names) for names in turn.short_answers],
                }
                for turn in self.follow_ups
            ],
            "passages": [
                {"title": passage.title, "text": passage.text, "answer": passage.answer} for passage in self.passages
            ],
            "meta": dict(self.meta),
        }
        return {name: value for name, value in row.items() if value or name in ("id", "question")}

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> Example:
        """The inverse of :meth:`to_json`."""
        return cls(
            row["id"],
            row["question"],
            tuple(row.get("long_answers", ())),
            _names(row.get("short_answers", ())),
            tuple(row.get("pages", ())),
            tuple(Reading(one["question"], tuple(one["short_answers"])) for one in row.get("readings", ())),
            tuple(
                FollowUp(one["id"], one["question"], _names(one["short_answers"])) for one in row.get("follow_ups", ())
            ),
            tuple(GoldPassage(one["title"], one["text"], one["answer"]) for one in row.get("passages", ())),
            row.get("meta", {}),
        )


def _names(rows: Iterable[Iterable[str]]) -> tuple[Names, ...]:
    return tuple(tuple(names) for names in rows)
