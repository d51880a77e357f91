"""A dataset in memory: its examples, and where they came from."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from longform.data.asqa import is_asqa, only_split
from longform.data.catalogue import CATALOGUE, files_of, source_named
from longform.data.example import Example
from longform.data.guess import guess_source
from longform.data.rows import checked_fields, read_rows
from longform.data.values import whole_value
from longform.errors import InputError
from longform.files import sha256_of

__all__ = ["Dataset", "load_dataset"]


@dataclass(frozen=True)
class Dataset:
    """Examples in the order of their file, with the files' paths and sha256; ``task`` says how answers are scored.

    ``all`` is how many the split has, of which ids and a limit may have left fewer.
    """

    name: str
    split: str
    task: str
    examples: tuple[Example, ...]
    files: Mapping[str, str]
    all: int

    @property
    def sha256(self) -> str:
        """The file's sha256; that over the names and sha256 of all where there are several."""
        if len(self.files) == 1:
            return next(iter(self.files.values()))
        lines = "".join(f"{digest}  {Path(path).name}\n" for path, digest in self.files.items())
        return hashlib.sha256(lines.encode()).hexdigest()

    def __len__(self) -> int:
        return len(self.examples)

    def __iter__(self) -> Iterator[Example]:
        return iter(self.examples)


def load_dataset(
    name: str,
    *,
    split: str | None = None,
    file: str | Path | None = None,
    fields: Mapping[str, str] | None = None,
    ids: Collection[str] | None = None,
    limit: int | None = None,
) -> Dataset:
    """A dataset by its name, or that of a file.

    ``name`` is one of :data:`CATALOGUE`, whose file is looked for in ``$LONGFORM_DATA`` and ``./data`` unless ``file``
    names it; or a path, of which the shape is recognised; or, with ``file``, ``rows`` for any JSON rows. ``fields``
    maps the fields of such rows (:func:`longform.data.rows.read_rows`). ``ids`` keeps only these questions, ``limit``
    only the first so many.

    >>> import tempfile
    >>> place = Path(tempfile.mkdtemp()) / "mine.jsonl"
    >>> _ = place.write_text('{"id": "a", "question": "Who sang?", "long_answer": "Ringo sang."}')
    >>> load_dataset(str(place)).examples[0].long_answers
    ('Ringo sang.',)
    """
    if fields:
        checked_fields(fields)
    if name not in CATALOGUE and name != "rows" and file is None and (_is_path(name)):
        file = name
        name = "rows" if fields else guess_source(name)
    if name == "rows":
        if file is None:
            raise InputError("The dataset rows is any file of JSON rows: name it with --file.")
        _exists(file)
        found = _unique(read_rows(str(file), fields), [str(file)])
        return _chosen(Path(file).name.partition(".")[0], split or "", "text", found, [Path(file)], ids, limit)
    source = source_named(name)
    if fields:
        raise InputError(f"{source.name} has a shape of its own, so fields cannot be mapped: leave the map out.")
    if file is not None:
        _exists(file)
        files = [Path(file)]
        split = split or _only(files[0], name, source.default)
    else:
        split = split or source.default
        files = files_of(source, split)
    rows = chain.from_iterable(source.read(str(path), split) for path in files)
    found = _unique(rows, [str(path) for path in files])
    return _chosen(source.name, split, source.task, found, files, ids, limit)


def _only(path: Path, name: str, default: str) -> str:
    """The split of a named file where none was asked for."""
    value: Any = whole_value(str(path)) if name == "asqa" else None
    return only_split(value) if is_asqa(value) else default


def _is_path(name: str) -> bool:
    return Path(name).exists() or "/" in name or Path(name).suffix in (".json", ".jsonl", ".gz", ".bz2", ".xz")


def _exists(file: str | Path) -> None:
    if Path(file).is_dir():
        raise InputError(f"{file} is a folder: name a file.")
    if not Path(file).exists():
        raise InputError(f"{file} does not exist.")


def _unique(examples: Iterable[Example], files: list[str]) -> list[Example]:
    found: dict[str, Example] = {}
    for example in examples:
        if example.id in found:
            raise InputError(f"{files[0]}: the question id {example.id!r} occurs twice.")
        found[example.id] = example
    if not found:
        raise InputError(f"{files[0]} holds no questions.")
    return list(found.values())


def _chosen(
    name: str,
    split: str,
    task: str,
    found: list[Example],
    files: list[Path],
    ids: Collection[str] | None,
    limit: int | None,
) -> Dataset:
    if limit is not None and limit < 1:
        raise InputError(f"A limit of {limit} leaves no question: it must be at least 1.")
    kept = found
    if ids is not None:
        wanted = set(ids)
        kept = [example for example in found if example.id in wanted]
        missing = sorted(wanted - {example.id for example in kept})
        if missing:
            raise InputError(
                f"{files[0]} has no question {missing[0]!r}, and {len(missing)} of {len(wanted)} wanted ids in all are "
                "not there: take the ids of this split."
            )
    hashes = {str(path): sha256_of(path) for path in files}
    return Dataset(name, split, task, tuple(kept[:limit]), hashes, len(found))
