"""The training questions that are most like another question: by meaning (embeddings) or by words (BM25)."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from filelock import FileLock
from numpy.typing import NDArray

from longform.data.dataset import Dataset
from longform.data.example import Example
from longform.files import atomic_write
from longform.records import Document

if TYPE_CHECKING:
    from longform.retrieve import Index
    from longform.study.systems.tools import Tools

__all__ = ["WAYS", "Near", "NearestQuestions", "encode_all", "open_nearest"]

WAYS = ("embedding", "bm25")
ENCODER = "encoder"


class Near(NamedTuple):
    """A training question and how alike it is: a cosine, or BM25's score."""

    example: Example
    score: float


class NearestQuestions:
    """Finds training questions; the one that has the same id as the question asked is never among them."""

    def __init__(self, examples: Sequence[Example], rank: Callable[[str, int], list[tuple[int, float]]]) -> None:
        self._examples, self._rank = examples, rank

    def find(self, example: Example, count: int) -> list[Near]:
        """The ``count`` training questions most like this one, best first; ties in the order of the training file."""
        ranked = self._rank(example.question, min(count + 1, len(self._examples)))
        near = [Near(self._examples[place], score) for place, score in ranked]
        return [one for one in near if one.example.id != example.id][:count]


def open_nearest(training: Dataset, by: str, tools: Tools) -> NearestQuestions:
    """Make, or find in the cache, what the training questions with a long answer are looked up in."""
    examples = [example for example in training if example.long_answers]
    if by == "embedding":
        vectors = _cached_vectors([example.question for example in examples], tools)
        encoder = tools.encoder(ENCODER)

        def rank(question: str, count: int) -> list[tuple[int, float]]:
            scores = vectors @ encoder.encode_questions([question])[0]
            order = np.argsort(-scores, kind="stable")[:count]
            return [(int(place), float(scores[place])) for place in order]

        return NearestQuestions(examples, rank)
    index = _question_index(examples, tools)

    def rank_by_words(question: str, count: int) -> list[tuple[int, float]]:
        hits = index.search(question, count, "bm25")
        return [(int(hit.passage.document), hit.score) for hit in hits]

    return NearestQuestions(examples, rank_by_words)


def encode_all(questions: Sequence[str], tools: Tools) -> NDArray[np.float32]:
    """A vector for each question, of length 1."""
    vectors = tools.encoder(ENCODER).encode_questions(list(questions))
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: NDArray[np.float32] = (vectors / np.maximum(lengths, 1e-12)).astype(np.float32)
    return unit


def _cached_vectors(questions: Sequence[str], tools: Tools) -> NDArray[np.float32]:
    if tools.cache is None:
        return encode_all(questions, tools)
    path = tools.cache / f"questions-{_key(questions, tools.encoder(ENCODER).fingerprint)}.npy"
    tools.cache.mkdir(parents=True, exist_ok=True)
    with FileLock(path.with_suffix(".lock")):
        if not path.is_file():
            vectors = encode_all(questions, tools)
            with atomic_write(path) as file:
                np.save(file, vectors)
        found: NDArray[np.float32] = np.load(path)
    return found


def _question_index(examples: Sequence[Example], tools: Tools) -> Index:
    from longform.retrieve import Index

    documents = [Document(str(place), "", example.question) for place, example in enumerate(examples)]
    if tools.cache is None:
        return Index.create(Path(tempfile.mkdtemp(prefix="longform-")) / "questions.index", documents, words=10_000)
    folder = tools.cache / f"questions-{_key([one.question for one in examples], 'bm25')}.index"
    tools.cache.mkdir(parents=True, exist_ok=True)
    with FileLock(folder.with_suffix(".lock")):
        if not (folder / "longform.json").is_file():
            return Index.create(folder, documents, words=10_000, overwrite=True)
        return Index.open(folder)


def _key(questions: Sequence[str], made_by: str) -> str:
    return hashlib.sha256("\n".join([made_by, *questions]).encode()).hexdigest()[:16]
