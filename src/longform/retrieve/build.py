"""The changes of an index: create, add, remove, compact."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, cast, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from longform.corpus.passages import cut_passages
from longform.errors import FailureError, InputError
from longform.progress import Progress
from longform.records import Document, Passage
from longform.retrieve.dense import METHODS
from longform.retrieve.index import Index
from longform.retrieve.manifest import MANIFEST, PENDING, DenseSettings, Manifest, check_name, read_manifest
from longform.retrieve.store import Entry, PartReader
from longform.retrieve.transaction import Transaction, is_leftover
from longform.retrieve.vectors import PassageEncoder, map_vectors, vectors_name
from longform.retrieve.writing import LOCK, writing

__all__ = ["Dense", "Resumable", "add", "compact", "create", "remove"]

Item = Document | Passage
OnBad = Callable[[InputError], None]
_BATCH = 1000


@dataclass(frozen=True)
class Dense:
    """Which encoder to use (a shipped name, a folder, a hub name), and how to search its vectors.

    ``method`` is ``exact``, ``ivf``, or ``None`` for Longform's choice by size.
    """

    encoder: str = "encoder"
    method: str | None = None

    def __post_init__(self) -> None:
        if self.method is not None and self.method not in METHODS:
            raise InputError(f"There is no dense method {self.method!r}: choose one of {', '.join(METHODS)}.")


@runtime_checkable
class Resumable(Protocol):
    """Inputs that can be taken up again in the middle: :func:`longform.read` returns such."""

    @property
    def fingerprint(self) -> str | None: ...

    def items(self, after: tuple[int, int]) -> Iterator[tuple[tuple[int, int], Item]]: ...


def create(
    folder: Path,
    items: Iterable[Item],
    words: int,
    dense: Dense | bool,
    overwrite: bool,
    on_bad: OnBad | None,
    progress: Progress,
) -> None:
    """Make an index; see :meth:`Index.create`."""
    if words < 1:
        raise InputError(f"Passages must hold at least 1 word, and {words} is not.")
    _check_place(folder)
    fingerprint = _fingerprint("create", items, words)
    existed = folder.exists()
    with writing(folder), _forgotten_if_empty(folder, existed):
        current = _current(folder, overwrite)
        encoder, settings = _load_dense(dense, None)
        if current is not None and not overwrite:
            if fingerprint is not None and current.fingerprint == fingerprint and _has_vectors(current, settings):
                return
            raise InputError(
                f"{folder} already holds an index: `longform add` adds to it, `--overwrite` replaces it, "
                "and `-o` names another place."
            )
        transaction = Transaction(folder, current, None, fingerprint=fingerprint, words=words, progress=progress)
        try:
            _append_all(transaction, items, words, on_bad, progress)
            if transaction.appended == 0:
                raise InputError("There is no text in what was given: nothing to index.")
            transaction.publish(np.empty(0, dtype=np.uint64), encoder, settings)
        except BaseException:
            transaction.close()
            raise


def add(folder: Path, items: Iterable[Item], dense: Dense | bool, on_bad: OnBad | None, progress: Progress) -> None:
    """Add to an index; see :meth:`Index.add`."""
    read_manifest(folder)
    with writing(folder):
        current = read_manifest(folder)
        encoder, settings = _load_dense(dense, current)
        fingerprint = _fingerprint("add", items, current.words)
        transaction = Transaction(
            folder, current, current, fingerprint=fingerprint, words=current.words, progress=progress
        )
        try:
            _append_all(transaction, items, current.words, on_bad, progress)
            if transaction.appended == 0 and not dense:
                raise InputError("There is no text in what was given: nothing to add.")
            transaction.checkpoint()
            transaction.publish(_replaced_rows(Index(folder), transaction.appended_part()), encoder, settings)
        except BaseException:
            transaction.close()
            raise


def remove(folder: Path, ids: Iterable[str], progress: Progress) -> int:
    """Remove documents or passages; see :meth:`Index.remove`. Returns the number of passages removed."""
    read_manifest(folder)
    with writing(folder):
        current, index = read_manifest(folder), Index(folder)
        rows, missing = [], []
        for identifier in ids:
            found = index.find(identifier, of_document=True)
            if not len(found):
                found = index.find(identifier, of_document=False)
            rows.append(found)
            if not len(found):
                missing.append(identifier)
        if missing:
            others = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
            raise InputError(f"{folder} has no document {missing[0]!r}{others}: nothing was removed.")
        deleted = np.unique(np.concatenate(rows)).astype(np.uint64) if rows else np.empty(0, dtype=np.uint64)
        transaction = Transaction(folder, current, current, fingerprint=None, words=current.words, progress=progress)
        try:
            transaction.publish(deleted, None, current.dense)
        except BaseException:
            transaction.close()
            raise
        return len(deleted)


def compact(folder: Path, progress: Progress) -> None:
    """Rewrite an index without its deleted rows; see :meth:`Index.compact`."""
    read_manifest(folder)
    with writing(folder):
        index = Index(folder)
        current = index.manifest
        transaction = Transaction(
            folder,
            current,
            None,
            fingerprint=f"compact {current.generation}",
            words=current.words,
            progress=progress,
        )
        try:
            _append_all(transaction, _Rows(index), current.words, None, progress)
            encoder, settings = _load_dense(False, current)
            transaction.publish(
                np.empty(0, dtype=np.uint64), encoder, settings, lambda part: _copy_vectors(index, part)
            )
        except BaseException:
            transaction.close()
            raise


@dataclass(frozen=True)
class _Rows:
    """The rows of an index as inputs of another."""

    index: Index

    @property
    def fingerprint(self) -> str:
        return ""

    def __iter__(self) -> Iterator[Item]:
        return iter(self.index)

    def items(self, after: tuple[int, int]) -> Iterator[tuple[tuple[int, int], Item]]:
        for row, passage in self.index.rows(after[1]):
            yield (0, row + 1), passage


def _copy_vectors(index: Index, part: Path) -> None:
    dense = index.manifest.dense
    if dense is None:
        return
    with (part / vectors_name(dense.fingerprint)).open("wb") as file:
        for first, reader in zip(index.first_rows, index.parts, strict=False):
            vectors = map_vectors(reader.folder, dense.fingerprint, dense.dimension)
            alive = np.setdiff1d(np.arange(len(reader)), index.deleted.astype(np.int64) - first)
            for start in range(0, len(alive), 65_536):
                file.write(vectors[alive[start : start + 65_536]].tobytes())


def _current(folder: Path, overwrite: bool) -> Manifest | None:
    """The state that is there, if any; that it is damaged must not keep it from being replaced."""
    if not (folder / MANIFEST).exists():
        return None
    try:
        return read_manifest(folder)
    except FailureError:
        if overwrite:
            return None
        raise


def _has_vectors(current: Manifest, wanted: DenseSettings | None) -> bool:
    """Whether an index has the vectors that are wanted, and searches them as is wanted."""
    if wanted is None:
        return True
    dense = current.dense
    same_method = dense is not None and (wanted.automatic or wanted.method == dense.method)
    return dense is not None and dense.fingerprint == wanted.fingerprint and same_method


def _check_place(folder: Path) -> None:
    check_name(folder)
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file: choose another place for the index with -o.")
    if folder.is_dir() and not (folder / MANIFEST).exists() and not (folder / PENDING).exists():
        others = [path.name for path in folder.iterdir() if path.name != LOCK and not is_leftover(path.name)]
        if others:
            raise InputError(
                f"{folder} is not empty and not an index (it holds {min(others)}): choose another place with -o."
            )


@contextmanager
def _forgotten_if_empty(folder: Path, existed: bool) -> Iterator[None]:
    """Remove the folder that a failed build made, if nothing in it is worth keeping."""
    try:
        yield
    finally:
        if not existed and {path.name for path in folder.iterdir()} <= {LOCK}:
            (folder / LOCK).unlink(missing_ok=True)
            folder.rmdir()


def _fingerprint(kind: str, items: Iterable[Item], words: int) -> str | None:
    if isinstance(items, Resumable) and items.fingerprint is not None:
        return f"{kind} {words} {items.fingerprint}"
    return None


def _load_dense(wanted: Dense | bool, current: Manifest | None) -> tuple[PassageEncoder | None, DenseSettings | None]:
    """The encoder to use and the settings to keep, from what was asked for and what the index has."""
    before = current.dense if current else None
    if wanted is False and before is None:
        return None, None
    from longform.models import Encoder

    if isinstance(wanted, Dense):
        choice = wanted
    elif before is not None:
        choice = Dense(before.encoder, None if before.automatic else before.method)
    else:
        choice = Dense()
    encoder = Encoder.load(choice.encoder)
    if wanted is False and before is not None and encoder.fingerprint != before.fingerprint:
        raise InputError(
            f"The encoder {before.encoder} has changed since the index was encoded: "
            "`longform add INDEX --dense` encodes it anew."
        )
    settings = DenseSettings(
        choice.encoder,
        encoder.fingerprint,
        encoder.dimension,
        choice.method or "exact",
        choice.method is None,
    )
    return cast(PassageEncoder, encoder), settings


def _append_all(
    transaction: Transaction, items: Iterable[Item], words: int, on_bad: OnBad | None, progress: Progress
) -> None:
    """Append the passages of all inputs that an earlier process has not appended already."""
    batch: list[Entry] = []

    def on_repeat(entry: Entry) -> None:
        kind, name = ("document", entry.passage.document) if entry.cut else ("passage", entry.passage.id)
        error = InputError(f"The id {name!r} occurs twice: every {kind} needs an id of its own.")
        if on_bad is None:
            raise error
        on_bad(error)

    def flush(position: tuple[int, int]) -> None:
        transaction.append(batch, on_repeat)
        transaction.position = position
        batch.clear()
        progress("indexing", transaction.appended)

    position = transaction.position
    for position, item in _positioned(items, transaction.position):
        if isinstance(item, Passage):
            batch.append(Entry(item, cut=False))
        else:
            batch.extend(Entry(passage, cut=True) for passage in cut_passages(item, words))
        if len(batch) >= _BATCH:
            flush(position)
            if transaction.checkpoint_due():
                transaction.checkpoint()
    flush(position)


def _positioned(items: Iterable[Item], after: tuple[int, int]) -> Iterator[tuple[tuple[int, int], Item]]:
    if isinstance(items, Resumable):
        return items.items(after)
    return (((0, number), item) for number, item in enumerate(items, 1))


def _replaced_rows(index: Index, appended: PartReader) -> NDArray[np.uint64]:
    """The rows of the state before that what was appended takes the place of."""
    documents = np.unique(appended.document_keys[appended.is_cut])
    rows = [
        np.flatnonzero(np.isin(part.keys, appended.keys) | np.isin(part.document_keys, documents)) + first
        for first, part in zip(index.first_rows, index.parts, strict=False)
    ]
    return np.concatenate(rows).astype(np.uint64) if rows else np.empty(0, dtype=np.uint64)
