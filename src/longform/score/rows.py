"""Rows of JSONL files, plain or gzipped, with every way they can break told in one sentence."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

from longform.errors import InputError, reason_of

__all__ = ["json_rows"]


def json_rows(path: str | Path) -> Iterator[dict[str, Any]]:
    """The objects of a file with one on each line; blank lines are passed over.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "p.jsonl"
    >>> _ = file.write_text('{"id": "1"}')
    >>> list(json_rows(file))
    [{'id': '1'}]
    """
    path = Path(path)
    try:
        with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if not line.strip():
                    continue
                try:
                    row = orjson.loads(line)
                except orjson.JSONDecodeError as error:
                    raise InputError(f"{path}:{number}: broken JSON ({error.msg}).") from None
                if not isinstance(row, dict):
                    raise InputError(f"{path}:{number}: the line is not a JSON object.")
                yield row
    except OSError as error:
        raise InputError(f"{path} cannot be read: {reason_of(error)}.") from None
    except (EOFError, zlib.error):
        raise InputError(f"{path} is cut off, or not a gzip file.") from None
