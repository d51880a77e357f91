"""What a writer learns from: questions, the passages that are found for them, and their long answers.

Christmann et al., 2024, Algorithm 1, lines 21 to 27: the passages are those that the fine-tuned re-ranker puts first,
so that the writer learns on what it will be given, not on what would be best for it.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import orjson

from longform.corpus.training_questions import TrainingQuestion, read_ids, read_training_questions
from longform.errors import InputError
from longform.models.registry import find_model
from longform.progress import Progress, no_progress
from longform.records import Hit
from longform.rerank import Reranker, SimilarityReranker
from longform.rerank import open_reranker as open_for
from longform.retrieve.index import Index

__all__ = ["NO_RERANKER", "Example", "NamedReranker", "examples_of", "find_hits", "open_reranker", "read_answered"]

SHIPPED, SIMILARITY, NO_RERANKER = "reranker", "similarity", "none"

# Questions that are searched together: enough to batch the encoder, few enough to keep memory flat.
_CHUNK = 64


@dataclass(frozen=True, slots=True)
class Example:
    """A question with the passages that were found for it, best first, and a long answer to it."""

    id: str
    question: str
    hits: tuple[Hit, ...]
    answer: str


@dataclass(frozen=True, slots=True)
class NamedReranker:
    """A re-ranker (``None`` for the search's own order), with its name and what tells it from another of that name."""

    model: Reranker | None
    name: str
    fingerprint: str


def read_answered(
    path: str, *, split: str | None = None, exclude: str | None = None, limit: int | None = None
) -> list[TrainingQuestion]:
    """The first ``limit`` questions of a file that have a long answer, without those whose ids the file ``exclude``
    lists."""
    excluded = frozenset() if exclude is None else read_ids(exclude)
    found = read_training_questions(path, split=split, exclude_ids=excluded)
    answered = [question for question in found if question.long_answers][:limit]
    if len(answered) < 2:
        count = "one question" if answered else "no question"
        raise InputError(f"{path} has {count} with a long answer, where fine-tuning needs two at least.")
    return answered


def examples_of(
    questions: Sequence[TrainingQuestion], hits: Sequence[tuple[Hit, ...]], share: float, seed: int
) -> tuple[list[Example], list[Example]]:
    """Examples to train on and to validate on, one for each long answer of a question that something was found for.

    The share of the questions is held out by their ids: the same seed gives the same split, whatever their order.

    >>> asked = [TrainingQuestion(str(number), "Who?", ("She.", "He.")) for number in range(10)]
    >>> training, held = examples_of(asked, [((), (1,))[number > 0] for number in range(10)], 0.2, seed=1)
    >>> len(training), len(held), {row.id for row in training} & {row.id for row in held}
    (14, 4, set())
    """
    found = {question.id: (question, ranked) for question, ranked in zip(questions, hits, strict=True) if ranked}
    if len(found) < 2:
        raise InputError("The index has passages for fewer than two of the questions: is it the right one?")
    order = sorted(found)
    random.Random(seed).shuffle(order)
    held = min(max(round(len(order) * share), 1), len(order) - 1) if share else 0
    return [row for name in order[held:] for row in _rows(*found[name])], [
        row for name in order[:held] for row in _rows(*found[name])
    ]


def _rows(question: TrainingQuestion, hits: tuple[Hit, ...]) -> Iterator[Example]:
    for answer in question.long_answers:
        # Line breaks of a long answer are those of the page that it was taken from.
        yield Example(question.id, question.question.strip(), hits, " ".join(answer.split()))


def open_reranker(name: str | None, index: Index) -> NamedReranker:
    """A re-ranker by its name: ``none``, ``similarity``, or a cross-encoder; without a name the shipped cross-encoder,
    or similarity where none ships."""
    if name is None:
        try:
            find_model(SHIPPED, "reranker")
            name = SHIPPED
        except InputError:
            name = SIMILARITY
    if name == NO_RERANKER:
        return NamedReranker(None, name, "")
    if name == SIMILARITY:
        from longform.models import Encoder

        encoder = Encoder.load() if index.manifest.dense is None else index.encoder
        return NamedReranker(SimilarityReranker(encoder, index), name, encoder.fingerprint)
    from longform.models import CrossEncoder

    model = CrossEncoder.load(name)
    return NamedReranker(open_for(model, index), name, model.fingerprint)


def find_hits(
    index: Index,
    questions: Sequence[TrainingQuestion],
    reranker: Reranker | None,
    k: int,
    pool: int,
    file: Path,
    *,
    mode: str | None = None,
    progress: Progress = no_progress,
) -> list[tuple[Hit, ...]]:
    """For every question the best ``k`` passages of the re-ranked pool.

    Their ids are kept in ``file``, a line for each question: re-ranking thousands of questions takes hours on a CPU,
    and a run that was killed goes on behind its last whole line.
    """
    hits: list[tuple[Hit, ...]] = []
    with file.open("a+b") as kept:
        hits += _known(kept, index, questions)
        for start in range(len(hits), len(questions), _CHUNK):
            chunk = questions[start : start + _CHUNK]
            depth = min(pool if reranker is not None else k, len(index))
            ranked = index.search([question.question for question in chunk], max(depth, 1), mode)
            for question, found in zip(chunk, ranked, strict=True):
                best = found[:k] if reranker is None else reranker.rerank(question.question, found, k)
                row = {"id": question.id, "passages": [hit.passage.id for hit in best]}
                # Whole lines reach the system one by one: a killed process loses none of them.
                kept.write(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE))
                kept.flush()
                hits.append(_plain(index, row["passages"]))
                progress("finding passages", len(hits), len(questions))
    return hits


def _known(kept: BinaryIO, index: Index, questions: Sequence[TrainingQuestion]) -> list[tuple[Hit, ...]]:
    """The passages of the lines that an earlier run wrote; what is behind the last whole one is cut off."""
    kept.seek(0)
    found: list[tuple[Hit, ...]] = []
    end = 0
    for question, line in zip(questions, kept, strict=False):
        if not line.endswith(b"\n"):
            break
        row = orjson.loads(line)
        if row["id"] != question.id:
            break
        found.append(_plain(index, row["passages"]))
        end += len(line)
    kept.truncate(end)
    kept.seek(end)
    return found


def _plain(index: Index, ids: Sequence[str]) -> tuple[Hit, ...]:
    """Hits without scores: the same whether they were found now or by an earlier run."""
    return tuple(Hit(index.passage(name), rank, 0.0) for rank, name in enumerate(ids, 1))
