"""Systems that make an answer out of passages: those that a search finds, random ones, or gold ones."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from longform.answer.extractive import DEFAULT_WORDS, ExtractiveAnswerer
from longform.answer.prompts import STYLES
from longform.answer.protocol import Answerer
from longform.data.example import Example
from longform.data.having import GOLD_PASSAGES
from longform.errors import InputError
from longform.records import Answer, Hit
from longform.retrieve.index import MODES
from longform.score.citations import remove_citations
from longform.study.systems.gold import gold_hits
from longform.study.systems.protocol import Outcome, Said, System
from longform.study.systems.searching import Search, open_search
from longform.study.systems.settings import Settings, at_least_one, one_of
from longform.study.systems.tools import Tools

__all__ = ["EXTRACTIVE", "Extractive", "OpenBook", "answerer_for", "outcome_of"]

GIVEN = ("found", "random", "gold")
EXTRACTIVE = "extractive"


def answerer_for(
    tools: Tools, model: str, k: int | None, *, words: int, prompt: str, best_last: bool, reader: str, rerank: str
) -> Answerer:
    """The answerer of a name: ``extractive``, or a language model; ``k`` passages are what it makes use of."""
    if model == EXTRACTIVE:
        scorer = tools.cross_encoder("reranker" if rerank in ("none", "similarity") else rerank)
        find = None if reader == "none" else tools.reader(reader)
        # A benchmark asks for an answer to every question.
        return ExtractiveAnswerer(scorer, find, words, k or ExtractiveAnswerer.passages, always=True)
    from longform.answer.written import LanguageModelAnswerer

    writer = tools.language_model(model)
    return LanguageModelAnswerer(
        writer, words=words, passages=k or 5, prompt=prompt, best_last=best_last, seed=tools.seed
    )


@dataclass(frozen=True, kw_only=True)
class _Answering(Settings):
    """``k`` passages to an answerer: those found, random ones of the index, or gold ones (``given``)."""

    index: str | None = None
    mode: str | None = None
    rerank: str = "reranker"
    pool: int = 100
    reader: str = "reader"
    given: str = "found"

    def __post_init__(self) -> None:
        at_least_one(pool=self.pool)
        one_of("given", self.given, GIVEN)
        if self.mode is not None:
            one_of("mode", self.mode, MODES)
        if self.index is None and self.given != "gold":
            raise InputError("it needs an index: set index to its folder.")

    @property
    def needs(self) -> str | None:
        return GOLD_PASSAGES if self.given == "gold" else None

    def _open(self, tools: Tools, answerer: Answerer) -> System:
        depth = max(self.pool, answerer.wants) if self.rerank != "none" else answerer.wants
        search = None
        if self.index is not None and self.given != "gold":
            search = open_search(tools, self.index, self.mode, depth, self.rerank if self.given == "found" else "none")
        return _Answers(answerer, tools, search, self.given)


@dataclass(frozen=True, kw_only=True)
class Extractive(_Answering):
    """Our default: the passages' own sentences."""

    kind: ClassVar[str] = "extractive"
    row: ClassVar[str] = "longform ask"

    k: int | None = None
    words: int = DEFAULT_WORDS

    def __post_init__(self) -> None:
        super().__post_init__()
        at_least_one(k=self.k, words=self.words)

    def open(self, tools: Tools, task: str) -> System:  # noqa: ARG002
        answerer = answerer_for(
            tools,
            EXTRACTIVE,
            self.k,
            words=self.words,
            prompt="",
            best_last=False,
            reader=self.reader,
            rerank=self.rerank,
        )
        return self._open(tools, answerer)


@dataclass(frozen=True, kw_only=True)
class OpenBook(_Answering):
    """Open book @k: a language model that is given ``k`` passages, as T5-O-1, T5-O-3 and T5-O-5 are."""

    kind: ClassVar[str] = "open-book"
    row: ClassVar[str] = "ASQA: T5-O-1, T5-O-3, T5-O-5"

    model: str | None = None
    k: int = 5
    words: int = 65
    prompt: str = "instruct"
    best_last: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        at_least_one(k=self.k, words=self.words)
        one_of("prompt", self.prompt, STYLES)
        if self.model is None:
            raise InputError("it needs a language model: set model, to gguf:FILE for one.")

    def open(self, tools: Tools, task: str) -> System:  # noqa: ARG002
        assert self.model is not None
        answerer = answerer_for(
            tools,
            self.model,
            self.k,
            words=self.words,
            prompt=self.prompt,
            best_last=self.best_last,
            reader=self.reader,
            rerank=self.rerank,
        )
        return self._open(tools, answerer)


def outcome_of(
    answer: Answer,
    given: Sequence[Hit],
    ranking: Sequence[Hit],
    seconds: Mapping[str, float],
    references: tuple[int, ...] | None = None,
) -> Outcome:
    """An answerer's answer as a study keeps it; what it does not answer is an empty answer."""
    plain = remove_citations(answer.text) if answer.answered else ""
    return Outcome(
        (Said(plain, references, answer.text if answer.answered and answer.text != plain else ""),),
        tuple(hit.passage for hit in given),
        tuple(hit.passage for hit in ranking),
        tuple(item.text for item in answer.items) if answer.items else None,
        answer.model,
        answer.warnings,
        seconds,
        {} if answer.answered else {"answered": False},
    )


@dataclass(frozen=True)
class _Answers:
    answerer: Answerer
    tools: Tools
    search: Search | None
    given: str

    def answer(self, example: Example) -> Outcome:
        hits, seconds = self._hits(example)
        given = hits[: self.answerer.wants]
        started = time.perf_counter()
        answer = self.answerer.answer(example.question, given)
        seconds["answer"] = time.perf_counter() - started
        return outcome_of(answer, given, hits, seconds)

    def _hits(self, example: Example) -> tuple[list[Hit], dict[str, float]]:
        if self.given == "gold":
            return gold_hits(example, self.answerer.wants, None, disambiguations=False), {}
        assert self.search is not None
        if self.given == "found":
            found = self.search.find(example.question)
            return found.hits, found.seconds
        index = self.search.index
        wanted = min(self.answerer.wants, len(index))
        gone = set(index.deleted.tolist())
        rows = [row for row in range(index.manifest.rows) if row not in gone]
        drawn = self.tools.chance("random-passages", example.id).sample(rows, wanted)
        return [Hit(index.passage_at(row), rank, -float(rank)) for rank, row in enumerate(drawn, 1)], {}
