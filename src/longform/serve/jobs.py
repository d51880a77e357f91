"""Indexing in the background: one upload after another, told by the database, taken up again after a kill."""

from __future__ import annotations

import hashlib
import logging
import secrets
import shutil
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, Lock
from typing import Any

import orjson
from filelock import FileLock, Timeout
from sqlalchemy import func, insert, select, update

from longform.errors import InputError, LongformError
from longform.retrieve.index import Index
from longform.retrieve.manifest import MANIFEST
from longform.serve.collections import Collections, no_collection
from longform.serve.database import Database, now
from longform.serve.errors import ApiError, BusyError, StoppedError
from longform.serve.settings import Settings
from longform.serve.tables import jobs
from longform.serve.uploads import UPLOADS, Stored, check_unpacked, collection_of
from longform.serve.workers import Check

__all__ = ["Jobs", "new_id"]

logger = logging.getLogger("longform.serve")
# Between two lines in the database about how far a job is.
TOLD_SECONDS = 0.3
# An upload that is not whole after so long never will be.
OLD_SECONDS = 24 * 3600


def new_id() -> str:
    """An id that nobody guesses."""
    return secrets.token_hex(10)


class Jobs:
    """The indexing jobs of a server.

    Whichever process holds the lock of a job does it; the system releases the lock of a process that dies, and the
    next one that looks takes the job up where it stopped.
    """

    def __init__(self, settings: Settings, database: Database, collections: Collections) -> None:
        self._settings, self._database, self._collections = settings, database, collections
        self._folder = settings.home / UPLOADS
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="indexing")
        self._stop = Event()
        self._mine: set[str] = set()
        self._lock = Lock()

    def folder(self, job: str) -> Path:
        """Where the files of a job lie."""
        return self._folder / job

    def add(self, job: str, name: str, files: Sequence[Stored], dense: bool) -> None:
        """Index files into a collection, in the background."""
        row = {
            "id": job,
            "name": name,
            "state": "running",
            "stage": "waiting",
            "done": 0,
            "total": None,
            "message": None,
            "files": orjson.dumps([list(file) for file in files]).decode(),
            "dense": dense,
            "created_at": now(),
            "updated_at": now(),
        }
        # Together: a collection without a job would stand in the list for ever, as one that is being indexed.
        with self._database.writing.begin() as connection:
            self._collections.add(name, job, connection)
            connection.execute(insert(jobs), row)
        self._submit(job)

    def check_room(self) -> None:
        """Refuse another job where too many wait."""
        with self._database.reading.begin() as connection:
            waiting = connection.execute(select(func.count()).where(jobs.c.state == "running")).scalar_one()
        if waiting >= self._settings.waiting_jobs:
            raise BusyError(30, f"{waiting} uploads are being indexed already")

    def get(self, job: str) -> dict[str, Any] | None:
        """How far a job is."""
        self.adopt()
        with self._database.reading.begin() as connection:
            row = connection.execute(select(jobs).where(jobs.c.id == job)).mappings().first()
        if row is None:
            return None
        found = {name: row[name] for name in ("id", "name", "state", "stage", "done", "total")}
        return found if row["message"] is None else {**found, "message": row["message"]}

    def adopt(self) -> None:
        """Take up the jobs that nobody works on: the process that did has died."""
        with self._database.reading.begin() as connection:
            running = connection.execute(
                select(jobs.c.id).where(jobs.c.state == "running").order_by(jobs.c.created_at)
            ).scalars()
            for job in list(running):
                self._submit(job)

    def remove(self, name: str) -> None:
        """Take away an uploaded collection with its documents, once nothing is being indexed into it."""
        self.adopt()
        with self._database.reading.begin() as connection:
            wanted = select(func.count()).where(jobs.c.state == "running", jobs.c.name == name)
            indexing = connection.execute(wanted).scalar_one()
        if indexing:
            raise ApiError(f"The collection {name!r} is being indexed: delete it once that is done.", 409)
        # An upload that comes now waits for its turn, and then makes the collection anew.
        with _turn(self._collections.home, name, self._check):
            folder = self._collections.forget(name)
            if folder is None:
                raise no_collection(name, self._collections.folders())
            shutil.rmtree(folder, ignore_errors=True)

    def sweep(self) -> None:
        """Take away what a killed process left: uploads that were indexed or never came whole, deleted collections."""
        self._collections.sweep(OLD_SECONDS)
        if not self._folder.is_dir():
            return
        with self._database.reading.begin() as connection:
            states = {row.id: row.state for row in connection.execute(select(jobs.c.id, jobs.c.state))}
        for path in self._folder.iterdir():
            state = states.get(path.name.removesuffix(".lock"))
            # One that is not in the database may be on its way, in another process.
            with suppress(OSError):
                if state in ("done", "failed") or (state is None and time.time() - path.stat().st_mtime > OLD_SECONDS):
                    self._clear(path.name.removesuffix(".lock"))

    def close(self) -> None:
        """Stop where it can be gone on from: the next start does."""
        self._stop.set()
        self._pool.shutdown(cancel_futures=True)

    def _submit(self, job: str) -> None:
        with self._lock:
            if job in self._mine or self._stop.is_set():
                return
            self._mine.add(job)
        try:
            self._pool.submit(self._do, job)
        except RuntimeError:
            self._mine.discard(job)

    def _do(self, job: str) -> None:
        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            with FileLock(self._folder / f"{job}.lock", timeout=0):
                self._index(job)
        except (Timeout, StoppedError):
            pass  # Another process does it; or this one ends, and the job goes on later.
        except Exception:
            logger.exception("Indexing job %s failed.", job)
        finally:
            with self._lock:
                self._mine.discard(job)

    def _index(self, job: str) -> None:
        with self._database.reading.begin() as connection:
            row = connection.execute(select(jobs).where(jobs.c.id == job)).mappings().first()
        if row is not None and row["state"] == "running":
            # The collection is known, made and perhaps forgotten again within the turn: others find it there, or not.
            with _turn(self._collections.home, row["name"], self._check):
                self._made(job, row)
        self._clear(job)

    def _made(self, job: str, row: Any) -> None:
        name = row["name"]
        target = self._collections.add(name, job)
        try:
            message = self._build(job, row, target)
            self._tell(job, state="done", stage="done", message=message)
        except StoppedError:
            raise
        except BaseException as error:
            if not isinstance(error, LongformError):
                logger.exception("Indexing job %s failed.", job)
            said = str(error).replace(str(target), name) if isinstance(error, LongformError) else ""
            if not (target / MANIFEST).exists():
                self._collections.forget(name)
                shutil.rmtree(target, ignore_errors=True)
            self._tell(job, state="failed", stage="failed", message=said or "The documents could not be indexed.")

    def _clear(self, job: str) -> None:
        """Take away the files of a job that is over."""
        shutil.rmtree(self.folder(job), ignore_errors=True)
        (self._folder / f"{job}.lock").unlink(missing_ok=True)

    def _check(self) -> None:
        if self._stop.is_set():
            raise StoppedError

    def _build(self, job: str, row: Any, target: Path) -> str | None:
        """Index the files; what to say about those that could not be read."""
        bad: list[str] = []
        files = [Stored(*one) for one in orjson.loads(row["files"])]
        told = 0.0

        def skip(error: InputError) -> None:
            bad.append(str(error))

        def progress(stage: str, done: int, total: int | None = None) -> None:
            nonlocal told
            self._check()
            if time.monotonic() - told > TOLD_SECONDS:
                told = time.monotonic()
                self._tell(job, stage=stage, done=done, total=total)

        documents = collection_of(files, self.folder(job), skip)
        progress("checking", 0)
        check_unpacked(documents, self._settings.unpacked_bytes, self._check)
        try:
            if (target / MANIFEST).exists():
                # Also where this very job was killed after publishing: documents of the same id are replaced.
                Index.open(target).add(documents, dense=row["dense"], on_bad=skip, progress=progress)
            else:
                Index.create(target, documents, dense=row["dense"], on_bad=skip, progress=progress)
            passages = len(Index.open(target))
        except InputError as error:
            raise InputError(bad[0] if bad else str(error)) from error
        self._tell(job, done=passages, total=passages)
        if not bad:
            return None
        return bad[0] + (f" {len(bad) - 1:,} more could not be read either." if len(bad) > 1 else "")

    def _tell(self, job: str, **changes: Any) -> None:
        with self._database.writing.begin() as connection:
            connection.execute(update(jobs).where(jobs.c.id == job).values(**changes, updated_at=now()))


@contextmanager
def _turn(folder: Path, name: str, check: Check) -> Iterator[None]:
    """The turn of a job among those that write to the collection of this name, which may be other processes'."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    lock = FileLock(folder / f"{hashlib.sha256(name.encode()).hexdigest()[:20]}.turn")
    while not lock.is_locked:
        check()
        with suppress(Timeout):
            lock.acquire(timeout=0.5)
    try:
        yield
    finally:
        lock.release()
