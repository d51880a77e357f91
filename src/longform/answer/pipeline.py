"""From an index and a question to an answer: search, re-rank, answer."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from longform.answer.protocol import Answerer, finish
from longform.errors import InputError
from longform.records import Answer, Hit
from longform.rerank.reranker import Reranker
from longform.retrieve.index import Index
from longform.text.language import foreign_language

__all__ = ["MOST_CHARACTERS", "Pipeline", "Searched", "checked_question"]

# A question of more than this is a document.
MOST_CHARACTERS = 10_000
# How many ids of the first stage are told.
BEFORE = 20


@dataclass(frozen=True, slots=True)
class Searched:
    """What a search found, best first, and how many seconds each stage took.

    ``before`` are the ids of the first stage's best, in its order: what re-ranking changed can be seen from them.
    """

    hits: list[Hit]
    seconds: dict[str, float]
    before: tuple[str, ...] = ()


@dataclass(frozen=True)
class Pipeline:
    """The three stages in a row; each stays loaded for the next question.

    ``pool`` passages are found, and re-ranked where there is a ``reranker``; the answerer gets as many as it wants.
    """

    index: Index
    answerer: Answerer
    reranker: Reranker | None = None
    mode: str | None = None
    pool: int = 100

    def search(self, question: str, on_found: Callable[[Sequence[Hit]], None] | None = None) -> Searched:
        """The passages that an answer is made of; ``on_found`` is told what the first stage found."""
        question = checked_question(question)
        wanted = self.answerer.wants
        started = time.perf_counter()
        pool = min(max(self.pool, wanted) if self.reranker else wanted, len(self.index))
        hits = self.index.search(question, pool, self.mode) if pool else []
        seconds = {"search": time.perf_counter() - started}
        before = tuple(hit.passage.id for hit in hits[:BEFORE])
        if on_found is not None:
            on_found(hits)
        if self.reranker is not None:
            started = time.perf_counter()
            hits = self.reranker.rerank(question, hits, wanted) if hits else []
            seconds["rerank"] = time.perf_counter() - started
        return Searched(list(hits), seconds, before)

    def stream(self, question: str, id: str = "", searched: Searched | None = None) -> Iterator[str | Answer]:
        """Pieces of the answer as they come, then the whole answer; from what was found before, where it is given."""
        question = checked_question(question)
        searched = searched or self.search(question)
        started = time.perf_counter()
        for part in self.answerer.stream(question, searched.hits):
            if isinstance(part, Answer):
                seconds = {**searched.seconds, **part.seconds, "answer": time.perf_counter() - started}
                warnings = (*_in_another_language(question), *part.warnings)
                yield replace(part, seconds=seconds, warnings=warnings, id=id)
            else:
                yield part

    def answer(self, question: str, id: str = "") -> Answer:
        """The whole answer."""
        return finish(self.stream(question, id))


def checked_question(question: str) -> str:
    """The question as it is asked: without white space around it, in characters that can be written.

    One that is empty, or a document, is refused.

    >>> checked_question("  Why? ")
    'Why?'
    """
    # Bytes of a command line that are no UTF-8 arrive as half characters, which no model reads.
    question = question.encode("utf-8", "replace").decode("utf-8").strip()
    if not question:
        raise InputError("The question is empty.")
    if len(question) > MOST_CHARACTERS:
        raise InputError(
            f"The question has {len(question):,} characters, but at most {MOST_CHARACTERS:,} are read: ask shorter."
        )
    return question


def _in_another_language(question: str) -> tuple[str, ...]:
    language = foreign_language(question)
    return () if language is None else (f"The question seems to be in {language}; the shipped models know English.",)
