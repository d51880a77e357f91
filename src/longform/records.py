"""The records that cross from one room of the package to the next.

All are frozen, hold only plain values, and turn into JSON objects with the same field names (``to_json``) and back.

>>> Passage(id="a#0", document="a", title="A", text="One. Two.", start=0, end=9).to_json()["title"]
'A'
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Document", "Hit", "Mark", "Passage", "Question"]


@dataclass(frozen=True, slots=True)
class Mark:
    """A place in a document's text that a reader would name: from ``offset`` on, we are in ``label``.

    ``label`` is a section heading for pages ("Early years") and a page number for PDFs ("page 12").
    """

    offset: int
    label: str


@dataclass(frozen=True, slots=True)
class Document:
    """One document as read from its source: the text that character offsets count in.

    For plain text files and for fields of JSONL, TSV and CSV rows ``text`` is the source itself, character for
    character. For Markdown, HTML, PDF and wikitext it is the text that the reader took out.
    """

    id: str
    title: str
    text: str
    marks: tuple[Mark, ...] = ()


@dataclass(frozen=True, slots=True)
class Passage:
    """A run of consecutive sentences, the unit of retrieval and of citation.

    ``text`` is ``document.text[start:end]``, so a citation can be shown in its place.
    """

    id: str
    document: str
    title: str
    text: str
    start: int
    end: int
    section: str = ""

    def to_json(self) -> dict[str, Any]:
        """The passage as a JSON object; an empty ``section`` is left out."""
        row = {
            "id": self.id,
            "document": self.document,
            "title": self.title,
            "text": self.text,
            "start": self.start,
            "end": self.end,
        }
        if self.section:
            row["section"] = self.section
        return row

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> Passage:
        """The inverse of :meth:`to_json`."""
        return cls(
            row["id"],
            row["document"],
            row["title"],
            row["text"],
            row["start"],
            row["end"],
            row.get("section", ""),
        )


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage found for a question: its rank (from 1), its score, and the score of each stage that saw it."""

    passage: Passage
    rank: int
    score: float
    scores: Mapping[str, float] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """The hit as one flat JSON object: rank, score, scores, then the passage's fields."""
        return {
            "rank": self.rank,
            "score": self.score,
            "scores": dict(self.scores),
            **self.passage.to_json(),
        }


@dataclass(frozen=True, slots=True)
class Question:
    """A question to be answered, with the id that runs and predictions carry."""

    id: str
    question: str
