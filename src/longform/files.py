"""Files that survive a kill: written beside their place, synced, and put there by one rename."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from longform.errors import FailureError, InputError

__all__ = ["atomic_write", "checked_target", "link_or_copy", "sha256_of", "sync_file", "sync_folder", "writing_alone"]


def sync_folder(folder: Path) -> None:
    """Make the names in ``folder`` durable; a no-op where folders cannot be synced (Windows)."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_file(path: Path) -> None:
    """Make the bytes of a file durable that somebody else has written."""
    with path.open("rb+") as file:
        os.fsync(file.fileno())


@contextmanager
def atomic_write(path: Path) -> Iterator[BinaryIO]:
    """Write a file so that, whenever the process dies, ``path`` holds all of the old bytes or all of the new.

    >>> import tempfile
    >>> place = Path(tempfile.mkdtemp()) / "a.json"
    >>> with atomic_write(place) as file:
    ...     _ = file.write(b"{}")
    >>> place.read_bytes()
    b'{}'
    """
    if path.exists() and not path.is_file():
        raise InputError(f"{path} is no file that could be replaced: name another to write.")
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def checked_target(path: str | Path, reads: Iterable[str | Path | None] = ()) -> Path:
    """The file to write as a path, if it can be one: no folder, no device, and none of the files that are read.

    A file that grows as ``<path>.part`` takes its name by a rename, which would put an end to whatever has it.

    >>> checked_target("/dev/null")
    Traceback (most recent call last):
        ...
    longform.errors.InputError: /dev/null is no file that could be replaced: name another to write.
    """
    target = Path(path)
    if not str(path).strip():
        raise InputError("The name of the file to write is empty.")
    if target.is_dir():
        raise InputError(f"{path} is a folder: name the file to write.")
    if target.exists() and not target.is_file():
        raise InputError(f"{path} is no file that could be replaced: name another to write.")
    if not target.parent.is_dir():
        raise InputError(f"There is no folder {target.parent} to write {target.name} to: make it first.")
    for read in (Path(one) for one in reads if one):
        for own in (target, target.with_name(f"{target.name}.part")):
            if own.exists() and read.exists() and own.samefile(read):
                raise InputError(f"{read} is what is read: it would be lost if {path} were written, so name another.")
    return target


@contextmanager
def writing_alone(lock: Path, path: str | Path) -> Iterator[None]:
    """One process at a time: two would write each other's lines to pieces."""
    # Not before it is needed: a search from the command line writes nothing.
    from filelock import FileLock, Timeout

    try:
        with FileLock(lock, timeout=0):
            try:
                yield
            finally:
                lock.unlink(missing_ok=True)
    except Timeout:
        raise FailureError(f"Another process is writing {path}: wait for it, or name another file.") from None


def sha256_of(path: Path) -> str:
    """The sha256 of a file's bytes, in hexadecimal."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()


def link_or_copy(source: Path, target: Path) -> None:
    """Give ``source`` a second name; copy where the file system has no hard links."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)
