"""Rows of CSV and TSV files with a header, DPR's Wikipedia passages among them.

``psgs_w100.tsv`` (Karpukhin et al., 2020, https://github.com/facebookresearch/DPR) has the header
``id text title`` and CSV quoting; its rows are passages of 100 words already.
"""

from __future__ import annotations

import csv
import dataclasses
import sys
from collections.abc import Iterator

from longform.corpus.fields import Fields
from longform.corpus.options import ReadOptions, Trouble
from longform.corpus.sources import Source
from longform.corpus.streams import label, lines, opened, utf8_error
from longform.errors import InputError
from longform.records import Document, Passage

__all__ = ["read_table"]

_DPR = ["id", "text", "title"]

# One cell; a quote that is never closed would otherwise take the rest of the file into memory.
_MAX_CELL = 1 << 26


class _Lines:
    """Decoded lines for the csv module. Not a generator: it goes on after a line that is not UTF-8."""

    def __init__(self, source: Source, raw: Iterator[bytes]) -> None:
        self._source = source
        self._raw = raw
        self.number = 0
        self.at_end = False

    def __iter__(self) -> _Lines:
        return self

    def __next__(self) -> str:
        try:
            line = next(self._raw)
        except StopIteration:
            self.at_end = True
            raise
        self.number += 1
        try:
            text = line.decode()
        except UnicodeDecodeError:
            wrong = utf8_error(self._source, self.number, line)
            assert wrong is not None
            raise wrong from None
        if sys.version_info < (3, 11):
            return text.replace("\0", "\ufffd")  # csv could not read NUL until then
        return text


def read_table(source: Source, options: ReadOptions, trouble: Trouble) -> Iterator[Document | Passage]:
    """A record for each row; rows without any text are passed over."""
    csv.field_size_limit(_MAX_CELL)
    with opened(source) as stream:
        feed = _Lines(source, lines(source, stream))
        header_line = next(feed, "")
        delimiter = "\t" if source.format == "tsv" else _delimiter(header_line)
        try:
            columns = next(csv.reader([header_line], delimiter=delimiter), [])
        except csv.Error as error:
            raise InputError(f"{label(source)}:1: {_reason(error)}.") from None
        if not columns:
            return
        columns = [column.strip() for column in columns]
        options = _shaped(source, options, columns)
        fields = Fields(source, options)
        doubled = sorted({column for column in columns if columns.count(column) > 1})
        if doubled:
            raise InputError(f"{label(source)}:1: the header names '{doubled[0]}' twice.")
        fields.check_columns(columns)
        for number, cells in _rows(source, feed, delimiter, trouble):
            if len(cells) != len(columns):
                wrong = f"{label(source)}:{number}: {len(cells)} columns where the header has {len(columns)}."
                trouble.bad(InputError(wrong))
                continue
            try:
                record = fields.record(dict(zip(columns, cells, strict=True)), number)
            except InputError as error:
                trouble.bad(error)
                continue
            if record is not None:
                yield record


def _reason(error: csv.Error) -> str:
    """What the csv module found, in words for a person."""
    reason = str(error)
    if "field limit" in reason:
        return f"a cell is longer than {_MAX_CELL >> 20} MB; a quote may be left open"
    if "new-line character" in reason:
        return "a carriage return stands inside a row; save the file with ordinary line ends"
    return reason.rstrip(".")


def _rows(source: Source, feed: _Lines, delimiter: str, trouble: Trouble) -> Iterator[tuple[int, list[str]]]:
    """Each row that has cells, with the number of its first line."""
    reader = csv.reader(feed, delimiter=delimiter)
    while True:
        first = feed.number + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            trouble.bad(InputError(f"{label(source)}:{first}: {_reason(error)}."))
            continue
        except InputError as error:
            # Raised by the source itself, with no way on, unless it is about one line's encoding.
            if feed.number < first:
                raise
            trouble.bad(error)
            continue
        if feed.at_end:
            trouble.bad(InputError(f"{label(source)}:{first}: a quote in this row is never closed."))
            return
        if cells:
            yield first, cells


def _shaped(source: Source, options: ReadOptions, columns: list[str]) -> ReadOptions:
    """DPR's files hold passages; they are known by their header."""
    if options.shape == "dpr":
        if columns != _DPR:
            raise InputError(
                f"{label(source)}:1: not DPR's header: expected id, text, title; found {', '.join(columns)}."
            )
    elif options.shape != "auto" or source.format != "tsv" or columns != _DPR:
        return options
    return dataclasses.replace(options, passages=True)


def _delimiter(header: str) -> str:
    """Spreadsheets in half of Europe write semicolons into their comma-separated values."""
    return ";" if "," not in header and ";" in header else ","
