"""Uploaded files: taken in within limits, under numbers for names, and checked before they are read."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from starlette.datastructures import UploadFile

from longform.corpus import Collection, ReadOptions
from longform.corpus.sources import Source, Sources, format_of
from longform.corpus.streams import opened
from longform.errors import InputError
from longform.serve.errors import ApiError
from longform.serve.naming import document_names
from longform.serve.settings import MEGABYTE, Settings
from longform.serve.workers import Check

__all__ = ["UPLOADS", "Stored", "check_unpacked", "collection_of", "store_files"]

UPLOADS = "uploads"
_CHUNK = 1 << 20


class Stored(NamedTuple):
    """A file as it lies in the folder of its job: ``stored`` is a number, ``name`` what its owner calls it."""

    stored: str
    name: str


async def store_files(files: Sequence[UploadFile], folder: Path, settings: Settings) -> list[Stored]:
    """Write uploaded files into a new folder; what is too much or of an unreadable type is refused whole."""
    if not files:
        raise ApiError("There is no file in the upload: give at least one as `files`.")
    if len(files) > settings.upload_files:
        raise ApiError(f"{len(files):,} files are more than the {settings.upload_files:,} of one upload.", 413)
    names = document_names(file.filename or "" for file in files)
    folder.mkdir(parents=True, mode=0o700)
    try:
        found, total = [], 0
        for number, (file, name) in enumerate(zip(files, names, strict=True), 1):
            stored = f"{number:06}"
            with (folder / stored).open("xb") as target:
                while chunk := await file.read(_CHUNK):
                    total += len(chunk)
                    if total > settings.upload_bytes:
                        limit = settings.upload_bytes // MEGABYTE
                        raise ApiError(f"The files have more than the {limit:,} MB of one upload.", 413)
                    await asyncio.to_thread(target.write, chunk)
            found.append(Stored(stored, name))
        return found
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def collection_of(files: Sequence[Stored], folder: Path, on_bad: Any) -> Collection:
    """The documents of stored files: their ids and titles are their owners' names, and what is opened the numbers."""
    sources = []
    for file in files:
        kind = format_of(file.name)
        if kind is None:  # It was checked when it came; the row in the database has been changed since.
            raise InputError(f"{file.name} is of no readable type.")
        path = folder / file.stored
        status = path.stat()
        sources.append(Source(file.name, *kind, status.st_size, status.st_mtime_ns, path))
    return Collection(Sources(tuple(sources)), ReadOptions(skip_bad=True), on_bad)


def check_unpacked(documents: Collection, most: int, check: Check) -> None:
    """Refuse compressed files that are together larger than ``most`` bytes when they are unpacked.

    A few kilobytes can unpack to gigabytes, so they are unpacked once, and nothing is kept, before they are read.
    """
    total = 0
    for source in documents.sources.files:
        if not source.compression:
            total += source.size
            continue
        try:
            with opened(source) as stream:
                while chunk := stream.read(_CHUNK):
                    total += len(chunk)
                    check()
                    if total > most:
                        break
        except InputError:
            continue  # Broken data is told by the reader, which goes on with the other files.
        if total > most:
            raise InputError(
                f"{source.path} unpacks to more than the {most // MEGABYTE:,} MB that an upload may have: "
                "split it, and upload the parts one after another."
            )
