"""Rankings as files: TREC runs, which every evaluation tool reads, and JSONL with the passages."""

from __future__ import annotations

import errno
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import orjson

from longform.errors import FailureError, InputError
from longform.files import atomic_write
from longform.progress import Progress, no_progress
from longform.records import Question
from longform.retrieve.index import Index
from longform.trec import trec_lines

__all__ = ["RUN_FORMATS", "run_format", "write_run"]

RUN_FORMATS = ("trec", "jsonl")
# Questions are searched this many at a time: enough to batch the encoder, few enough to keep memory flat.
_CHUNK = 128


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
    progress: Progress = no_progress,
) -> None:
    """Search for every question and write the rankings to a file, whole or not at all; ``-`` is standard output."""
    if form not in RUN_FORMATS:
        raise InputError(f"There is no run format {form!r}: choose one of {', '.join(RUN_FORMATS)}.")
    mode = mode or index.default_mode

    def chunk_bytes(chunk: Sequence[Question]) -> bytes:
        texts = [question.question for question in chunk]
        if form == "jsonl":
            found = index.search(texts, k, mode, fusion=fusion, dense_weight=dense_weight)
            rows = [
                {"id": question.id, "question": question.question, "hits": [hit.to_json() for hit in hits]}
                for question, hits in zip(chunk, found, strict=True)
            ]
            return b"".join(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in rows)
        ranked = index.rank(texts, k, mode, fusion=fusion, dense_weight=dense_weight)
        lines = [
            line
            for question, rankings in zip(chunk, ranked, strict=True)
            for line in trec_lines(
                question.id, ((index.id_at(row), score) for row, score in rankings[mode]), f"longform-{mode}"
            )
        ]
        return "".join(lines).encode()

    with _output(path) as write:
        for start in range(0, len(questions), _CHUNK):
            progress("searching", start, len(questions))
            write(chunk_bytes(questions[start : start + _CHUNK]))
        progress("searching", len(questions), len(questions))


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
        sentence = f"{path} cannot be written: {(error.strerror or str(error)).lower()}."
        kind = FailureError if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EIO) else InputError
        raise kind(sentence) from error
