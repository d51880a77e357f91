"""BM25 on tantivy: the title and the text of a passage as one field, analysed for English.

Scores are those of Lucene with tantivy's constants, k1 = 1.2 and b = 0.75. The analyser (``en_stem``) cuts at
everything that is not a letter or a digit, lower-cases, drops tokens of more than 40 bytes and stems with Snowball's
English stemmer. It keeps every word of the passages; from questions, the words that only ask and the stop words that
are never worth searching for are dropped.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

import tantivy

from longform.files import link_or_copy
from longform.records import Passage
from longform.retrieve.ranking import Ranked, as_ranked, best_rows
from longform.retrieve.store import damaged
from longform.text import FUNCTION_WORDS, QUESTION_WORDS

__all__ = ["ANALYSER", "K1", "B", "Bm25Searcher", "Bm25Writer"]

K1, B, ANALYSER = 1.2, 0.75, "en_stem"
_BODY, _ROW = "body", "row"
_HEAP_BYTES = 256_000_000
_UNUSED = FUNCTION_WORDS | QUESTION_WORDS


def _schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    # Frequencies without positions: BM25 needs no more.
    builder.add_text_field(_BODY, stored=False, tokenizer_name=ANALYSER, index_option="freq")
    builder.add_unsigned_field(_ROW, stored=False, indexed=True, fast=True)
    return builder.build()


class Bm25Writer:
    """Adds rows to, and deletes rows from, a tantivy folder of its own.

    ``base`` is the folder of the state before; its files never change, so the new folder begins as links to them.
    """

    def __init__(self, folder: Path, base: Path | None) -> None:
        if not (folder / "meta.json").exists():
            _begin(folder, base)
        self.folder = folder
        self._index = tantivy.Index(_schema(), path=str(folder))
        self._writer = self._index.writer(heap_size=_HEAP_BYTES)
        self._uncommitted = False

    def rows_from(self, first: int) -> int:
        """How many rows from ``first`` on have been committed."""
        self._index.reload()
        searcher = self._index.searcher()
        query = tantivy.Query.range_query(_schema(), _ROW, tantivy.FieldType.Unsigned, lower_bound=first)
        # The count is there, but missing from tantivy's type stubs.
        return int(getattr(searcher.search(query, limit=1, count=True), "count"))  # noqa: B009

    def add(self, first: int, passages: Iterable[Passage]) -> None:
        """Add passages as the rows ``first``, ``first + 1``, …"""
        add_document = self._writer.add_document
        for row, passage in enumerate(passages, first):
            document = tantivy.Document()
            document.add_text(_BODY, f"{passage.title}\n{passage.text}")
            document.add_unsigned(_ROW, row)
            add_document(document)
            self._uncommitted = True

    def delete(self, rows: Iterable[int]) -> None:
        """Delete rows that were committed before."""
        # By query: deleting by term takes the number for a signed one, and silently finds nothing.
        for batch in _batches(rows, 10_000):
            self._writer.delete_documents_by_query(tantivy.Query.term_set_query(_schema(), _ROW, batch))
            self._uncommitted = True

    def commit(self) -> None:
        """Make everything so far durable."""
        if self._uncommitted:
            self._writer.commit()
            self._uncommitted = False

    def finish(self) -> None:
        """Commit, wait for the merging of segments, and let go of the folder."""
        self.commit()
        self._writer.wait_merging_threads()

    def abandon(self) -> None:
        """Let go of the folder without keeping what was not committed."""
        self._writer.rollback()
        self._writer.wait_merging_threads()


def _batches(rows: Iterable[int], size: int) -> Iterator[list[int]]:
    remaining = iter(rows)
    while batch := list(islice(remaining, size)):
        yield batch


def _begin(folder: Path, base: Path | None) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for leftover in folder.iterdir():
        leftover.unlink()
    if base is None:
        return
    # meta.json comes last: it is what makes the folder an index.
    names = sorted(
        (path.name for path in base.iterdir() if not path.name.endswith(".lock")),
        key=lambda n: n == "meta.json",
    )
    for name in names:
        link_or_copy(base / name, folder / name)


@contextmanager
def _damage_told(folder: Path) -> Iterator[None]:
    try:
        yield
    except BaseException as error:
        # Over some damage tantivy panics, and a panic is not an Exception.
        if isinstance(error, (ValueError, OSError)) or type(error).__name__ == "PanicException":
            raise damaged(folder) from error
        raise


def _open(folder: Path) -> tantivy.Index:
    try:
        index = tantivy.Index.open(str(folder))
        index.config_reader(reload_policy="manual")
        return index
    except ValueError as error:
        if "Lockfile" not in str(error):
            raise
    # tantivy wants to lock what it opens, in the folder itself. Where that may not be written to, it gets a folder of
    # links; the files stay open when the links go.
    with TemporaryDirectory(prefix="longform-") as links:
        for path in folder.iterdir():
            if not path.name.endswith(".lock"):
                Path(links, path.name).symlink_to(path.absolute())
        index = tantivy.Index.open(links)
        index.config_reader(reload_policy="manual")
        return index


class Bm25Searcher:
    """Searches a finished tantivy folder.

    ``identify`` gives the id of a row: rows of the same score are ordered by it.
    """

    def __init__(self, folder: Path, identify: Callable[[int], Any]) -> None:
        self._folder, self._identify = folder, identify
        with _damage_told(folder):
            index = _open(folder)
            self._schema = index.schema
            self._searcher = index.searcher()
        self._analyser = (
            tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
            .filter(tantivy.Filter.remove_long(40))
            .filter(tantivy.Filter.lowercase())
            .build()
        )
        self._stemmer = (
            tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.raw()).filter(tantivy.Filter.stemmer("english")).build()
        )

    def __len__(self) -> int:
        """How many rows are there and not deleted."""
        return self._searcher.num_docs

    def terms(self, question: str) -> list[str]:
        """The stems that a question is searched by.

        Stop words and question words are dropped, unless there is nothing else ("Who are The Who?").
        """
        words = self._analyser.analyze(question)
        kept = [word for word in words if word not in _UNUSED] or words
        return [stem for word in kept for stem in self._stemmer.analyze(word)]

    def search(self, question: str, k: int) -> list[Ranked]:
        """The ``k`` best rows for a question, best first; fewer where fewer share a word with it."""
        terms = Counter(self.terms(question))
        if not terms:
            return []
        query = tantivy.Query.boolean_query([(tantivy.Occur.Should, self._term(*item)) for item in terms.items()])
        return best_rows(lambda limit: self._fetch(query, limit), k, self._identify)

    def _fetch(self, query: tantivy.Query, limit: int) -> list[Ranked]:
        with _damage_told(self._folder):
            hits = self._searcher.search(query, limit=limit, count=False).hits
            rows = self._searcher.fast_field_values(_ROW, [address for _, address in hits])
        if None in rows:
            raise damaged(self._folder)
        return as_ranked(cast(list[int], rows), [score for score, _ in hits])

    def _term(self, term: str, times: int) -> tantivy.Query:
        query = tantivy.Query.term_query(self._schema, _BODY, term, index_option="freq")
        return query if times == 1 else tantivy.Query.boost_query(query, float(times))
