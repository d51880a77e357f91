"""From the name of a re-ranker to one that orders the hits of an index."""

from __future__ import annotations

from longform.models.cross_encoder import CrossEncoder
from longform.rerank.reranker import CrossEncoderReranker, SimilarityReranker
from longform.retrieve.index import Index

__all__ = ["open_reranker"]


def open_reranker(
    model: str | CrossEncoder = "reranker",
    index: Index | None = None,
    budget_ms: float | None = None,
    threads: int | None = None,
) -> CrossEncoderReranker:
    """The re-ranker of a name, for the hits of an index.

    What the model's ``config.json`` says under ``mix`` counts beside its own score: the shipped one was found to gain
    from a little of BM25's and of the encoder's. The latter needs an index with vectors, and then costs next to
    nothing.
    """
    loaded = model if isinstance(model, CrossEncoder) else CrossEncoder.load(model, threads)
    similarity = None
    if index is not None and index.manifest.dense is not None and loaded.mix.get("similarity"):
        similarity = SimilarityReranker(index.encoder, index)
    return CrossEncoderReranker(loaded, budget_ms, loaded.mix, similarity)
