"""The code that decides answers, as one hash: what was made by other code is not gone on with."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

import longform

__all__ = ["code_sha"]

_ANSWERING = ("answer", "models", "rerank", "retrieve", "silver", "study/systems", "text")


@cache
def code_sha(*parts: str) -> str:
    """The sha256 over the source files of some packages and modules of Longform, by default of all that answer.

    >>> code_sha() == code_sha("answer")
    False
    """
    home = Path(longform.__file__).parent
    files = sorted({file for part in parts or _ANSWERING for file in _sources(home / part)})
    found = hashlib.sha256()
    for file in files:
        found.update(file.relative_to(home).as_posix().encode() + b"\0" + file.read_bytes() + b"\0")
    return found.hexdigest()


def _sources(place: Path) -> list[Path]:
    return sorted(place.rglob("*.py")) if place.is_dir() else [place.with_suffix(".py")]
