"""Re-ranking: a second, closer look at what a search found, and the choice of passages with different answers."""

from __future__ import annotations

from longform.rerank.diverse import AnswerReader, DiverseHit, select_diverse
from longform.rerank.opening import open_reranker
from longform.rerank.reranker import CrossEncoderReranker, Reranker, RerankReport, SimilarityReranker

__all__ = [
    "AnswerReader",
    "CrossEncoderReranker",
    "DiverseHit",
    "RerankReport",
    "Reranker",
    "SimilarityReranker",
    "open_reranker",
    "select_diverse",
]
