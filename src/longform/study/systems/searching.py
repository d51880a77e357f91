"""The search that systems share: one first stage, at choice a re-ranker behind it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import NamedTuple

from longform.records import Hit
from longform.rerank import Reranker, SimilarityReranker, open_reranker
from longform.retrieve import Index
from longform.study.systems.tools import Tools

__all__ = ["Found", "Search", "open_search"]


class Found(NamedTuple):
    """Hits, best first, and the seconds of each stage."""

    hits: list[Hit]
    seconds: dict[str, float]


@dataclass(frozen=True)
class Search:
    """Finds ``depth`` passages, or as many as there are, and re-ranks them all where there is a re-ranker."""

    index: Index
    mode: str
    depth: int
    reranker: Reranker | None = None

    def find(self, question: str) -> Found:
        """All hits in their final order."""
        started = time.perf_counter()
        hits = self.index.search(question, min(self.depth, len(self.index)), self.mode)
        seconds = {"search": time.perf_counter() - started}
        if self.reranker is not None and hits:
            started = time.perf_counter()
            hits = self.reranker.rerank(question, hits)
            seconds["rerank"] = time.perf_counter() - started
        return Found(hits, seconds)


def open_search(tools: Tools, index: str, mode: str | None, depth: int, rerank: str = "none") -> Search:
    """``rerank`` is a re-ranker's name, ``similarity`` (by the encoder's vectors) or ``none``."""
    opened = tools.index(index)
    chosen: Reranker | None = None
    if rerank == "similarity":
        chosen = SimilarityReranker(
            tools.encoder("encoder") if opened.manifest.dense is None else opened.encoder, opened
        )
    elif rerank != "none":
        chosen = open_reranker(tools.cross_encoder(rerank), opened)
    return Search(opened, mode or opened.default_mode, depth, chosen)
