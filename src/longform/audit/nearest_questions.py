"""The training questions nearest to each test question, by meaning and by words, over thousands of questions.

Vectors are kept in a folder, part by part: a second run reads them, and a killed one goes on where it was.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from filelock import FileLock
from numpy.typing import NDArray

from longform.errors import FailureError, reason_of
from longform.files import atomic_write
from longform.progress import Progress, no_progress
from longform.records import Document

if TYPE_CHECKING:
    from longform.models import Encoder

__all__ = [
    "PART",
    "NearQuestion",
    "default_cache",
    "like_pairs",
    "nearest_by_meaning",
    "nearest_by_words",
    "vectors_of",
]

Floats = NDArray[np.float32]

PART = 64
"""Questions that are encoded and kept together: a fraction of a second."""
# Rows of similarities at a time: 500 × 100,000 numbers are 200 MB.
_ROWS = 500


class NearQuestion(NamedTuple):
    """A training question's place, and how alike it is: a cosine, or BM25's score."""

    place: int
    score: float


def default_cache() -> Path:
    """Where vectors are kept: ``$LONGFORM_HOME/questions`` or ``~/.cache/longform/questions``."""
    from longform.models.registry import cache_folder

    return cache_folder().parent / "questions"


def vectors_of(
    questions: Sequence[str], encoder: Encoder, cache: Path | None, progress: Progress = no_progress
) -> Floats:
    """A vector of length 1 for each question, in order.

    Every :data:`PART` questions are a file in ``cache``, named after the encoder and their text.
    """
    parts = []
    for start in range(0, len(questions), PART):
        progress("Encoding questions", start, len(questions))
        parts.append(_part(list(questions[start : start + PART]), encoder, cache))
    progress("Encoding questions", len(questions), len(questions))
    return np.concatenate(parts) if parts else np.zeros((0, encoder.dimension), dtype=np.float32)


def _part(questions: list[str], encoder: Encoder, cache: Path | None) -> Floats:
    if cache is None:
        return _encoded(questions, encoder)
    path = cache / f"{_key(questions, encoder.fingerprint)}.npy"
    try:
        if path.is_file():
            found: Floats = np.load(path)
            if found.shape == (len(questions), encoder.dimension):
                return found
    except (OSError, ValueError):
        pass  # Damaged: made again.
    vectors = _encoded(questions, encoder)
    try:
        cache.mkdir(parents=True, exist_ok=True)
        with atomic_write(path) as file:
            np.save(file, vectors)
    except OSError as error:
        raise FailureError(
            f"{cache} cannot be written ({reason_of(error)}): name another folder with --cache."
        ) from error
    return vectors


def _encoded(questions: list[str], encoder: Encoder) -> Floats:
    vectors = encoder.encode_questions(questions)
    unit: Floats = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), np.float32(1e-12))
    return unit


def nearest_by_meaning(
    wanted: Floats, known: Floats, count: int, progress: Progress = no_progress
) -> list[list[NearQuestion]]:
    """For each vector the ``count`` known ones with the largest cosine, best first, ties in their order.

    >>> nearest_by_meaning(np.eye(2, dtype=np.float32), np.eye(2, dtype=np.float32), 1)
    [[NearQuestion(place=0, score=1.0)], [NearQuestion(place=1, score=1.0)]]
    """
    found = []
    for start in range(0, len(wanted), _ROWS):
        progress("Comparing by meaning", start, len(wanted))
        for row in wanted[start : start + _ROWS] @ known.T:
            # The count-th largest, and all that equal it, so that ties are broken by place and not by chance.
            places = np.arange(len(row))
            if count < len(row):
                places = np.flatnonzero(row >= np.partition(row, -count)[-count])
            order = places[np.argsort(-row[places], kind="stable")][:count]
            found.append([NearQuestion(int(place), float(row[place])) for place in order])
    progress("Comparing by meaning", len(wanted), len(wanted))
    return found


def like_pairs(vectors: Floats, least: float, progress: Progress = no_progress) -> Iterator[tuple[int, int, float]]:
    """All pairs of rows whose cosine is at least ``least``: (first, second, cosine), first < second.

    >>> rows = np.array([[1, 0], [0, 1], [1, 0]], dtype=np.float32)
    >>> list(like_pairs(rows, 0.5))
    [(0, 2, 1.0)]
    """
    for start in range(0, len(vectors), _ROWS):
        progress("Comparing all questions", start, len(vectors))
        block = vectors[start : start + _ROWS] @ vectors[start:].T
        for first, second in zip(*np.nonzero(block >= least), strict=True):
            if first < second:
                yield start + int(first), start + int(second), float(block[first, second])
    progress("Comparing all questions", len(vectors), len(vectors))


def nearest_by_words(
    wanted: Sequence[str], known: Sequence[str], count: int, cache: Path, progress: Progress = no_progress
) -> list[list[NearQuestion]]:
    """For each question the ``count`` known ones that BM25 ranks first; fewer where fewer share a word with it."""
    from longform.retrieve import Index

    folder = cache / f"{_key(known, 'bm25')}.index"
    try:
        cache.mkdir(parents=True, exist_ok=True)
        with FileLock(folder.with_suffix(".lock")):
            if not (folder / "longform.json").is_file():
                documents = [Document(str(place), "", question) for place, question in enumerate(known)]
                Index.create(folder, documents, words=10_000, overwrite=True, progress=progress)
    except OSError as error:
        raise FailureError(
            f"{cache} cannot be written ({reason_of(error)}): name another folder with --cache."
        ) from error
    index = Index.open(folder)
    found: list[list[NearQuestion]] = []
    for start in range(0, len(wanted), PART):
        progress("Comparing by words", start, len(wanted))
        ranked = index.search(list(wanted[start : start + PART]), min(count, len(known)), "bm25")
        found += [[NearQuestion(int(hit.passage.document), hit.score) for hit in hits] for hits in ranked]
    progress("Comparing by words", len(wanted), len(wanted))
    return found


def _key(questions: Sequence[str], made_by: str) -> str:
    text = "\x1e".join([made_by, *questions])
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:24]
