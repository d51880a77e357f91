"""The errors that Longform raises on purpose: each is one sentence that a person can act on.

The command line prints the sentence and exits with ``exit_code``: 2 for a mistake in what the user gave, 1 for a
failure of something outside (a full disk, a broken file). Anything else that escapes is a bug.
"""

from __future__ import annotations

__all__ = ["FailureError", "InputError", "LongformError", "reason_of"]


class LongformError(Exception):
    """Base of every error that is meant for a person to read."""

    exit_code = 1


class InputError(LongformError):
    """What the user gave cannot be used: a missing file, a broken line, an impossible setting.

    >>> str(InputError("notes.pdf does not exist."))
    'notes.pdf does not exist.'
    """

    exit_code = 2


class FailureError(LongformError):
    """Something outside failed while the request was right: the disk is full, an index is damaged."""

    exit_code = 1


def reason_of(error: BaseException) -> str:
    """Why something failed, to stand within a sentence: the system's words, or the first line of another's.

    >>> reason_of(FileNotFoundError(2, "No such file or directory", "notes.pdf"))
    'no such file or directory'
    >>> reason_of(ValueError("The header is cut off.\\nAt byte 4."))
    'The header is cut off'
    """
    if isinstance(error, OSError) and error.strerror:
        return error.strerror.lower()
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(". ")
