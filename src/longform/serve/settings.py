"""What a server is started with."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from longform.errors import InputError

__all__ = ["LOOPBACK", "NamedIndex", "Settings", "check_token", "default_home", "is_loopback", "named_indexes"]

LOOPBACK = ("127.0.0.1", "localhost", "::1")
MEGABYTE = 1 << 20
# With fewer characters a token can be guessed.
TOKEN_CHARACTERS = 16


@dataclass(frozen=True, slots=True)
class NamedIndex:
    """An index folder, and the name by which requests choose it."""

    name: str
    folder: Path


def default_home() -> Path:
    """Where history and uploads are kept: ``$LONGFORM_HOME/serve`` or ``~/.local/share/longform/serve``."""
    home = os.environ.get("LONGFORM_HOME")
    return (Path(home).expanduser() if home else Path.home() / ".local" / "share" / "longform") / "serve"


def is_loopback(host: str) -> bool:
    """Whether nobody but this machine reaches a server that is bound to ``host``.

    >>> is_loopback("127.0.0.1"), is_loopback("0.0.0.0")
    (True, False)
    """
    return host in LOOPBACK


def check_token(token: str) -> None:
    """Raise where a token is too short to keep anyone out, or cannot stand in a header."""
    if len(token) < TOKEN_CHARACTERS or not re.fullmatch(r"[\x21-\x7e]+", token):
        raise InputError(
            f"The token must be {TOKEN_CHARACTERS} or more letters, digits and signs without spaces: "
            "`openssl rand -hex 16` makes one."
        )


def named_indexes(folders: Sequence[str | Path], names: Sequence[str] | None = None) -> tuple[NamedIndex, ...]:
    """Indexes with the names of their folders, without ``.index``; a name that is taken gets a number.

    >>> [one.name for one in named_indexes(["a/wiki.index", "b/wiki.index", "notes"])]
    ['wiki', 'wiki-2', 'notes']
    """
    found: dict[str, NamedIndex] = {}
    for place, folder in enumerate(folders):
        path = Path(folder)
        wanted = names[place] if names else path.resolve().name
        wanted = wanted.removesuffix(".index").replace("/", "-") or "index"
        name, number = wanted, 1
        while name in found:
            number += 1
            name = f"{wanted}-{number}"
        found[name] = NamedIndex(name, path)
    return tuple(found.values())


@dataclass(frozen=True)
class Settings:
    """Everything that a server needs to know; each process of it gets the same.

    ``running`` requests are worked on at once in a process, ``queue`` more may wait, and each has ``time_limit``
    seconds from its arrival. ``models`` are the answering models that requests may choose from, the first of which is
    the default: what a request names is never a path or an address.
    """

    indexes: tuple[NamedIndex, ...] = ()
    home: Path = field(default_factory=default_home)
    token: str | None = field(default=None, repr=False)
    host: str = "127.0.0.1"
    models: tuple[str, ...] = ("extractive",)
    rerank: str = "reranker"
    reader: str = "reader"
    passages: int = 10
    words: int = 90
    pool: int = 100
    running: int = 2
    queue: int = 16
    time_limit: float = 60.0
    threads: int | None = None
    upload_bytes: int = 200 * MEGABYTE
    upload_files: int = 500
    unpacked_bytes: int = 1000 * MEGABYTE
    waiting_jobs: int = 20
    body_bytes: int = MEGABYTE
    score_bytes: int = 64 * MEGABYTE
    warm: bool = True

    def __post_init__(self) -> None:
        if self.token is not None:
            check_token(self.token)
        if not self.models:
            raise InputError("A server needs a model that answers: extractive is one.")
        for name, least in (("running", 1), ("queue", 0), ("upload_files", 1), ("passages", 1), ("words", 1)):
            if getattr(self, name) < least:
                raise InputError(f"{name} must be at least {least}, and {getattr(self, name)} is not.")
        if not self.time_limit > 0:
            raise InputError(f"The time limit must be above 0 seconds, and {self.time_limit:g} is not.")
