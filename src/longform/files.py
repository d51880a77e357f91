"""Files that survive a kill: written beside their place, synced, and put there by one rename."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

__all__ = ["atomic_write", "link_or_copy", "sha256_of", "sync_file", "sync_folder"]


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
