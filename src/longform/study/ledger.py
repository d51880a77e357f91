"""A file of JSON lines that only grows: each line is on disk before the next is begun, and a kill costs at most one."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO

import orjson

from longform.errors import FailureError
from longform.files import sync_folder

__all__ = ["Ledger", "read_ledger"]


class Ledger:
    """Lines by their ``key``, to be read and added to by one process at a time; the caller holds a lock.

    A last line that was cut off by a kill is removed. Any other line that is broken is a damaged file, and is named.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "items.jsonl"
    >>> with Ledger(path) as ledger:
    ...     ledger.append({"id": "a", "n": 1})
    >>> _ = path.write_bytes(path.read_bytes() + b'{"id": "b", "n"')
    >>> with Ledger(path) as ledger:
    ...     list(ledger.rows)
    ['a']
    """

    def __init__(self, path: Path, key: str | None = "id") -> None:
        self.path, self._key = path, key
        self.rows: dict[str, dict[str, Any]] = {}
        self._file: BinaryIO | None = None

    def __enter__(self) -> Ledger:
        new = not self.path.exists()
        self.rows, end = _whole(self.path, self._key)
        self._file = self.path.open("r+b" if not new else "wb")
        if self._file.seek(0, os.SEEK_END) != end:
            # Only then: a finished file keeps its time.
            self._file.truncate(end)
            self._file.seek(end)
        if new:
            sync_folder(self.path.parent)
        return self

    def append(self, row: Mapping[str, Any]) -> None:
        """Add a line; it is durable when this returns."""
        assert self._file is not None, "a ledger is opened with `with`"
        line = orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE)
        identifier = str(row[self._key]) if self._key else str(len(self.rows) + 1)
        assert identifier not in self.rows, f"{identifier} is done already"
        self._file.write(line)
        self._file.flush()
        os.fsync(self._file.fileno())
        self.rows[identifier] = orjson.loads(line)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None


def read_ledger(path: Path, key: str | None = "id") -> dict[str, dict[str, Any]]:
    """The whole lines of a ledger that another process may be writing; nothing is changed."""
    return _whole(path, key)[0]


def _whole(path: Path, key: str | None) -> tuple[dict[str, dict[str, Any]], int]:
    """The rows, and the byte behind the last whole line."""
    if not path.exists():
        return {}, 0
    rows: dict[str, dict[str, Any]] = {}
    end = 0
    lines = path.read_bytes().split(b"\n")
    # What stands behind the last line break was cut off, or is nothing.
    for number, line in enumerate(lines[:-1], 1):
        try:
            row = orjson.loads(line)
            identifier = str(row[key]) if key else str(number)
            broken = not isinstance(row, dict) or identifier in rows
        except (orjson.JSONDecodeError, KeyError, TypeError):
            broken = True
        if broken and number == len(lines) - 1 and not lines[-1]:
            break  # a line whose bytes a power cut kept from the disk
        if broken:
            raise FailureError(f"{path}, line {number}, is damaged: remove that line, and what it held is made again.")
        rows[identifier] = row
        end += len(line) + 1
    return rows, end
