"""The system that is given what a perfect search would find."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import ClassVar

from longform.answer.extractive import DEFAULT_WORDS
from longform.answer.prompts import STYLES
from longform.answer.protocol import Answerer
from longform.data.example import Example
from longform.data.having import GOLD, GOLD_PASSAGES
from longform.errors import InputError
from longform.retrieve import Index
from longform.study.systems.answering import EXTRACTIVE, answerer_for, outcome_of
from longform.study.systems.gold import gold_hits, other_references
from longform.study.systems.protocol import Outcome, System
from longform.study.systems.settings import Settings, at_least_one, one_of
from longform.study.systems.tools import Tools

__all__ = ["Oracle"]


@dataclass(frozen=True, kw_only=True)
class Oracle(Settings):
    """ORACLE: an answerer that is given the gold passages, compared with the other annotator's answer alone.

    As in ASQA (section 5.1) the passages are those that the annotators were shown and those noted by the one with the
    longest answer, and, with ``disambiguations``, every reading with its answers. ``passages = "silver"`` takes from
    ``index`` those that this annotator's answer and the short answers choose (:mod:`longform.silver`); ``"gold"``
    needs gold passages in the dataset. ``model`` is a language model or ``extractive``.
    """

    kind: ClassVar[str] = "oracle"
    row: ClassVar[str] = "ASQA: ORACLE"

    model: str = EXTRACTIVE
    passages: str = "gold"
    disambiguations: bool = True
    index: str | None = None
    k: int | None = None
    words: int = DEFAULT_WORDS
    prompt: str = "instruct"
    best_last: bool = False
    reader: str = "reader"
    rerank: str = "reranker"

    def __post_init__(self) -> None:
        at_least_one(k=self.k, words=self.words)
        one_of("passages", self.passages, ("gold", "silver"))
        one_of("prompt", self.prompt, STYLES)
        if self.passages == "silver" and self.index is None:
            raise InputError("silver passages come from an index: set index to its folder.")

    @property
    def label(self) -> str:
        return self.kind

    @property
    def needs(self) -> str | None:
        if self.passages == "silver":
            return None
        return GOLD if self.disambiguations else GOLD_PASSAGES

    def open(self, tools: Tools, task: str) -> System:  # noqa: ARG002
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
        index = tools.index(self.index) if self.passages == "silver" and self.index is not None else None
        return _OracleAnswers(answerer, index, self.disambiguations)


@dataclass(frozen=True)
class _OracleAnswers:
    answerer: Answerer
    index: Index | None
    disambiguations: bool

    def answer(self, example: Example) -> Outcome:
        started = time.perf_counter()
        hits = gold_hits(example, self.answerer.wants, self.index, disambiguations=self.disambiguations)
        seconds = {"search": time.perf_counter() - started}
        started = time.perf_counter()
        answer = self.answerer.answer(example.question, hits)
        seconds["answer"] = time.perf_counter() - started
        return outcome_of(answer, hits, (), seconds, other_references(example))
