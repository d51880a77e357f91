"""Asking a folder of documents: it is indexed once into the cache, and again when a file changed."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import orjson
from filelock import FileLock

from longform._version import __version__
from longform.corpus.collection import Collection
from longform.corpus.read import ReadOptions
from longform.corpus.sources import Sources, find_sources
from longform.errors import InputError
from longform.files import atomic_write
from longform.progress import Progress, no_progress
from longform.retrieve.index import Index

__all__ = ["index_cache", "index_of", "is_index"]


def index_cache() -> Path:
    """Where the indexes of folders are kept: ``$LONGFORM_HOME/indexes`` or ``~/.cache/longform/indexes``."""
    home = os.environ.get("LONGFORM_HOME")
    return (Path(home).expanduser() if home else Path.home() / ".cache" / "longform") / "indexes"


def is_index(path: str | Path) -> bool:
    """Whether a folder is an index, whole or being made."""
    return any((Path(path) / name).is_file() for name in ("longform.json", "pending.json"))


def index_of(
    path: str | Path, *, on_bad: Callable[[InputError], None] | None = None, progress: Progress = no_progress
) -> Index:
    """The index at ``path``, or that of the documents there, which is made where it is not there or out of date.

    A folder of documents, or one file, gets an index of its own in :func:`index_cache`; it is made anew when a file was
    added, changed or removed. What cannot be read is told to ``on_bad`` and left out, as ``longform index --skip-bad``
    does. Ids of documents begin with the folder's name, wherever it is asked from.
    """
    place = Path(path).expanduser()
    if is_index(place):
        return Index.open(place)
    if not str(path) or not place.exists():
        raise InputError(
            f"There is no index and no folder of documents at {str(path) or '(an empty name)'}: "
            "`longform index` makes an index."
        )
    place = place.resolve()
    sources = _sources(place)
    folder = index_cache() / hashlib.sha256(str(place).encode("utf-8", "surrogateescape")).hexdigest()[:16]
    folder.parent.mkdir(parents=True, exist_ok=True)
    seen = folder.with_suffix(".json")
    state = [[source.path, source.size, source.mtime_ns] for source in sources]
    wanted = orjson.dumps({"folder": place.name, "longform": __version__, "files": state})
    # Two that ask the same new folder at once must not both make its index.
    with FileLock(folder.with_suffix(".lock")):
        if not (is_index(folder) and seen.is_file() and seen.read_bytes() == wanted):
            # Were the making killed, the old note must not vouch for the new index, nor the new note for the old one.
            seen.unlink(missing_ok=True)
            documents = Collection(sources, ReadOptions(skip_bad=True), on_bad)
            try:
                Index.create(folder, documents, overwrite=True, on_bad=on_bad or _ignored, progress=progress)
            except InputError as error:
                raise InputError(f"{path} holds no text that Longform can read: nothing can be asked of it.") from error
            with atomic_write(seen) as file:
                file.write(wanted)
        return Index.open(folder)


def _sources(place: Path) -> Sources:
    """The files below a folder, named from it on, so that their names do not depend on where one asks from."""
    found = find_sources([str(place)])
    above = _label(place.parent)
    return replace(
        found, files=tuple(replace(source, path=source.path.removeprefix(above).lstrip("/")) for source in found.files)
    )


def _label(folder: Path) -> str:
    """A folder's name as sources begin with it."""
    return os.fsencode(folder.as_posix()).decode("utf-8", "backslashreplace")


def _ignored(_: InputError) -> None:
    """Bad rows that nobody asked about."""
