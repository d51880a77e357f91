"""The passages' vectors: one file of 16-bit floats in every part, written window by window.

A window that is written is never encoded again: after an interruption the work goes on at the first row whose
vector is not in the file.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from longform.records import Passage
from longform.retrieve.store import PartReader, damaged

__all__ = ["PassageEncoder", "encode_part", "map_vectors", "passage_text", "vectors_name"]

# Large enough for batches of like length, small enough to lose only seconds of work to a kill.
_WINDOW = 1024


class PassageEncoder(Protocol):
    """What this room needs of an encoder: :class:`longform.models.Encoder` is one."""

    @property
    def name(self) -> str: ...

    @property
    def fingerprint(self) -> str: ...

    @property
    def dimension(self) -> int: ...

    def encode(self, texts: list[str], *, progress: Callable[[int], None] | None = None) -> NDArray[np.float32]: ...

    def encode_questions(self, texts: list[str]) -> NDArray[np.float32]: ...


def vectors_name(fingerprint: str) -> str:
    """The file name of the vectors that the encoder with this fingerprint makes."""
    return f"vectors-{fingerprint[:12]}.f16"


def passage_text(passage: Passage) -> str:
    """What of a passage is encoded: its title and its text."""
    return f"{passage.title} {passage.text}" if passage.title else passage.text


def encode_part(part: PartReader, encoder: PassageEncoder, progress: Callable[[int], None]) -> None:
    """Write the vectors of a part that are not there yet; ``progress`` is told how many rows are done."""
    path = part.folder / vectors_name(encoder.fingerprint)
    row_bytes = 2 * encoder.dimension
    done = path.stat().st_size // row_bytes if path.exists() else 0
    with path.open("ab") as file:
        file.truncate(done * row_bytes)
        progress(done)
        for window in _windows(part.passages(done)):
            start = done
            vectors = encoder.encode(
                [passage_text(passage) for passage in window],
                progress=lambda count, start=start: progress(start + count),  # type: ignore[misc]
            )
            file.write(vectors.astype("<f2").tobytes())
            file.flush()
            os.fsync(file.fileno())
            done += len(window)
            progress(done)


def _windows(passages: Iterator[Passage]) -> Iterator[list[Passage]]:
    while window := list(islice(passages, _WINDOW)):
        yield window


def map_vectors(folder: Path, fingerprint: str, dimension: int) -> NDArray[np.float16]:
    """The vectors of a part, mapped from their file."""
    path = folder / vectors_name(fingerprint)
    if path.stat().st_size == 0:
        return np.empty((0, dimension), dtype=np.float16)
    try:
        return np.memmap(path, dtype="<f2", mode="r").reshape(-1, dimension)
    except ValueError as error:
        raise damaged(folder) from error
