"""The passages themselves: a *part* is a folder of append-only files, read in place by row number.

``passages.zst``  blocks of passages, one JSON line each, every block compressed by itself with zstd
``blocks.u64``    for every block: its first row, and the byte where it begins
``ids.bin``       the ids one after the other, so that a ranking needs no block to be unpacked
``ids.u64``       for every row the byte where its id ends
``keys.u64``      for every row the key of its id, the key of its document's id, and 1 if it was cut from a document

All numbers are little-endian. The files are only ever appended to while a part is written, and never change after.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import orjson
import zstandard
from numpy.typing import NDArray

from longform.errors import FailureError
from longform.records import Passage
from longform.retrieve.keys import Keys, key_of

__all__ = ["IDS", "ID_ENDS", "PART_FILES", "Entry", "PartReader", "PartWriter", "damaged", "map_file"]

PASSAGES, BLOCKS, IDS, ID_ENDS, KEYS = "passages.zst", "blocks.u64", "ids.bin", "ids.u64", "keys.u64"
PART_FILES = (PASSAGES, BLOCKS, IDS, ID_ENDS, KEYS)

# 32 kB holds about 48 passages: 4 % larger on disk than 128 kB, and a random passage takes 0.12 ms instead of 0.44.
_BLOCK_BYTES = 32 * 1024
_LEVEL = 3


class Entry(NamedTuple):
    """A passage to be stored, and whether it was cut from a document or given as it is."""

    passage: Passage
    cut: bool


class PartWriter:
    """Appends passages to a part; :meth:`flush` makes all of them durable and says how long each file then is.

    Opened with the sizes that an earlier flush returned it cuts off whatever was written after it.
    """

    def __init__(self, folder: Path, sizes: dict[str, int] | None = None) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self._files: dict[str, BinaryIO] = {}
        self._sizes = {name: (sizes or {}).get(name, 0) for name in PART_FILES}
        for name, size in self._sizes.items():
            file = (folder / name).open("ab")
            file.truncate(size)
            self._files[name] = file
        self.rows = self._sizes[ID_ENDS] // 8
        self._block: list[bytes] = []
        self._block_bytes = 0
        self._block_row = self.rows
        self._compressor = zstandard.ZstdCompressor(level=_LEVEL)

    def append(self, entries: Sequence[Entry], keys: Keys) -> None:
        """Append passages with the keys of their ids."""
        ids = [entry.passage.id.encode() for entry in entries]
        lengths = np.fromiter(map(len, ids), dtype=np.uint64, count=len(ids))
        ends = np.cumsum(lengths, dtype=np.uint64) + np.uint64(self._sizes[IDS])
        cut = np.fromiter((entry.cut for entry in entries), dtype=np.uint64, count=len(entries))
        document_keys = keys_of_documents(entries, keys)
        lines = [orjson.dumps(entry.passage.to_json(), option=orjson.OPT_APPEND_NEWLINE) for entry in entries]
        self._write(ID_ENDS, ends.astype("<u8").tobytes())
        self._write(IDS, b"".join(ids))
        self._write(KEYS, np.stack([keys, document_keys, cut], axis=1).astype("<u8").tobytes())
        for line in lines:
            self._block.append(line)
            self._block_bytes += len(line)
            self.rows += 1
            if self._block_bytes >= _BLOCK_BYTES:
                self._end_block()

    def _end_block(self) -> None:
        if not self._block:
            return
        self._write(BLOCKS, np.array([self._block_row, self._sizes[PASSAGES]], dtype="<u8").tobytes())
        self._write(PASSAGES, self._compressor.compress(b"".join(self._block)))
        self._block, self._block_bytes, self._block_row = [], 0, self.rows

    def _write(self, name: str, data: bytes) -> None:
        self._files[name].write(data)
        self._sizes[name] += len(data)

    def flush(self) -> dict[str, int]:
        """Write out everything, durably; returns the size of each file."""
        self._end_block()
        for file in self._files.values():
            file.flush()
            os.fsync(file.fileno())
        return dict(self._sizes)

    def close(self) -> None:
        """Close the files without writing what is still waiting."""
        for file in self._files.values():
            # On a full disk the last bytes of a change that is given up have no place to go.
            with suppress(OSError):
                file.close()


def keys_of_documents(entries: Sequence[Entry], keys: Keys) -> Keys:
    """The keys of the entries' documents; a passage that is its own document has its own key, and is not hashed."""
    found = keys.copy()
    for place, (passage, _) in enumerate(entries):
        if passage.document != passage.id:
            found[place] = key_of(passage.document)
    return found


