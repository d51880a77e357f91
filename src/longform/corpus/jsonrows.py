"""Rows of JSON: an object on each line, or one list of objects."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

import orjson

from longform.corpus.fields import Fields
from longform.corpus.kilt import is_kilt, kilt_document
from longform.corpus.options import ReadOptions, Trouble
from longform.corpus.sources import Source
from longform.corpus.streams import decode_text, label, lines, opened, read_whole, utf8_error
from longform.errors import InputError
from longform.records import Document, Passage

__all__ = ["read_json", "read_jsonl"]


def read_jsonl(source: Source, options: ReadOptions, trouble: Trouble) -> Iterator[Document | Passage]:
    """A record for each line; empty lines are passed over."""
    with opened(source) as stream:
        yield from _read_lines(source, stream, options, trouble)


def read_json(source: Source, options: ReadOptions, trouble: Trouble) -> Iterator[Document | Passage]:
    """A ``.json`` file: a list of objects, a single object over many lines, or lines as in JSONL."""
    with opened(source) as stream:
        head = stream.peek(1024).removeprefix(b"\xef\xbb\xbf").lstrip()
        # Pretty-printed JSON leaves the opening brace alone on its line.
        if not head.startswith(b"[") and head.split(b"\n", 1)[0].strip() != b"{":
            yield from _read_lines(source, stream, options, trouble)
            return
    data = read_whole(source).removeprefix(b"\xef\xbb\xbf")
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        decode_text(source, data)  # says so when it is the encoding that is broken
        where = f"{label(source)}:{error.lineno}"
        raise InputError(f"{where}: broken JSON at column {error.colno}: {error.msg}.") from None
    del data
    convert = _Converter(source, options)
    for number, row in enumerate(value if isinstance(value, list) else [value], 1):
        try:
            record = convert(row, number)
        except InputError as error:
            trouble.bad(error)
            continue
        if record is not None:
            yield record


def _read_lines(
    source: Source, stream: io.BufferedReader, options: ReadOptions, trouble: Trouble
) -> Iterator[Document | Passage]:
    convert = _Converter(source, options)
    loads = orjson.loads
    for number, line in enumerate(lines(source, stream), 1):
        try:
            record = convert(loads(line), number)
        except orjson.JSONDecodeError as error:
            if not line.strip():
                continue
            trouble.bad(
                utf8_error(source, number, line)
                or InputError(f"{label(source)}:{number}: broken JSON at column {error.colno}: {error.msg}.")
            )
            continue
        except InputError as error:
            trouble.bad(error)
            continue
        if record is not None:
            yield record


class _Converter:
    """Rows to records, KILT pages among them."""

    def __init__(self, source: Source, options: ReadOptions) -> None:
        self._label = label(source)
        self._record = Fields(source, options).record
        self._shape = options.shape
        self._passages = options.passages
        # Whoever names the text field wants that field.
        self._look_for_kilt = options.shape == "auto" and options.text_field is None

    def __call__(self, row: Any, line: int) -> Document | Passage | None:
        if type(row) is not dict:
            raise InputError(f"{self._label}:{line}: not a JSON object; every row is one.")
        if self._shape == "kilt" or (self._look_for_kilt and is_kilt(row)):
            return self._kilt(row, line)
        return self._record(row, line)

    def _kilt(self, row: dict[str, Any], line: int) -> Document | None:
        if self._passages:
            raise InputError(f"{self._label}:{line}: KILT rows are pages, not passages: read them as documents.")
        try:
            document = kilt_document(row)
        except ValueError as error:
            raise InputError(f"{self._label}:{line}: not a KILT page: {error}.") from None
        return document if document.text else None
