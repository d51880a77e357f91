"""Plain text files: the characters as they are in the file."""

from __future__ import annotations

from collections.abc import Iterator

from longform.corpus.options import ReadOptions, Trouble
from longform.corpus.sources import Source
from longform.corpus.streams import decode_text, read_whole
from longform.records import Document

__all__ = ["read_plain"]


def read_plain(source: Source, options: ReadOptions, trouble: Trouble) -> Iterator[Document]:  # noqa: ARG001
    """One document with the file's text, newlines and all; a byte order mark is not part of it."""
    text = decode_text(source, read_whole(source))
    if text.strip():
        yield Document(source.path, source.stem, text)
