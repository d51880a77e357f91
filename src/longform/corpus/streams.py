"""Bytes and lines out of files, plain or compressed, with every way they can break told in one sentence."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import BinaryIO, cast

from longform.corpus.sources import STDIN, Source
from longform.errors import InputError, reason_of

__all__ = ["MAX_LINE", "MAX_WHOLE", "decode_text", "label", "lines", "opened", "read_whole", "utf8_error"]

MAX_LINE = 1 << 28
"""Bytes in one line of rows; more than this is a file that has no lines, not a long row."""

MAX_WHOLE = 1 << 29
"""Bytes in a file that becomes one document and so must fit in memory."""

_BUFFER = 1 << 18


class _Chunks(io.RawIOBase):
    """A decompressor as a raw stream, so that lines are cut by the buffered reader in C.

    ``read1`` hands out what one step has decompressed: when the file turns out to be cut off, everything
    before the cut has been read.
    """

    def __init__(self, file: gzip.GzipFile | bz2.BZ2File | lzma.LZMAFile) -> None:
        self._file = file

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        data = self._file.read1(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self._file.close()
        super().close()


def label(source: Source) -> str:
    """The source's name in messages and ids: its path, or ``stdin``."""
    return "stdin" if source.path == STDIN else source.path


@contextmanager
def opened(source: Source) -> Iterator[io.BufferedReader]:
    """The source's bytes, decompressed. What goes wrong while it is open is raised as an InputError."""
    name = label(source)
    try:
        with _open(source) as stream:
            yield stream
    except EOFError:
        raise InputError(f"{name} is cut off: the {source.compression} data end too early.") from None
    except (gzip.BadGzipFile, zlib.error, lzma.LZMAError) as error:
        raise InputError(f"{name} is not valid {source.compression} data: {_sentence(error)}.") from None
    except OSError as error:
        # bz2 reports broken data as an OSError without a number.
        if error.errno is None and source.compression:
            raise InputError(f"{name} is not valid {source.compression} data: {_sentence(error)}.") from None
        raise InputError(f"{name} cannot be read: {reason_of(error)}.") from None


def _open(source: Source) -> io.BufferedReader:
    if source.path == STDIN:
        if sys.stdin is None:
            raise InputError("Standard input is closed: pipe JSONL into it, or name files.")
        # Closing the copy leaves the process's own stdin open.
        return io.BufferedReader(cast(io.RawIOBase, _Unclosed(sys.stdin.buffer)), _BUFFER)
    if source.compression == "gz":
        return io.BufferedReader(_Chunks(gzip.GzipFile(source.file)), _BUFFER)
    if source.compression == "bz2":
        return io.BufferedReader(_Chunks(bz2.BZ2File(source.file)), _BUFFER)
    if source.compression == "xz":
        return io.BufferedReader(_Chunks(lzma.LZMAFile(source.file)), _BUFFER)
    return io.BufferedReader(io.FileIO(source.file), _BUFFER)


class _Unclosed(io.RawIOBase):
    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        read = getattr(self._stream, "read1", self._stream.read)
        data: bytes = read(len(buffer))
        buffer[: len(data)] = data
        return len(data)


def lines(source: Source, stream: io.BufferedReader) -> Iterator[bytes]:
    """The stream's lines with their ends, the first without a byte order mark."""
    first = True
    for line in iter(partial(stream.readline, MAX_LINE), b""):
        if first:
            line = line.removeprefix(b"\xef\xbb\xbf")
            first = False
        if len(line) >= MAX_LINE:
            raise InputError(
                f"{label(source)} has a line longer than {MAX_LINE >> 20} MB: it must hold one row per line."
            )
        yield line


def read_whole(source: Source) -> bytes:
    """The whole file, for formats that are one document."""
    with opened(source) as stream:
        data = stream.read(MAX_WHOLE + 1)
    if len(data) > MAX_WHOLE:
        raise InputError(
            f"{label(source)} is larger than {MAX_WHOLE >> 20} MB, too much for one document: "
            "split it, or give its parts as rows of a .jsonl file."
        )
    return data


def decode_text(source: Source, data: bytes) -> str:
    """The characters of a text file: UTF-8, or UTF-16 with a byte order mark; newlines as they are."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        try:
            return data.decode("utf-16")
        except UnicodeDecodeError as error:
            raise InputError(f"{label(source)} is not valid UTF-16 at byte {error.start}.") from None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        # "utf-8-sig" counts from behind the mark.
        start = error.start + (3 if data.startswith(b"\xef\xbb\xbf") else 0)
        line = data.count(b"\n", 0, start) + 1
        raise InputError(
            f"{label(source)}:{line}: not UTF-8 at byte {start} of the file; save the file as UTF-8."
        ) from None


def utf8_error(source: Source, line: int, data: bytes) -> InputError | None:
    """What to say when ``data``, the bytes of a line, are not UTF-8; None when they are."""
    try:
        data.decode()
    except UnicodeDecodeError as error:
        return InputError(
            f"{label(source)}:{line}: not UTF-8 at byte {error.start} of the line; save the file as UTF-8."
        )
    return None


def _sentence(error: Exception) -> str:
    text = str(error).rstrip(".")
    return text[:1].lower() + text[1:]
