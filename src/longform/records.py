"""The records that cross from one room of the package to the next.

All are frozen, hold only plain values, and turn into JSON objects with the same field names (``to_json``) and back.

>>> Passage(id="a#0", document="a", title="A", text="One. Two.", start=0, end=9).to_json()["title"]
'A'
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Answer", "AnswerItem", "AnswerSentence", "Document", "Evidence", "Hit", "Mark", "Passage", "Question"]


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


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a sentence of an answer rests on: characters ``start`` to ``end`` of the text of passage number ``passage``.

    Passages of an answer are numbered from 1, as its citations are.
    """

    passage: int
    start: int
    end: int

    def to_json(self) -> dict[str, Any]:
        """The evidence as a JSON object."""
        return {"passage": self.passage, "start": self.start, "end": self.end}


@dataclass(frozen=True, slots=True)
class AnswerSentence:
    """A sentence of an answer, without its citation marks, and what supports it.

    ``groundedness`` is the share of its words, stop words aside, that stand in the passages it cites; ``ungrounded``
    are the places (start, end) in ``text`` of those that do not. ``supported`` says whether the sentence may stand.
    """

    text: str
    citations: tuple[int, ...]
    groundedness: float
    supported: bool
    evidence: tuple[Evidence, ...] = ()
    ungrounded: tuple[tuple[int, int], ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The sentence as a JSON object."""
        return {
            "text": self.text,
            "citations": list(self.citations),
            "groundedness": self.groundedness,
            "supported": self.supported,
            "evidence": [place.to_json() for place in self.evidence],
            "ungrounded": [list(span) for span in self.ungrounded],
        }


@dataclass(frozen=True, slots=True)
class AnswerItem:
    """One of many answers to a question: its best name, the other names it was found by, and where.

    ``support`` is higher for what more passages say more surely.
    """

    text: str
    aliases: tuple[str, ...]
    support: float
    evidence: tuple[Evidence, ...]

    def to_json(self) -> dict[str, Any]:
        """The item as a JSON object."""
        return {
            "text": self.text,
            "aliases": list(self.aliases),
            "support": self.support,
            "evidence": [place.to_json() for place in self.evidence],
        }


@dataclass(frozen=True, slots=True)
class Answer:
    """A long answer, and everything needed to check it.

    ``text`` is what a person reads, with citations such as ``[1]`` before the full stop; ``[n]`` is ``passages[n-1]``.
    ``answered`` is false where the collection does not answer the question; ``complete`` is false where writing broke
    off. ``seconds`` are by stage. ``items`` are the answers to a question with many; ``follow_ups`` are questions that
    may come next.
    """

    question: str
    text: str
    sentences: tuple[AnswerSentence, ...]
    passages: tuple[Hit, ...]
    model: str
    groundedness: float
    answered: bool = True
    complete: bool = True
    warnings: tuple[str, ...] = ()
    seconds: Mapping[str, float] = field(default_factory=dict)
    items: tuple[AnswerItem, ...] = ()
    follow_ups: tuple[str, ...] = ()
    id: str = ""

    def to_json(self) -> dict[str, Any]:
        """The answer as a JSON object; what is empty for most answers (id, items, follow-ups) is left out there."""
        row: dict[str, Any] = {"id": self.id} if self.id else {}
        row |= {
            "question": self.question,
            "answer": self.text,
            "answered": self.answered,
            "complete": self.complete,
            "model": self.model,
            "groundedness": self.groundedness,
            "sentences": [sentence.to_json() for sentence in self.sentences],
        }
        if self.items:
            row["items"] = [item.to_json() for item in self.items]
        if self.follow_ups:
            row["follow_ups"] = list(self.follow_ups)
        row |= {
            "passages": [hit.to_json() for hit in self.passages],
            "warnings": list(self.warnings),
            "seconds": dict(self.seconds),
        }
        return row
