"""The manifest: the one file whose replacement makes a new state of an index visible."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import orjson

from longform.errors import FailureError, InputError, reason_of
from longform.files import atomic_write

__all__ = [
    "FORMAT",
    "MANIFEST",
    "PENDING",
    "DenseSettings",
    "FileRecord",
    "Manifest",
    "PartRecord",
    "check_name",
    "read_manifest",
]

FORMAT = 1
MANIFEST, PENDING = "longform.json", "pending.json"


@dataclass(frozen=True)
class FileRecord:
    """Size and checksum of a file of the index."""

    bytes: int
    sha256: str


@dataclass(frozen=True)
class PartRecord:
    """A part of the passage store and how many rows it has."""

    name: str
    rows: int


@dataclass(frozen=True)
class DenseSettings:
    """How the passages of an index were encoded, and how their vectors are searched.

    ``method`` is ``exact`` or ``ivf``; ``automatic`` says that Longform chose it and may choose again as the
    index grows.
    """

    encoder: str
    fingerprint: str
    dimension: int
    method: str
    automatic: bool = True
    file: str | None = None


@dataclass(frozen=True)
class Manifest:
    """The state of an index: which files it is made of, with which settings, and what they must look like.

    ``retired`` names what only the state before used. It stays until the next change, for readers that have read the
    old manifest but not yet opened its files.
    """

    generation: int
    passages: int
    documents: int
    rows: int
    words: int
    created: str
    updated: str
    longform: str
    parts: tuple[PartRecord, ...]
    bm25: str
    deleted: str | None
    dense: DenseSettings | None
    fingerprint: str | None
    files: dict[str, FileRecord] = field(default_factory=dict)
    retired: tuple[str, ...] = ()
    format: int = FORMAT

    def names(self) -> set[str]:
        """The files and folders, by their names in the index folder, that this state is made of."""
        names = {self.bm25, *(part.name for part in self.parts)}
        names |= {self.deleted} if self.deleted else set()
        names |= {self.dense.file} if self.dense and self.dense.file else set()
        return names

    def contents(self) -> str:
        """What tells whether two indexes hold the same passages: a sha256 over the sums of the files that hold them."""
        names = [*(f"{part.name}/passages.zst" for part in self.parts), self.deleted or ""]
        sums = [self.files[name].sha256 if name in self.files else "" for name in names]
        return hashlib.sha256("\n".join(sums).encode()).hexdigest()

    def to_json(self) -> dict[str, Any]:
        """The manifest as a JSON object."""
        return asdict(self)

    @classmethod
    def from_json(cls, row: dict[str, Any]) -> Manifest:
        """The inverse of :meth:`to_json`."""
        dense = row["dense"]
        return replace(
            cls(**row),
            parts=tuple(PartRecord(**part) for part in row["parts"]),
            dense=None if dense is None else DenseSettings(**dense),
            files={name: FileRecord(**record) for name, record in row["files"].items()},
            retired=tuple(row["retired"]),
        )

    def write(self, folder: Path) -> None:
        """Make this the state of the index in ``folder``: the one atomic step of every change."""
        row = self.to_json()
        with atomic_write(folder / MANIFEST) as file:
            file.write(orjson.dumps({**row, "checksum": _checksum(row)}, option=orjson.OPT_INDENT_2))


def _checksum(row: dict[str, Any]) -> str:
    return hashlib.sha256(orjson.dumps(row, option=orjson.OPT_SORT_KEYS)).hexdigest()


def read_manifest(folder: Path) -> Manifest:
    """The manifest of the index in ``folder``; an error that says what is there instead, if it is not an index."""
    check_name(folder)
    if not folder.exists():
        raise InputError(f"{folder} does not exist: make it with `longform index DOCS -o {folder}`.")
    if not folder.is_dir():
        raise InputError(f"{folder} is a file, not an index folder.")
    try:
        data = (folder / MANIFEST).read_bytes()
    except FileNotFoundError:
        if (folder / PENDING).exists():
            raise InputError(
                f"{folder} was never finished: run the same `longform index` command again, and it goes on from there."
            ) from None
        raise InputError(
            f"{folder} is not a Longform index (it has no {MANIFEST}): name a folder that `longform index` made."
        ) from None
    except OSError as error:
        raise InputError(f"{folder} cannot be read: {reason_of(error)}.") from None
    try:
        row = orjson.loads(data)
        version = row["format"]
    except (orjson.JSONDecodeError, KeyError, TypeError):
        raise _damaged(folder) from None
    if not isinstance(version, int) or version > FORMAT:
        raise InputError(
            f"{folder} has index format {version}, newer than the {FORMAT} that this Longform reads: upgrade Longform."
        )
    try:
        if row.pop("checksum", None) not in (None, _checksum(row)):
            raise _damaged(folder)
        return Manifest.from_json(row)
    except (KeyError, TypeError, AttributeError):
        raise _damaged(folder) from None


def check_name(folder: Path) -> None:
    """Refuse a folder whose name the search engine could not open."""
    try:
        str(folder).encode()
    except UnicodeEncodeError:
        raise InputError(f"The name {str(folder)!r} is not valid UTF-8: choose another one.") from None


def _damaged(folder: Path) -> FailureError:
    return FailureError(
        f"{folder}/{MANIFEST} is damaged: restore it from a copy, or build the index anew with --overwrite."
    )
