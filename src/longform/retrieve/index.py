"""The index: a folder that holds passages and finds them again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from longform.corpus.passages import DEFAULT_WORDS
from longform.errors import FailureError, InputError
from longform.progress import Progress, no_progress
from longform.records import Document, Hit, Passage
from longform.retrieve.bm25 import Bm25Searcher
from longform.retrieve.dense import DenseSearcher
from longform.retrieve.fusion import fuse
from longform.retrieve.keys import key_of
from longform.retrieve.manifest import Manifest, read_manifest
from longform.retrieve.order import ORDER
from longform.retrieve.ranking import Ranked
from longform.retrieve.store import PartReader, damaged, map_file
from longform.retrieve.transaction import read_deleted
from longform.retrieve.vectors import PassageEncoder, map_vectors

if TYPE_CHECKING:
    from longform.retrieve.build import Dense

__all__ = ["DEFAULT_K", "MODES", "Index"]

MODES = ("bm25", "dense", "hybrid")
DEFAULT_K = 10
# The fusion of two rankings looks this deep into each, or as deep as the answer is long.
_POOL = 100


class Index:
    """A collection of passages on disk, searchable by words (BM25), by meaning (dense), or both (hybrid).

    An opened index sees the state that was current when it was opened; :meth:`reload` moves on to the newest.

    >>> import tempfile
    >>> pages = [Document("a", "Ada Lovelace", "She wrote the first program."), Document("b", "Tea", "A hot drink.")]
    >>> index = Index.create(tempfile.mkdtemp() + "/my.index", pages)
    >>> [hit.passage.title for hit in index.search("Who wrote the first program?", k=1)]
    ['Ada Lovelace']
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self.manifest: Manifest
        self.reload()

    # Making and opening -------------------------------------------------------------------------------------------

    @classmethod
    def create(
        cls,
        folder: str | Path,
        items: Iterable[Document | Passage],
        *,
        words: int = DEFAULT_WORDS,
        dense: Dense | bool = False,
        overwrite: bool = False,
        on_bad: Callable[[InputError], None] | None = None,
        progress: Progress = no_progress,
    ) -> Index:
        """Make an index of documents, cut into passages of ``words`` words, and of passages, kept as they are.

        ``items`` may be any iterable; one from :func:`longform.read` lets an interrupted build go on where it
        stopped. ``dense=True`` also encodes the passages; a :class:`Dense` chooses the encoder and the method.
        Repeated ids raise, or go to ``on_bad`` where it is given.
        """
        from longform.retrieve.build import create

        create(Path(folder), items, words, dense, overwrite, on_bad, progress)
        return cls.open(folder)

    @classmethod
    def open(cls, folder: str | Path) -> Index:
        """Open an index to read it."""
        return cls(folder)

    def reload(self) -> None:
        """Move on to the newest state on disk."""
        for name in ("_dense", "encoder"):
            self.__dict__.pop(name, None)
        for attempt in range(5):
            self.manifest = read_manifest(self.folder)
            try:
                self._open_files()
                return
            except (FileNotFoundError, FailureError) as error:
                # A writer may have published twice since the manifest was read, and cleared the files it names away.
                if attempt < 4 and read_manifest(self.folder).generation != self.manifest.generation:
                    continue
                if isinstance(error, FailureError):
                    raise
                raise FailureError(
                    f"{self.folder} is damaged, {Path(error.filename).name} is missing: "
                    f"`longform info {self.folder}` says more."
                ) from error

    def _open_files(self) -> None:
        # All at once: the files of a state stay open when they are deleted, but can no longer be opened then.
        dense = self.manifest.dense
        self.parts = [PartReader(self.folder / part.name) for part in self.manifest.parts]
        for part, record in zip(self.parts, self.manifest.parts, strict=True):
            if len(part) != record.rows:
                raise damaged(part.folder)
        self.deleted = read_deleted(self.folder, self.manifest)
        self.first_rows = np.cumsum([0, *(len(part) for part in self.parts)])
        self._vectors = [map_vectors(part.folder, dense.fingerprint, dense.dimension) for part in self.parts if dense]
        for part, vectors in zip(self.parts, self._vectors, strict=False):
            if len(vectors) != len(part):
                raise damaged(part.folder)
        self._bm25 = Bm25Searcher(self.folder / self.manifest.bm25, self._identify)

    # Changing -----------------------------------------------------------------------------------------------------

    def add(
        self,
        items: Iterable[Document | Passage] = (),
        *,
        dense: Dense | bool = False,
        on_bad: Callable[[InputError], None] | None = None,
        progress: Progress = no_progress,
    ) -> None:
        """Add documents and passages.

        A document replaces the passages of the document with its id, a passage the passage with its id. ``dense``
        encodes an index that was not: without ``items``, only that.
        """
        from longform.retrieve.build import add

        add(self.folder, items, dense, on_bad, progress)
        self.reload()

    def remove(self, ids: Sequence[str], *, progress: Progress = no_progress) -> int:
        """Remove documents, or single passages, by their ids; returns how many passages went. All ids must exist."""
        from longform.retrieve.build import remove

        removed = remove(self.folder, ids, progress)
        self.reload()
        return removed

    def compact(self, *, progress: Progress = no_progress) -> None:
        """Rewrite the index without what was deleted: as small, and scored, as if it were built anew."""
        from longform.retrieve.build import compact

        compact(self.folder, progress)
        self.reload()

    # Reading ------------------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        """The number of passages."""
        return self.manifest.passages

    def __iter__(self) -> Iterator[Passage]:
        """All passages, in the order in which they were added."""
        for row, passage in self.rows():
            del row
            yield passage

    def rows(self, start: int = 0) -> Iterator[tuple[int, Passage]]:
        """All rows that were not deleted, from ``start`` on, with their passages."""
        gone = set(self.deleted.tolist())
        for first, part in zip(self.first_rows.tolist(), self.parts, strict=False):
            if first + len(part) <= start:
                continue
            skipped = max(start - first, 0)
            for row, passage in enumerate(part.passages(skipped), first + skipped):
                if row not in gone:
                    yield row, passage

    def __contains__(self, passage_id: object) -> bool:
        return isinstance(passage_id, str) and len(self.find(passage_id, of_document=False)) > 0

    def passage(self, passage_id: str) -> Passage:
        """The passage with an id."""
        for row in self.find(passage_id, of_document=False):
            return self.passage_at(int(row))
        raise InputError(f"{self.folder} has no passage {passage_id!r}.")

    def document(self, document_id: str) -> Document:
        """A document as far as its passages tell: they stand at their offsets, with blanks between them."""
        passages = [self.passage_at(int(row)) for row in self.find(document_id, of_document=True)]
        if not passages:
            raise InputError(f"{self.folder} has no document {document_id!r}.")
        text = [" "] * max(passage.end for passage in passages)
        for passage in passages:
            text[passage.start : passage.end] = passage.text
        return Document(document_id, passages[0].title, "".join(text))

    def find(self, identifier: str, *, of_document: bool) -> NDArray[np.int64]:
        """The rows of a passage id, or of a document id, that were not deleted."""
        key = np.uint64(key_of(identifier))
        found = [
            np.flatnonzero((part.document_keys if of_document else part.keys) == key) + first
            for first, part in zip(self.first_rows.tolist(), self.parts, strict=False)
        ]
        rows = np.concatenate(found) if found else np.empty(0, dtype=np.int64)
        return np.setdiff1d(rows, self.deleted.astype(np.int64))

    def passage_at(self, row: int) -> Passage:
        """The passage at a row."""
        part, inside = self._locate(row)
        return part.passage(inside)

    def id_at(self, row: int) -> str:
        """The id of the passage at a row, without reading the passage."""
        part, inside = self._locate(row)
        return part.id(inside)

    @property
    def _identify(self) -> Callable[[int], Any]:
        """What ties are ordered by: the place in the order of ids where one part has them all, else the ids."""
        if len(self.parts) != 1:
            return self.id_at
        order = self.folder / self.manifest.parts[0].name / ORDER
        if order.exists() and order.stat().st_size == 4 * len(self.parts[0]):
            return map_file(order, np.dtype("<u4")).data.__getitem__
        return self.parts[0].id

    def _locate(self, row: int) -> tuple[PartReader, int]:
        if len(self.parts) == 1:
            return self.parts[0], row
        place = int(self.first_rows.searchsorted(row, side="right")) - 1
        return self.parts[place], row - int(self.first_rows[place])

    # Searching ----------------------------------------------------------------------------------------------------

    @cached_property
    def _dense(self) -> DenseSearcher:
        dense = self.manifest.dense
        if dense is None:
            raise InputError(
                f"{self.folder} has no vectors: `longform add {self.folder} --dense` makes them, or search with bm25."
            )
        file = None if dense.file is None else self.folder / dense.file
        return DenseSearcher(self._vectors, self.deleted, file, self._identify)

    @cached_property
    def encoder(self) -> PassageEncoder:
        """The encoder of the passages, for questions; another one than theirs is refused."""
        from longform.models import Encoder

        dense = self.manifest.dense
        if dense is None:
            raise InputError(f"{self.folder} has no vectors, so it has no encoder.")
        encoder = Encoder.load(dense.encoder)
        if encoder.fingerprint != dense.fingerprint:
            raise InputError(
                f"The encoder {dense.encoder} has changed since {self.folder} was encoded: "
                f"`longform add {self.folder} --dense` encodes it anew."
            )
        return encoder

    @property
    def default_mode(self) -> str:
        """``hybrid`` where there are vectors, else ``bm25``."""
        return "bm25" if self.manifest.dense is None else "hybrid"

    @overload
    def search(
        self,
        questions: str,
        k: int | None = None,
        mode: str | None = None,
        *,
        fusion: str = "rrf",
        dense_weight: float = 0.5,
        progress: Progress = no_progress,
    ) -> list[Hit]: ...

    @overload
    def search(
        self,
        questions: list[str] | tuple[str, ...],
        k: int | None = None,
        mode: str | None = None,
        *,
        fusion: str = "rrf",
        dense_weight: float = 0.5,
        progress: Progress = no_progress,
    ) -> list[list[Hit]]: ...

    def search(
        self,
        questions: str | list[str] | tuple[str, ...],
        k: int | None = None,
        mode: str | None = None,
        *,
        fusion: str = "rrf",
        dense_weight: float = 0.5,
        progress: Progress = no_progress,
    ) -> list[Hit] | list[list[Hit]]:
        """The ``k`` best passages for a question, best first; for several questions a list of such lists.

        Without ``k`` it is 10, or all where the index holds fewer. Fewer than ``k`` come back where fewer share a
        word with the question (``bm25``).
        """
        if isinstance(questions, str):
            return self.search([questions], k, mode, fusion=fusion, dense_weight=dense_weight, progress=progress)[0]
        ranked = self.rank(questions, k, mode, fusion=fusion, dense_weight=dense_weight, progress=progress)
        return [self._hits(rankings) for rankings in ranked]

    def _hits(self, rankings: dict[str, list[Ranked]]) -> list[Hit]:
        final = list(rankings.values())[-1]
        scores = {name: dict(ranking) for name, ranking in rankings.items()}
        return [
            Hit(
                self.passage_at(item.row),
                rank,
                item.score,
                {name: stage[item.row] for name, stage in scores.items() if item.row in stage},
            )
            for rank, item in enumerate(final, 1)
        ]

    def rank(
        self,
        questions: Sequence[str],
        k: int | None = None,
        mode: str | None = None,
        *,
        fusion: str = "rrf",
        dense_weight: float = 0.5,
        progress: Progress = no_progress,
    ) -> list[dict[str, list[Ranked]]]:
        """As :meth:`search`, in rows instead of passages: for every question the ranking of each stage, final last."""
        mode = mode or self.default_mode
        if k is None:
            k = min(DEFAULT_K, len(self))
        self._check(questions, k, mode)
        pool = k if mode != "hybrid" else min(max(k, _POOL), len(self))
        rankings: list[dict[str, list[Ranked]]] = [{} for _ in questions]
        if mode != "dense":
            for done, question in enumerate(questions):
                progress("searching", done, len(questions))
                rankings[done]["bm25"] = self._bm25.search(question, pool)
        if mode != "bm25":
            searcher = self._dense
            vectors = self.encoder.encode_questions(list(questions))
            for done, ranking in enumerate(searcher.search(vectors, pool)):
                rankings[done]["dense"] = ranking
        if mode == "hybrid":
            for stages in rankings:
                stages["hybrid"] = fuse(stages, k, self.id_at, method=fusion, dense_weight=dense_weight)
        progress("searching", len(questions), len(questions))
        return rankings

    def _check(self, questions: Sequence[str], k: int, mode: str) -> None:
        if mode not in MODES:
            raise InputError(f"There is no mode {mode!r}: choose one of {', '.join(MODES)}.")
        if not len(self):
            raise InputError(f"{self.folder} holds no passages: `longform add {self.folder} DOCS` adds some.")
        if k < 1:
            raise InputError(f"k must be at least 1, and {k} is not.")
        if k > len(self):
            raise InputError(f"k is {k}, but {self.folder} holds {len(self)} passages: ask for at most {len(self)}.")
        for number, question in enumerate(questions, 1):
            if not question.strip():
                which = f"Question {number} of {len(questions)}" if len(questions) > 1 else "The question"
                raise InputError(f"{which} is empty.")
            if not _is_unicode(question):
                raise InputError("A question is not valid Unicode: is the terminal set to UTF-8?")


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
