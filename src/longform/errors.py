"""The errors that Longform raises on purpose: each is one sentence that a person can act on.

The command line prints the sentence and exits with ``exit_code``: 2 for a mistake in what the user gave, 1 for a
failure of something outside (a full disk, a broken file). Anything else that escapes is a bug.
"""

from __future__ import annotations

__all__ = ["FailureError", "InputError", "LongformError"]


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
