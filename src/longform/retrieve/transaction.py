"""One change of an index: prepared beside the current state, made visible by one rename.

While it runs, ``pending.json`` names the files that it writes and says how far they can be trusted (the last
*checkpoint*). A process that is killed leaves the current state as it was; the next one with the same inputs goes on
from the checkpoint, any other clears the leftovers away.

A checkpoint makes the passages durable first, then ``pending.json``; BM25 is committed after that, and more rarely. So
BM25 may lag behind the passages but never run ahead, and the next process feeds it what it lacks from the passages.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timezone
from pathlib import Path

import numpy as np
import orjson
from numpy.typing import NDArray

from longform._version import __version__
from longform.errors import InputError
from longform.files import atomic_write, sha256_of
from longform.progress import Progress
from longform.retrieve.bm25 import Bm25Writer
from longform.retrieve.dense import build_ivf, choose_method
from longform.retrieve.keys import KeySet, keys_of
from longform.retrieve.manifest import PENDING, DenseSettings, FileRecord, Manifest, PartRecord
from longform.retrieve.order import write_order
from longform.retrieve.store import Entry, PartReader, PartWriter
from longform.retrieve.vectors import PassageEncoder, encode_part, map_vectors, vectors_name

__all__ = ["Transaction", "clear_leftovers", "is_leftover", "read_deleted"]

Position = tuple[int, int]
_START: Position = (0, 0)
_CHECKPOINT_ROWS, _CHECKPOINT_SECONDS = 250_000, 30.0
# A commit ends tantivy's segments, and many small ones make searches slow: 500,000 passages in 6 segments answer 577
# questions a second, in 2 segments 720. What was not committed is fed again from the passages on disk.
_COMMIT_ROWS = 1_000_000


@dataclass(frozen=True)
class _Pending:
    """What ``pending.json`` says of an unfinished change."""

    fingerprint: str | None
    generation: int
    position: Position = _START
    sizes: dict[str, int] = field(default_factory=dict)


def _read_pending(folder: Path) -> _Pending | None:
    try:
        row = orjson.loads((folder / PENDING).read_bytes())
        return _Pending(**{**row, "position": tuple(row["position"])})
    except (FileNotFoundError, orjson.JSONDecodeError, KeyError, TypeError):
        return None


def read_deleted(folder: Path, manifest: Manifest | None) -> NDArray[np.uint64]:
    """The rows that were deleted, in order."""
    if manifest is None or manifest.deleted is None:
        return np.empty(0, dtype=np.uint64)
    return np.fromfile(folder / manifest.deleted, dtype="<u8")


def is_leftover(name: str) -> bool:
    """Whether a name in an index folder is one that a change gives to what it writes."""
    return name.startswith(("part-", "bm25-", "dense-", "deleted-")) or (name[:1] == "." and name.endswith(".tmp"))


def clear_leftovers(folder: Path, current: Manifest | None, keep: Sequence[str] = ()) -> None:
    """Remove what neither the current state, nor the one before, nor ``keep`` uses."""
    used = set(keep) | {PENDING}
    if current is not None:
        used |= current.names() | set(current.retired)
    for path in folder.iterdir():
        if path.name in used or not is_leftover(path.name):
            continue
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


class Transaction:
    """A change under way: passages are appended, rows deleted, and at the end everything is published at once.

    ``current`` is the state that readers see now; ``base`` is the state that this change builds on, ``None`` if it
    replaces everything. ``fingerprint`` names the inputs: where an unfinished change has the same one, it goes on.
    """

    def __init__(
        self,
        folder: Path,
        current: Manifest | None,
        base: Manifest | None,
        *,
        fingerprint: str | None,
        words: int,
        progress: Progress,
    ) -> None:
        self.folder, self.current, self.base = folder, current, base
        self.fingerprint, self.words, self.progress = fingerprint, words, progress
        self.generation = (current.generation if current else 0) + 1
        self.first_row = base.rows if base else 0
        pending = _read_pending(folder)
        self.resumed = (
            pending is not None
            and fingerprint is not None
            and (pending.fingerprint, pending.generation) == (fingerprint, self.generation)
            and bool(pending.sizes)
        )
        self._pending = pending if pending and self.resumed else _Pending(fingerprint, self.generation)
        self.position: Position = self._pending.position
        try:
            self._open()
        except BaseException:
            self._forget()
            raise
        self._checkpoint_row, self._checkpoint_time = self._part.rows, time.monotonic()

    def _open(self) -> None:
        clear_leftovers(self.folder, self.current, [self._part_name, self._bm25_name] if self.resumed else [])
        if not self.resumed:
            self._write_pending()
        self._part = PartWriter(self.folder / self._part_name, self._pending.sizes)
        self._bm25 = Bm25Writer(self.folder / self._bm25_name, self.folder / self.base.bm25 if self.base else None)
        self._seen = KeySet()
        self._commit_row = 0
        if self._part.rows:
            self._catch_up()

    @property
    def _part_name(self) -> str:
        return f"part-{self.generation:06d}"

    @property
    def _bm25_name(self) -> str:
        return f"bm25-{self.generation:06d}"

    @property
    def appended(self) -> int:
        """How many rows this change has appended so far, those of an earlier process included."""
        return self._part.rows

    @property
    def has_checkpoint(self) -> bool:
        """Whether a later process could go on from here."""
        return self.fingerprint is not None and bool(self._pending.sizes)

    def _catch_up(self) -> None:
        part = PartReader(self._part.folder)
        self._seen = KeySet(np.array(part.keys))
        self._commit_row = done = self._bm25.rows_from(self.first_row)
        self._bm25.add(self.first_row + done, part.passages(done))

    def append(self, entries: Sequence[Entry], on_repeat: Callable[[Entry], None]) -> None:
        """Append passages; those whose id this change has already appended go to ``on_repeat`` instead.

        With the first passage of a document that is there already, all of that document goes.
        """
        entries = list(entries)
        try:
            keys = keys_of(entry.passage.id for entry in entries)
            while (place := self._seen.add(keys)) is not None:
                on_repeat(entries[place])
                end = _document_end(entries, place)
                del entries[place:end]
                keys = np.delete(keys, np.s_[place:end])
            if not entries:
                return
            self._part.append(entries, keys)
        except (TypeError, UnicodeEncodeError) as error:
            first, last = entries[0].passage.id, entries[-1].passage.id
            raise InputError(f"Between {first!r} and {last!r} there is text that is not valid Unicode.") from error
        first_row = self.first_row + self._part.rows - len(entries)
        self._bm25.add(first_row, (entry.passage for entry in entries))

    def checkpoint_due(self) -> bool:
        """Whether it is time for a checkpoint."""
        return (
            self._part.rows - self._checkpoint_row >= _CHECKPOINT_ROWS
            or time.monotonic() - self._checkpoint_time >= _CHECKPOINT_SECONDS
        )

    def checkpoint(self) -> None:
        """Make what was appended so far, up to ``position`` of the inputs, survive the process."""
        self._pending = replace(self._pending, position=self.position, sizes=self._part.flush())
        self._write_pending()
        if self._part.rows - self._commit_row >= _COMMIT_ROWS:
            self._bm25.commit()
            self._commit_row = self._part.rows
        self._checkpoint_row, self._checkpoint_time = self._part.rows, time.monotonic()

    def _write_pending(self) -> None:
        with atomic_write(self.folder / PENDING) as file:
            file.write(orjson.dumps(asdict(self._pending)))

    def appended_part(self) -> PartReader:
        """What was appended up to the last checkpoint."""
        return PartReader(self._part.folder)

    def publish(
        self,
        deleted: NDArray[np.uint64],
        encoder: PassageEncoder | None,
        dense: DenseSettings | None,
        prepare_vectors: Callable[[Path], None] | None = None,
    ) -> Manifest:
        """Delete rows (numbers of the base state), encode what is not encoded yet, and show the new state.

        ``prepare_vectors`` may put vectors that are known already into the new part before the encoder sees it.
        """
        self.checkpoint()
        gone_before = read_deleted(self.folder, self.base)
        self._bm25.delete(np.setdiff1d(deleted, gone_before).tolist())
        self.progress("merging", 0, None)
        self._bm25.finish()
        self._part.close()
        write_order(self._part.folder)
        parts = list(self.base.parts) if self.base else []
        if self._part.rows:
            parts.append(PartRecord(self._part_name, self._part.rows))
            if prepare_vectors is not None:
                prepare_vectors(self._part.folder)
        manifest = self._describe(parts, np.union1d(deleted, gone_before))
        if encoder is not None:
            dense = self._encode(parts, encoder, dense, manifest.rows)
        manifest = self._with_checksums(replace(manifest, dense=dense))
        manifest.write(self.folder)
        (self.folder / PENDING).unlink(missing_ok=True)
        clear_leftovers(self.folder, manifest)
        return manifest

    def _describe(self, parts: list[PartRecord], deleted: NDArray[np.uint64]) -> Manifest:
        rows = sum(part.rows for part in parts)
        name = None
        if len(deleted):
            name = f"deleted-{self.generation:06d}.u64"
            with atomic_write(self.folder / name) as file:
                file.write(deleted.astype("<u8").tobytes())
        alive = np.ones(rows, dtype=bool)
        alive[deleted.astype(np.int64)] = False
        readers = [PartReader(self.folder / part.name) for part in parts]
        keys = np.concatenate([reader.document_keys for reader in readers]) if readers else np.empty(0)
        now = datetime.now(timezone.utc).isoformat(timespec="seconds")
        return Manifest(
            generation=self.generation,
            passages=int(alive.sum()),
            documents=len(np.unique(keys[alive])),
            rows=rows,
            words=self.words,
            created=self.current.created if self.current else now,
            updated=now,
            longform=__version__,
            parts=tuple(parts),
            bm25=self._bm25_name,
            deleted=name,
            dense=None,
            fingerprint=self.fingerprint,
        )

    def _encode(
        self, parts: list[PartRecord], encoder: PassageEncoder, wanted: DenseSettings | None, rows: int
    ) -> DenseSettings:
        before = 0
        for part in parts:
            encode_part(
                PartReader(self.folder / part.name),
                encoder,
                lambda done, before=before: self.progress("encoding", before + done, rows),  # type: ignore[misc]
            )
            before += part.rows
        automatic = wanted is None or wanted.automatic
        method = choose_method(rows) if wanted is None or automatic else wanted.method
        file = None
        if method == "ivf" and rows:
            file = f"dense-{self.generation:06d}.faiss"
            vectors = [map_vectors(self.folder / p.name, encoder.fingerprint, encoder.dimension) for p in parts]
            build_ivf(vectors, self.folder / file, lambda done: self.progress("clustering", done, rows))
        return DenseSettings(encoder.name, encoder.fingerprint, encoder.dimension, method, automatic, file)

    def _with_checksums(self, manifest: Manifest) -> Manifest:
        """The manifest with size and checksum of every file, and with the names that the state before it used."""
        known = self.current.files if self.current else {}
        files: dict[str, FileRecord] = {}
        vectors = vectors_name(manifest.dense.fingerprint) if manifest.dense else None
        for name in sorted(manifest.names()):
            path = self.folder / name
            members = sorted(path.iterdir()) if path.is_dir() else [path]
            for member in members:
                if member.name.endswith(".lock") or (member.suffix == ".f16" and member.name != vectors):
                    continue
                relative = member.relative_to(self.folder).as_posix()
                size = member.stat().st_size
                # Segments keep their bytes under the same name from one BM25 folder to the next; only the two
                # lists of segments are written anew.
                inherited = self.base is not None and name == manifest.bm25 and member.suffix != ".json"
                record = known.get(f"{self.base.bm25}/{member.name}" if self.base and inherited else relative)
                files[relative] = record if record and record.bytes == size else FileRecord(size, sha256_of(member))
        retired = self.current.names() - manifest.names() if self.current else set()
        return replace(manifest, files=files, retired=tuple(sorted(retired)))

    def close(self) -> None:
        """Let go without publishing; what the last checkpoint has stays for a later process, if it can use it."""
        self._part.close()
        # After a full disk tantivy's threads are gone, and rolling back fails; the error under way says more.
        with suppress(ValueError, RuntimeError):
            self._bm25.abandon()
        self._forget()

    def _forget(self) -> None:
        """Clear away what no later process could use."""
        if not self.has_checkpoint:
            (self.folder / PENDING).unlink(missing_ok=True)
            clear_leftovers(self.folder, self.current)


def _document_end(entries: Sequence[Entry], place: int) -> int:
    """One past the last of the entries from ``place`` on that were cut from the same document."""
    end = place + 1
    while (
        end < len(entries)
        and entries[end].cut
        and entries[end].passage.document == entries[place].passage.document
        and entries[end].passage.start > entries[end - 1].passage.start
    ):
        end += 1
    return end
