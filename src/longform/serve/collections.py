"""The collections that can be asked: indexes that the server was started with, and those that were uploaded."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

from sqlalchemy import Connection, delete, insert, select

from longform.answer.opening import Models
from longform.errors import LongformError
from longform.records import Mark
from longform.retrieve.index import Index
from longform.retrieve.manifest import MANIFEST
from longform.serve.database import Database, now
from longform.serve.errors import ApiError, NotFoundError
from longform.serve.settings import Settings
from longform.serve.tables import collections

__all__ = ["Collections", "document_json", "no_collection"]

INDEXES = "indexes"


@dataclass(frozen=True, slots=True)
class _Opened:
    state: tuple[int, int, int]
    index: Index


class Collections:
    """Indexes by name; each is opened when it is first asked, and again when it has changed on disk."""

    def __init__(self, settings: Settings, database: Database, models: Models) -> None:
        self._given = {one.name: one.folder for one in settings.indexes}
        self._home, self._database, self._models = settings.home, database, models
        self._opened: dict[Path, _Opened] = {}
        self._lock = Lock()

    @property
    def default(self) -> str | None:
        """The collection of a request that names none: the first that the server was started with, else any."""
        return next(iter(self.folders()), None)

    def is_given(self, name: str) -> bool:
        """Whether the server was started with it: then nobody adds to it over HTTP."""
        return name in self._given

    def folders(self) -> dict[str, Path]:
        """The folder of every collection; those that are uploaded come last, oldest first."""
        with self._database.reading.begin() as connection:
            rows = connection.execute(select(collections).order_by(collections.c.created_at)).mappings().all()
        uploaded = {row["name"]: self.home / row["folder"] for row in rows}
        return {**self._given, **{name: folder for name, folder in uploaded.items() if name not in self._given}}

    @property
    def home(self) -> Path:
        """Where the folders of uploaded collections lie."""
        return self._home / INDEXES

    def add(self, name: str, folder: str, connection: Connection | None = None) -> Path:
        """The folder of an uploaded collection, which is made known as ``folder`` where it is new.

        With a connection this is a part of its transaction.
        """
        if connection is None:
            with self._database.writing.begin() as own:
                return self.add(name, folder, own)
        found = connection.execute(select(collections.c.folder).where(collections.c.name == name)).scalar()
        if found is None:
            found = folder
            connection.execute(insert(collections), {"name": name, "folder": folder, "created_at": now()})
        return self.home / str(found)

    def forget(self, name: str) -> Path | None:
        """Take an uploaded collection out of the list; the folder that it had, which is left."""
        with self._database.writing.begin() as connection:
            folder = connection.execute(select(collections.c.folder).where(collections.c.name == name)).scalar()
            connection.execute(delete(collections).where(collections.c.name == name))
        if folder is None:
            return None
        with self._lock:
            self._opened.pop(self.home / folder, None)
        return self.home / str(folder)

    def sweep(self, seconds: float) -> None:
        """Take away the folders of collections that were deleted, but for the last so many seconds."""
        known = set(self.folders().values())
        for folder in self.home.iterdir() if self.home.is_dir() else ():
            # One that is not known yet may be on its way, in another process.
            with suppress(OSError):
                if folder.is_dir() and folder not in known and time.time() - folder.stat().st_mtime > seconds:
                    shutil.rmtree(folder)

    def get(self, name: str | None) -> tuple[str, Index]:
        """A collection, opened; the default one without a name."""
        given = next(iter(self._given), None) if name is None else name
        if given is not None and given in self._given:
            # Without a look into the database, which costs more than a search.
            return given, self._open(given, self._given[given])
        folders = self.folders()
        name = name if name is not None else next(iter(folders), None)
        if name is None:
            raise NotFoundError("There is no collection yet: upload documents, or start the server with an index.")
        if name not in folders:
            raise no_collection(name, folders)
        return name, self._open(name, folders[name])

    def listing(self) -> list[dict[str, Any]]:
        """What can be asked, and how large it is; one that is not ready is being made, or is damaged."""
        found = []
        for name, folder in self.folders().items():
            row = {"name": name, "passages": 0, "documents": 0, "dense": False, "ready": False}
            row["uploaded"] = not self.is_given(name)
            try:
                manifest = self._open(name, folder).manifest
                row |= {"passages": manifest.passages, "documents": manifest.documents, "ready": manifest.passages > 0}
                row["dense"] = manifest.dense is not None
            except LongformError:
                pass
            found.append(row)
        return found

    def _open(self, name: str, folder: Path) -> Index:
        try:
            status = (folder / MANIFEST).stat()
        except OSError:
            raise ApiError(f"The collection {name!r} is not ready: its documents are being indexed.", 503) from None
        # Publishing replaces the manifest: a new file, with a number of its own.
        state = (status.st_ino, status.st_mtime_ns, status.st_size)
        with self._lock:
            opened = self._opened.get(folder)
            if opened is None or opened.state != state:
                opened = _Opened(state, self._shared(Index.open(folder)))
                self._opened[folder] = opened
            return opened.index

    def _shared(self, index: Index) -> Index:
        """The index with the encoder that other indexes have loaded already, where it is theirs."""
        dense = index.manifest.dense
        if dense is not None:
            from longform.models import Encoder

            encoder: Any = self._models.get(("encoder", dense.encoder), lambda: Encoder.load(dense.encoder))
            if encoder.fingerprint == dense.fingerprint:
                index.encoder = encoder
        return index


def no_collection(name: str, known: Iterable[str]) -> NotFoundError:
    """The error about a collection that is not there."""
    listed = ", ".join(list(known)[:10])
    return NotFoundError(f"There is no collection {name!r}" + (f"; there are: {listed}." if listed else "."))


def document_json(index: Index, name: str, document_id: str) -> dict[str, Any]:
    """A document with the places in it that have a name: the sections of its passages."""
    passages = [index.passage_at(int(row)) for row in index.find(document_id, of_document=True)]
    if not passages:
        raise NotFoundError(f"The collection {name!r} has no document {document_id!r}.")
    document = index.document(document_id)
    marks: list[Mark] = []
    for passage in sorted(passages, key=lambda one: one.start):
        if passage.section and (not marks or marks[-1].label != passage.section):
            marks.append(Mark(passage.start, passage.section))
    return {
        "id": document.id,
        "title": document.title,
        "text": document.text,
        "marks": [{"offset": mark.offset, "label": mark.label} for mark in marks],
    }
