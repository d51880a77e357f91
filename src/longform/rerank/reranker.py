"""Re-rankers: they order a search's hits anew, by a model that looks at question and passage more closely."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from longform.errors import InputError
from longform.models.cross_encoder import TitledText
from longform.records import Hit, Passage
from longform.rerank.budget import score_within
from longform.retrieve.index import Index
from longform.retrieve.vectors import PassageEncoder, map_vectors, passage_text

__all__ = ["CrossEncoderReranker", "PairScorer", "RerankReport", "Reranker", "SimilarityReranker"]

Scores = NDArray[np.float32]

# Below this share of read text BM25's weight grows no further.
_LEAST_SHARE = 0.2


class Reranker(Protocol):
    """Orders hits anew: ranks from 1, ``score`` its own, ``scores`` those of all stages; the best ``k``, or all."""

    def rerank(self, question: str, hits: Sequence[Hit], k: int | None = None) -> list[Hit]: ...


class PairScorer(Protocol):
    """What re-ranking needs of a cross-encoder: :class:`longform.models.CrossEncoder` is one."""

    @property
    def keep(self) -> int | None: ...

    def score(self, question: str, passages: Sequence[TitledText], *, early: bool = False) -> Scores: ...

    def lengths(self, question: str, passages: Sequence[TitledText]) -> list[int]: ...

    def share_read(self, question: str, passages: Sequence[TitledText]) -> float: ...


class RerankReport(NamedTuple):
    """What re-ranking did: the hits, how many of the candidates the model scored, and how long it took."""

    hits: list[Hit]
    scored: int
    candidates: int
    seconds: float


@dataclass(frozen=True)
class CrossEncoderReranker:
    """Re-ranks by a cross-encoder (Nogueira and Cho, 2019), within a time where ``budget_ms`` sets one.

    The candidates are scored in the order of the first stage until the time would be exceeded, at least five of them.
    Those that were not scored follow those that were, in their first order. A model with an early cut scores all of
    them by its cheap part, which may take half of the time, and the best ``keep`` of these (but at least ``k``) by
    the whole; the others follow in the order of the early score.

    ``scores`` gets ``rerank`` from the whole model and ``rerank_early`` from the early one. ``score`` is the whole
    model's; a hit that it did not see has the lowest of those less 1, the next one less 2 and so on, which says
    nothing but that it comes after them.

    With a ``mix``, what BM25 and the encoder say counts too: ``score`` is the whole model's, plus the sum of the
    others' standard scores (mean 0 and deviation 1 over the hits that the model scored) by their weights, times the
    deviation of the model's own. A model of few tokens does not see the end of long passages, and BM25 does: its weight
    is divided by the share of the passages that the model reads.

    >>> class Longer:
    ...     keep = None
    ...     def lengths(self, question, passages):
    ...         return [len(passage.text) for passage in passages]
    ...     def score(self, question, passages, *, early=False):
    ...         return np.array(self.lengths(question, passages), dtype=np.float32)
    >>> found = [Hit(Passage(text, text, "", text, 0, len(text)), 1, 2.5, {"bm25": 2.5}) for text in ("tea", "coffee")]
    >>> [(hit.passage.id, hit.rank, hit.score) for hit in CrossEncoderReranker(Longer()).rerank("drink", found)]
    [('coffee', 1, 6.0), ('tea', 2, 3.0)]
    """

    model: PairScorer
    budget_ms: float | None = None
    mix: Mapping[str, float] = field(default_factory=dict)
    """What else counts, and how much: ``bm25``, BM25's score, and ``similarity``, where that is given."""
    similarity: SimilarityReranker | None = None

    def __post_init__(self) -> None:
        if self.budget_ms is not None and not self.budget_ms > 0:
            raise InputError(f"The budget must be above 0 ms, and {self.budget_ms:g} is not.")

    def rerank(self, question: str, hits: Sequence[Hit], k: int | None = None) -> list[Hit]:
        """The best ``k`` hits in their new order; all without ``k``."""
        return self.report(question, hits, k).hits

    def report(self, question: str, hits: Sequence[Hit], k: int | None = None) -> RerankReport:
        """As :meth:`rerank`, with how many hits were scored in what time."""
        _check(k)
        started = time.perf_counter()
        seconds = None if self.budget_ms is None else self.budget_ms / 1000
        order = list(range(len(hits)))
        early: dict[int, float] = {}
        if self.model.keep is not None and self.model.keep < len(hits):
            half = None if seconds is None else seconds / 2
            early = self._scores(question, hits, order, half, started, early=True)
            order = sorted(early, key=lambda place: (-early[place], place))[: max(self.model.keep, k or 0)]
        whole = self._scores(question, hits, order, seconds, started, early=False)
        final = self._mixed(question, hits, whole)
        ranked = sorted(final, key=lambda place: (-final[place], place))
        ranked += sorted(early.keys() - whole.keys(), key=lambda place: (-early[place], place))
        ranked += sorted(set(range(len(hits))) - early.keys() - whole.keys())
        found = _reordered(hits, ranked, final, {"rerank_early": early, "rerank": whole})
        return RerankReport(found[:k], len(whole), len(hits), time.perf_counter() - started)

    def _scores(
        self,
        question: str,
        hits: Sequence[Hit],
        order: list[int],
        seconds: float | None,
        started: float,
        *,
        early: bool,
    ) -> dict[int, float]:
        """The scores of the hits at these places, or of the first of them."""
        passages = [hits[place].passage for place in order]
        lengths = self.model.lengths(question, passages) if seconds is not None else [1] * len(passages)
        found = score_within(
            lengths,
            lambda first, last: self.model.score(question, passages[first:last], early=early),
            seconds,
            started=started,
        )
        return dict(zip(order, found.tolist(), strict=False))

    def _mixed(self, question: str, hits: Sequence[Hit], whole: Mapping[int, float]) -> Mapping[int, float]:
        """The scores with what else counts; hits of which one thing is not known get nothing for it."""
        places = list(whole)
        own = np.array([whole[place] for place in places])
        added = np.zeros(len(places))
        if self.mix.get("bm25") and all("bm25" in hits[place].scores for place in places):
            share = self.model.share_read(question, [hits[place].passage for place in places])
            found = np.array([hits[place].scores["bm25"] for place in places])
            added += self.mix["bm25"] / max(share, _LEAST_SHARE) * _standard(found)
        if self.mix.get("similarity") and self.similarity is not None and places:
            alike = self.similarity.score(question, [hits[place].passage for place in places])
            added += self.mix["similarity"] * _standard(alike.astype(np.float64))
        if not added.any():
            return whole
        return dict(zip(places, (own + float(own.std()) * added).tolist(), strict=True))