class PartReader:
    """Reads a part in place: nothing is loaded but what is asked for."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        try:
            self._bytes = map_file(folder / PASSAGES, np.uint8)
            blocks = map_file(folder / BLOCKS, np.dtype("<u8")).reshape(-1, 2)
            # As memory views, whose single items come out faster than an array's: rankings ask for many ids.
            self._ids = map_file(folder / IDS, np.uint8).data
            self._id_ends = map_file(folder / ID_ENDS, np.dtype("<u8")).data
            self._keys = map_file(folder / KEYS, np.dtype("<u8")).reshape(-1, 3)
        except ValueError as error:
            raise damaged(folder) from error
        self._block_rows, self._block_starts = blocks[:, 0], blocks[:, 1]
        if len(self._keys) != len(self) or bool(len(blocks)) != bool(len(self)):
            raise damaged(folder)
        self._own = threading.local()
        # A ranking visits the blocks of a few hundred passages; those of the last few questions stay unpacked.
        self._lines = lru_cache(maxsize=256)(self._read_lines)

    def __len__(self) -> int:
        return len(self._id_ends)

    @property
    def keys(self) -> NDArray[np.uint64]:
        """The key of every row's id."""
        return self._keys[:, 0]

    @property
    def document_keys(self) -> NDArray[np.uint64]:
        """The key of every row's document."""
        return self._keys[:, 1]

    @property
    def is_cut(self) -> NDArray[np.bool_]:
        """For every row whether it was cut from a document."""
        return np.asarray(self._keys[:, 2] != 0)

    def id(self, row: int) -> str:
        """The id of a row's passage."""
        try:
            start = self._id_ends[row - 1] if row else 0
            return str(self._ids[start : self._id_ends[row]], "utf-8")
        except (UnicodeDecodeError, IndexError) as error:
            raise damaged(self.folder) from error

    def passage(self, row: int) -> Passage:
        """The passage at a row."""
        block = int(self._block_rows.searchsorted(row, side="right")) - 1
        lines = self._lines(block)
        place = row - int(self._block_rows[block])
        if not 0 <= place < len(lines):
            raise damaged(self.folder)
        return self._parse(lines[place])

    def passages(self, start: int = 0, stop: int | None = None) -> Iterator[Passage]:
        """The passages from row ``start`` on, up to and without ``stop``."""
        stop = len(self) if stop is None else stop
        if start >= stop:
            return
        first = int(self._block_rows.searchsorted(start, side="right")) - 1
        for block in range(first, len(self._block_rows)):
            row = int(self._block_rows[block])
            if row >= stop:
                return
            lines = self._read_lines(block)
            for line in lines[max(start - row, 0) : stop - row]:
                yield self._parse(line)

    def _read_lines(self, block: int) -> list[bytes]:
        last = block + 1 == len(self._block_starts)
        end = len(self._bytes) if last else int(self._block_starts[block + 1])
        try:
            data: bytes = self._decompressor().decompress(bytes(self._bytes[int(self._block_starts[block]) : end]))
        except zstandard.ZstdError as error:
            raise damaged(self.folder) from error
        return data.splitlines()

    def _decompressor(self) -> zstandard.ZstdDecompressor:
        """That of the calling thread: two threads that share one make rubbish of each other's blocks."""
        found: zstandard.ZstdDecompressor | None = getattr(self._own, "decompressor", None)
        if found is None:
            found = self._own.decompressor = zstandard.ZstdDecompressor()
        return found

    def _parse(self, line: bytes) -> Passage:
        try:
            return Passage.from_json(orjson.loads(line))
        except (orjson.JSONDecodeError, KeyError, TypeError) as error:
            raise damaged(self.folder) from error


def damaged(path: Path) -> FailureError:
    """What to say of a file or folder of an index that cannot be what was written."""
    return FailureError(f"{path} is damaged: `longform info {path.parent}` says more.")


def map_file(path: Path, dtype: Any) -> NDArray[Any]:
    """The numbers in a file, read as they are used."""
    if path.stat().st_size == 0:
        return np.empty(0, dtype=dtype)
    # As a plain array: indexing a memmap costs several times as much.
    return np.asarray(np.memmap(path, dtype=dtype, mode="r"))
