"""How well a passage matches a long answer: by words, by meaning, by what a language model makes of it.

Christmann et al., "Retrieving Contextual Information for Long-Form Question Answering using Weak Supervision", 2024,
section 2. Where a question has several long answers, as in ASQA's development set, a passage's match is the best over
them. :mod:`longform.silver.perplexity` holds the third.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from longform.corpus.training_questions import TrainingQuestion
from longform.retrieve import Index
from longform.retrieve.vectors import PassageEncoder, map_vectors, passage_text
from longform.silver.pool import Pool

__all__ = ["LexicalMatch", "Match", "SemanticMatch"]

_KEPT = 65_536  # vectors: 100 MB at 384 numbers


class Match(Protocol):
    """Scores every candidate of a question, higher for a better match with the long answer."""

    def __call__(self, question: TrainingQuestion, pool: Pool) -> NDArray[np.float64]: ...


class LexicalMatch:
    """Token recall of the long answer, equation 1: the share of its words that the passage has, stop words aside."""

    def __call__(self, question: TrainingQuestion, pool: Pool) -> NDArray[np.float64]:
        """The best recall over the long answers; 0 where there are none."""
        recalls = [np.zeros(len(pool)), *map(pool.recall, question.long_answers)]
        return np.asarray(np.max(recalls, axis=0), dtype=np.float64)


class SemanticMatch:
    """The inner product of the vectors of passage and long answer, equation 2.

    The index's own vectors are used where ``encoder`` made them; other passages are encoded when first met.
    """

    def __init__(self, index: Index, encoder: PassageEncoder) -> None:
        self.encoder = encoder
        self._index = index
        dense = index.manifest.dense
        stored = dense is not None and dense.fingerprint == encoder.fingerprint
        self._parts = [
            map_vectors(part.folder, encoder.fingerprint, encoder.dimension) for part in (index.parts if stored else ())
        ]
        self._kept = lru_cache(maxsize=_KEPT)(self._encoded)

    def __call__(self, question: TrainingQuestion, pool: Pool) -> NDArray[np.float64]:
        """The best inner product over the long answers; 0 where there are none."""
        if not question.long_answers or not len(pool):
            return np.zeros(len(pool))
        answers = self.encoder.encode(list(question.long_answers))
        passages = np.stack([self._vector(row) for row in pool.rows])
        return np.asarray((passages @ answers.T).max(axis=1), dtype=np.float64)

    def _vector(self, row: int) -> NDArray[np.float32]:
        if not self._parts:
            return self._kept(row)
        part = int(self._index.first_rows.searchsorted(row, side="right")) - 1
        return np.asarray(self._parts[part][row - int(self._index.first_rows[part])], dtype=np.float32)

    def _encoded(self, row: int) -> NDArray[np.float32]:
        return np.asarray(self.encoder.encode([passage_text(self._index.passage_at(row))])[0], dtype=np.float32)
