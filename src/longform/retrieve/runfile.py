"""Rankings as files: TREC runs, which every evaluation tool reads, and JSONL with the passages."""

from __future__ import annotations

import errno
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import orjson

from longform.errors import FailureError, InputError, reason_of
from longform.files import atomic_write
from longform.progress import Progress, no_progress
from longform.records import Hit, Question
from longform.retrieve.index import Index
from longform.trec import trec_lines

__all__ = ["RUN_FORMATS", "Refine", "run_format", "write_run"]

RUN_FORMATS = ("trec", "jsonl")
# Questions are searched this many at a time: enough to batch the encoder, few enough to keep memory flat.
_CHUNK = 128

# What comes after the search: a question and its hits to the hits that are written.
Refine = Callable[[str, Sequence[Hit]], Sequence[Hit]]


def run_format(path: str, wanted: str | None = None) -> str:
    """The format of a run file: the one wanted, or else by the name's end.

    >>> run_format("run.trec"), run_format("hits.jsonl"), run_format("-", "jsonl")
    ('trec', 'jsonl', 'jsonl')
    """
    if wanted is not None:
        return wanted
    return "jsonl" if path.endswith((".jsonl", ".ndjson", ".json")) else "trec"


def write_run(
    index: Index,
    questions: Sequence[Question],
    path: str,
    form: str,
    *,
    k: int | None = None,
    mode: str | None = None,
    fusion: str = "rrf",
    dense_weight: float = 0.5,
    refine: Refine | None = None,
    stage: str = "re-ranking",
    tag: str | None = None,
    progress: Progress = no_progress,
) -> None:
    """Search for every question and write the rankings to a file, whole or not at all; ``-`` is standard output.

    ``refine`` makes other hits of the ``k`` that were found, such as a re-ranker's best; ``stage`` is what progress
    calls that, and ``tag`` is the run's name in a TREC file, else ``longform-`` and the mode.
    """
    if form not in RUN_FORMATS:
        raise InputError(f"There is no run format {form!r}: choose one of {', '.join(RUN_FORMATS)}.")
    mode = mode or index.default_mode
    tag = tag or f"longform-{mode}"

    def found_hits(texts: list[str], start: int) -> Iterator[Sequence[Hit]]:
        for place, hits in enumerate(index.search(texts, k, mode, fusion=fusion, dense_weight=dense_weight)):
            if refine is not None:
                progress(stage, start + place, len(questions))
            yield hits if refine is None else refine(texts[place], hits)

    def chunk_bytes(chunk: Sequence[Question], start: int) -> bytes:
        texts = [question.question for question in chunk]
        if form == "jsonl":
            found = found_hits(texts, start)
            rows = [
                {"id": question.id, "question": question.question, "hits": [hit.to_json() for hit in hits]}
                for question, hits in zip(chunk, found, strict=True)
            ]
            return b"".join(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in rows)
        scored: Iterator[list[tuple[str, float]]]
        if refine is not None:
            scored = ([(hit.passage.id, hit.score) for hit in hits] for hits in found_hits(texts, start))
        else:
            ranked = index.rank(texts, k, mode, fusion=fusion, dense_weight=dense_weight)
            scored = ([(index.id_at(row), score) for row, score in rankings[mode]] for rankings in ranked)
        lines = [
            line
            for question, ranking in zip(chunk, scored, strict=True)
            for line in trec_lines(question.id, ranking, tag)
        ]
        return "".join(lines).encode()

    with _output(path) as write:
        for start in range(0, len(questions), _CHUNK):
            progress("searching", start, len(questions))
            write(chunk_bytes(questions[start : start + _CHUNK], start))
        for name in ("searching", *([stage] if refine is not None else [])):
            progress(name, len(questions), len(questions))


@contextmanager
def _output(path: str) -> Iterator[Callable[[bytes], object]]:
    if path == "-":
        stream: BinaryIO = sys.stdout.buffer
        yield stream.write
        stream.flush()
        return
    target = Path(path)
    # A pipe or a device cannot be put in place by a rename: that would replace it.
    whole = target.is_file() or not target.exists()
    try:
        with atomic_write(target.resolve()) if whole else target.open("wb") as file:
            yield file.write
    except BrokenPipeError:
        raise
    except OSError as error:
        sentence = f"{path} cannot be written: {reason_of(error)}."
        kind = FailureError if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EIO) else InputError
        raise kind(sentence) from error
