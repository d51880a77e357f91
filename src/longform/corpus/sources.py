"""Which files are to be read: arguments of the command line → files with a known format.

>>> format_of("psgs_w100.tsv.gz")
('tsv', 'gz')
>>> format_of("photo.png") is None
True
"""

from __future__ import annotations

import glob
import os
import stat
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from longform.errors import InputError

__all__ = ["COMPRESSIONS", "READABLE", "STDIN", "Source", "Sources", "find_sources", "format_of"]

STDIN = "-"
INDEX_FILE = "longform.json"  # the file that makes a folder a Longform index
PENDING_FILE = "pending.json"  # stands there while one is made

_FORMATS = {
    ".txt": "text",
    ".text": "text",
    ".md": "markdown",
    ".markdown": "markdown",
    ".html": "html",
    ".htm": "html",
    ".xhtml": "html",
    ".pdf": "pdf",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".csv": "csv",
    ".tsv": "tsv",
    ".xml": "mediawiki",
}
COMPRESSIONS = {".gz": "gz", ".bz2": "bz2", ".xz": "xz"}

READABLE = f"{' '.join(_FORMATS)} (all but .pdf also with {' '.join(COMPRESSIONS)})"


@dataclass(frozen=True, slots=True)
class Source:
    """One file to read.

    ``path`` is its name as the user gave it, with forward slashes and without a leading ``./``; ids of
    documents and error messages begin with it. ``file`` is what to open. ``size`` and ``mtime_ns`` tell
    whether it changed.
    """

    path: str
    format: str
    compression: str = ""
    size: int = 0
    mtime_ns: int = 0
    file: Path = field(default_factory=Path, repr=False, compare=False)

    @property
    def stem(self) -> str:
        """The file's name without its type, words apart: ``docs/early-years.txt.gz`` → ``early years``."""
        name = self.path.rsplit("/", 1)[-1]
        for suffix in reversed(_suffixes(name)):
            name = name[: -len(suffix)]
        return " ".join(name.replace("-", " ").replace("_", " ").split())


@dataclass(frozen=True, slots=True)
class Sources:
    """The files found, in the order given (folders sorted), and what was passed over, counted by suffix."""

    files: tuple[Source, ...]
    skipped: Counter[str] = field(default_factory=Counter)

    def __iter__(self) -> Iterator[Source]:
        return iter(self.files)

    def __len__(self) -> int:
        return len(self.files)


def format_of(name: str) -> tuple[str, str] | None:
    """The format and compression that a file's name tells, or None when the type is not readable."""
    suffixes = _suffixes(name)
    if not suffixes:
        return None
    compression = COMPRESSIONS.get(suffixes[-1].lower(), "")
    inner = suffixes[0].lower()
    if (compression and len(suffixes) == 1) or (compression and inner == ".pdf"):
        return None
    kind = _FORMATS.get(inner)
    return None if kind is None else (kind, compression)


def find_sources(arguments: Sequence[str]) -> Sources:
    """Files, folders (all below them, hidden names apart), patterns, and ``-`` for JSONL on stdin.

    A file that is named must be of a readable type; inside folders and patterns other types are passed over
    and counted. Folders below that are Longform indexes are passed over too. A file given twice counts once.

    >>> find_sources(["-"]).files[0].format
    'jsonl'
    """
    finder = _Finder()
    for argument in arguments:
        finder.argument(argument)
    return Sources(tuple(finder.found.values()), finder.skipped)


