"""What every change of an index shares: one writer at a time, and failures told in one sentence."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from longform.errors import FailureError, InputError, LongformError, reason_of

__all__ = ["writing"]

LOCK = ".lock"
_FULL = {errno.ENOSPC, errno.EDQUOT}
_REFUSED = {errno.EACCES, errno.EPERM, errno.EROFS}


@contextmanager
def writing(folder: Path) -> Iterator[None]:
    """Hold the right to change the index in ``folder``; a second writer is told so at once.

    The system lets go of the lock when the process ends, however it ends.
    """
    from filelock import FileLock, Timeout

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder} cannot be made: {reason_of(error)}.") from error
    try:
        with FileLock(folder / LOCK, timeout=0):
            yield
    except Timeout:
        raise InputError(
            f"Another process is writing to {folder}: wait until it has finished, then run this again."
        ) from None
    except LongformError:
        raise
    except (OSError, ValueError, RuntimeError) as error:
        if isinstance(error, OSError) and error.errno in _REFUSED:
            reason = os.strerror(error.errno).lower()
            raise InputError(f"{folder} cannot be written: {reason}.") from error
        if _is_full(folder, error):
            raise FailureError(
                f"The disk that holds {folder} is full. What the index held before is unharmed: "
                "free some space and run the same command again."
            ) from error
        raise


def _is_full(folder: Path, error: Exception) -> bool:
    """Whether the disk was full: tantivy and faiss say it in words of their own, or only that a thread died."""
    if isinstance(error, OSError) and error.errno in _FULL:
        return True
    if "No space left" in str(error):
        return True
    return ("thread" in str(error) or "write error" in str(error)) and shutil.disk_usage(folder).free < 1 << 20