@dataclass(frozen=True)
class SimilarityReranker:
    """Re-ranks by the similarity of the encoder's vectors of question and passage.

    It is the pre-trained re-ranker that the SILVER paper compares with (Christmann et al., 2024, section 3.1). An
    ``index`` that the hits come from and that this encoder made saves encoding the passages: 0.02 CPU-seconds in place
    of 2.8 for 100 of them, in an index of 52,197.
    """

    encoder: PassageEncoder
    index: Index | None = None

    def rerank(self, question: str, hits: Sequence[Hit], k: int | None = None) -> list[Hit]:
        """The best ``k`` hits in their new order; all without ``k``."""
        return self.report(question, hits, k).hits

    def report(self, question: str, hits: Sequence[Hit], k: int | None = None) -> RerankReport:
        """As :meth:`rerank`, with how long it took."""
        _check(k)
        started = time.perf_counter()
        scores = dict(enumerate(self.score(question, [hit.passage for hit in hits]).tolist()))
        ranked = sorted(scores, key=lambda place: (-scores[place], place))
        found = _reordered(hits, ranked, scores, {"rerank": scores})
        return RerankReport(found[:k], len(hits), len(hits), time.perf_counter() - started)

    def score(self, question: str, passages: Sequence[Passage]) -> NDArray[np.float32]:
        """The similarity of the question to each passage."""
        if not passages:
            return np.zeros(0, dtype=np.float32)
        scores: NDArray[np.float32] = self._vectors(passages) @ self.encoder.encode_questions([question])[0]
        return scores

    def _vectors(self, passages: Sequence[Passage]) -> NDArray[np.float32]:
        dense = None if self.index is None else self.index.manifest.dense
        if self.index is None or dense is None or dense.fingerprint != self.encoder.fingerprint:
            return self.encoder.encode([passage_text(passage) for passage in passages])
        parts = [map_vectors(part.folder, dense.fingerprint, dense.dimension) for part in self.index.parts]
        found = np.empty((len(passages), dense.dimension), dtype=np.float32)
        unknown = []
        for place, passage in enumerate(passages):
            rows = self.index.find(passage.id, of_document=False)
            if len(rows):
                part = int(self.index.first_rows.searchsorted(rows[0], side="right")) - 1
                found[place] = parts[part][int(rows[0] - self.index.first_rows[part])]
            else:
                unknown.append(place)
        if unknown:
            found[unknown] = self.encoder.encode([passage_text(passages[place]) for place in unknown])
        return found


def _standard(values: NDArray[np.float64]) -> NDArray[np.float64]:
    centred: NDArray[np.float64] = values - values.mean() if len(values) else values
    return centred / (float(values.std()) + 1e-9) if len(values) else values


def _check(k: int | None) -> None:
    if k is not None and k < 1:
        raise InputError(f"k must be at least 1, and {k} is not.")


def _reordered(
    hits: Sequence[Hit], ranked: Sequence[int], final: Mapping[int, float], stages: Mapping[str, Mapping[int, float]]
) -> list[Hit]:
    """The hits in a new order, with the scores of the new stages; those without a final score fall by 1 each."""
    found = []
    score = 0.0
    for rank, place in enumerate(ranked, 1):
        score = final[place] if place in final else score - 1
        new = {name: scores[place] for name, scores in stages.items() if place in scores}
        found.append(replace(hits[place], rank=rank, score=score, scores={**hits[place].scores, **new}))
    return found
