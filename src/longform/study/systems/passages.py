"""Systems whose answer is the passages that they find, as they stand."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import ClassVar

from longform.data.example import Example
from longform.errors import InputError
from longform.models.spans import AnswerReader
from longform.rerank import select_diverse
from longform.retrieve.index import MODES
from longform.study.systems.protocol import Outcome, Said, System
from longform.study.systems.searching import Search, open_search
from longform.study.systems.settings import Settings, at_least_one, one_of
from longform.study.systems.tools import Tools

__all__ = ["Bm25", "Dense", "Diverse", "Hybrid", "Reranked"]


@dataclass(frozen=True, kw_only=True)
class _Retrieval(Settings):
    """The first ``k`` passages, one after the other; ``depth`` are found, and kept as the run's ranking."""

    index: str | None = None
    k: int = 1
    depth: int = 100

    def __post_init__(self) -> None:
        at_least_one(k=self.k, depth=self.depth)
        if self.index is None:
            raise InputError("it needs an index: set index to its folder.")

    def open(self, tools: Tools, task: str) -> System:  # noqa: ARG002
        assert self.index is not None
        return _Passages(open_search(tools, self.index, self.kind, max(self.k, self.depth)), self.k)


@dataclass(frozen=True, kw_only=True)
class Bm25(_Retrieval):
    """BM25@k."""

    kind: ClassVar[str] = "bm25"
    row: ClassVar[str] = "BM25@k"


@dataclass(frozen=True, kw_only=True)
class Dense(_Retrieval):
    """dense@k: what DPR@1 is in ASQA's Table 3."""

    kind: ClassVar[str] = "dense"
    row: ClassVar[str] = "ASQA: DPR@1"


@dataclass(frozen=True, kw_only=True)
class Hybrid(_Retrieval):
    """BM25 and dense search fused."""

    kind: ClassVar[str] = "hybrid"
    row: ClassVar[str] = "hybrid@k"


@dataclass(frozen=True, kw_only=True)
class Reranked(_Retrieval):
    """re-ranked@k: the passages of a search, ordered anew by a cross-encoder."""

    kind: ClassVar[str] = "reranked"
    row: ClassVar[str] = "SILVER: the re-ranker's rows"

    mode: str = "bm25"
    rerank: str = "reranker"

    def __post_init__(self) -> None:
        super().__post_init__()
        one_of("mode", self.mode, MODES)

    def open(self, tools: Tools, task: str) -> System:  # noqa: ARG002
        assert self.index is not None
        return _Passages(open_search(tools, self.index, self.mode, max(self.k, self.depth), self.rerank), self.k)


@dataclass(frozen=True, kw_only=True)
class Diverse(Reranked):
    """diverse@k: of the re-ranked passages those that together hold the most answers, in place of JPR@1.

    A passage of JPR is 100 tokens longer than ours; ``k`` = 2 comes nearest to the length of that row.
    """

    kind: ClassVar[str] = "diverse"
    row: ClassVar[str] = "ASQA: JPR@1"

    reader: str = "reader"
    pool: int = 20

    def __post_init__(self) -> None:
        super().__post_init__()
        at_least_one(pool=self.pool)

    def open(self, tools: Tools, task: str) -> System:  # noqa: ARG002
        assert self.index is not None
        search = open_search(tools, self.index, self.mode, max(self.k, self.depth), self.rerank)
        return _Passages(search, self.k, tools.reader(self.reader), self.pool)


@dataclass(frozen=True)
class _Passages:
    search: Search
    k: int
    reader: AnswerReader | None = None
    pool: int = 20

    def answer(self, example: Example) -> Outcome:
        found = self.search.find(example.question)
        hits, seconds = list(found.hits), dict(found.seconds)
        if self.reader is not None and hits:
            started = time.perf_counter()
            chosen = select_diverse(example.question, hits, min(self.pool, len(hits)), self.reader, pool=self.pool)
            seconds["diverse"] = time.perf_counter() - started
            taken = {hit.passage.id for hit in chosen}
            hits = [*chosen, *(hit for hit in hits if hit.passage.id not in taken)]
        ranking = tuple(hit.passage for hit in hits)
        text = " ".join(passage.text for passage in ranking[: self.k])
        return Outcome((Said(text),), ranking[: self.k], ranking, seconds=seconds)