class _Finder:
    def __init__(self) -> None:
        self.found: dict[str, Source] = {}  # by real path, so that a file given twice counts once
        self.skipped: Counter[str] = Counter()

    def argument(self, argument: str) -> None:
        if argument == STDIN:
            self.found.setdefault(STDIN, Source(STDIN, "jsonl"))
            return
        path = Path(argument)
        # A file called "a[1].txt" is that file and not a pattern.
        if argument and os.path.lexists(path):
            self.named(path)
        elif glob.has_magic(argument):
            self.pattern(argument)
        else:
            raise InputError(f"{argument or '(an empty name)'} does not exist.")

    def named(self, path: Path) -> None:
        if path.is_dir():
            self.folder(path)
        elif format_of(path.name) is None:
            raise InputError(f"{_label(path)} is of no readable type; readable are: {READABLE}.")
        else:
            self.file(path)

    def pattern(self, pattern: str) -> None:
        matches = sorted(glob.glob(pattern, recursive=True))  # noqa: PTH207 (Path.glob refuses absolute patterns)
        if not matches:
            raise InputError(f"{pattern} matches no file.")
        before, skipped_before = self.matched, self.skipped.copy()
        for match in matches:
            path = Path(match)
            if path.is_dir():
                # "docs/**" names every folder below docs; what they hold is matched by the pattern itself.
                if "**" not in pattern:
                    self.folder(path, must_hold=False)
            else:
                self.member(path)
        if self.matched == before:
            raise InputError(_nothing_in(pattern, "matches", self.skipped - skipped_before))

    def folder(self, folder: Path, must_hold: bool = True) -> None:
        if _is_index(folder):
            raise InputError(f"{_label(folder)} is a Longform index and no folder of documents: give theirs.")
        before, skipped_before = self.matched, self.skipped.copy()
        for path in _walk(folder):
            self.member(path)
        if must_hold and self.matched == before:
            raise InputError(_nothing_in(_label(folder), "holds", self.skipped - skipped_before))

    def member(self, path: Path) -> None:
        if format_of(path.name) is None or not path.is_file():
            suffixes = _suffixes(path.name)
            self.skipped["".join(suffixes).lower() or "(no suffix)"] += 1
        else:
            self.file(path)

    matched = 0  # readable files met, whether new or given before

    def file(self, path: Path) -> None:
        label = _label(path)
        kind = format_of(path.name)
        assert kind is not None
        try:
            status = path.stat()
        except FileNotFoundError:
            raise InputError(f"{label} is a link to a file that does not exist.") from None
        except OSError as error:
            raise InputError(f"{label} cannot be read: {error.strerror}.") from None
        if not stat.S_ISREG(status.st_mode):
            raise InputError(f"{label} is not a regular file; to read a stream of JSONL, pipe it in and give '-'.")
        if not os.access(path, os.R_OK):
            raise InputError(f"{label} cannot be read: permission denied.")
        self.matched += 1
        source = Source(label, *kind, status.st_size, status.st_mtime_ns, path)
        self.found.setdefault(os.path.realpath(path), source)


def _walk(folder: Path) -> Iterator[Path]:
    """Every file below ``folder`` in order, hidden names and Longform indexes left out, links followed."""
    waiting = [(folder, frozenset({os.path.realpath(folder)}))]
    while waiting:
        path, above = waiting.pop()
        try:
            entries = sorted(os.scandir(path), key=lambda entry: entry.name)
        except OSError as error:
            reason = (error.strerror or "unknown error").lower()
            raise InputError(f"{_label(path)} cannot be read: {reason}.") from None
        folders = []
        for entry in entries:
            if entry.name.startswith("."):
                continue
            if not entry.is_dir():
                yield path / entry.name
                continue
            below = path / entry.name
            real = os.path.realpath(below)
            # A link to a folder above would lead round for ever.
            if real not in above and not _is_index(below):
                folders.append((below, above | {real}))
        waiting.extend(reversed(folders))


def _is_index(folder: Path) -> bool:
    """Whether a folder is a Longform index, be it unfinished."""
    if (folder / INDEX_FILE).is_file():
        return True
    return (folder / PENDING_FILE).is_file() and any(folder.glob("part-*"))


def _suffixes(name: str) -> list[str]:
    """The type and, when there is one, the compression: ``a.b.txt.gz`` → ``['.txt', '.gz']``."""
    suffixes = [suffix for suffix in Path(name).suffixes if suffix != "."]
    if len(suffixes) > 1 and suffixes[-1].lower() in COMPRESSIONS:
        return suffixes[-2:]
    return suffixes[-1:]


def _label(path: Path) -> str:
    # Names that are not UTF-8 would break every JSON file that mentions them.
    return os.fsencode(path.as_posix()).decode("utf-8", "backslashreplace")


def _nothing_in(name: str, verb: str, skipped: Counter[str]) -> str:
    passed = ", ".join(f"{count} {suffix}" for suffix, count in skipped.most_common(5))
    aside = f" (passed over: {passed})" if passed else ""
    return f"{name} {verb} no readable file{aside}; readable are: {READABLE}."
