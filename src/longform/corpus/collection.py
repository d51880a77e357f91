"""A collection: the documents and passages of some sources, in order, readable again from the middle."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace
from itertools import islice

from longform.corpus.read import ReadOptions, read_documents
from longform.corpus.sources import Sources, find_sources
from longform.errors import InputError
from longform.records import Document, Passage

__all__ = ["Collection", "read"]


class Collection:
    """What the files, folders and globs of a user hold.

    Iterating gives documents and passages; each iteration reads the files anew. ``fingerprint`` changes when the
    files, their order or the way to read them change; it is ``None`` for standard input, which can be read only once.
    """

    def __init__(
        self, sources: Sources, options: ReadOptions, on_bad: Callable[[InputError], None] | None = None
    ) -> None:
        self.sources, self.options, self._on_bad = sources, options, on_bad

    @property
    def skipped(self) -> Counter[str]:
        """How many files of each unknown type the folders held."""
        return self.sources.skipped

    @property
    def fingerprint(self) -> str | None:
        """A hash over names, sizes and times of the files and over the reading options."""
        if any(source.path == "-" for source in self.sources.files):
            return None
        # Reading on past bad rows changes nothing about the good ones before them.
        options = asdict(replace(self.options, skip_bad=False))
        seen = [(source.path, source.format, source.size, source.mtime_ns) for source in self.sources.files]
        return hashlib.sha256(repr((seen, sorted(options.items()))).encode()).hexdigest()

    def __iter__(self) -> Iterator[Document | Passage]:
        return (item for _, item in self.items((0, 0)))

    def items(self, after: tuple[int, int]) -> Iterator[tuple[tuple[int, int], Document | Passage]]:
        """The items after a position, each with its own: the number of its source, and its number in there, from 1."""
        first, done = after
        for number in range(first, len(self.sources.files)):
            documents = read_documents(self.sources.files[number], self.options, self._on_bad)
            skip = done if number == first else 0
            for count, item in enumerate(islice(documents, skip, None), skip + 1):
                yield (number, count), item


def read(
    *arguments: str,
    options: ReadOptions | None = None,
    on_bad: Callable[[InputError], None] | None = None,
) -> Collection:
    """Read documents from files, folders and globs; ``-`` is JSONL on standard input.

    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "tea.txt").write_text("Tea is a drink.")
    >>> [document.title for document in read(str(folder))]
    ['tea']
    """
    return Collection(find_sources(_as_list(arguments)), options or ReadOptions(), on_bad)


def _as_list(arguments: Sequence[str]) -> list[str]:
    if not arguments:
        raise InputError("Nothing to read: name files, folders, globs, or - for JSONL on standard input.")
    return list(arguments)
