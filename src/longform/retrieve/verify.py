"""Check that an index is whole: every file there, of its size, with its checksum, and all of them of one mind."""

from __future__ import annotations

from pathlib import Path

from longform.errors import FailureError
from longform.files import sha256_of
from longform.progress import Progress, no_progress
from longform.retrieve.bm25 import Bm25Searcher
from longform.retrieve.manifest import PENDING, Manifest, read_manifest
from longform.retrieve.store import PartReader
from longform.retrieve.vectors import map_vectors

__all__ = ["is_pending", "verify"]


def is_pending(folder: Path) -> bool:
    """Whether a change of the index was begun and not finished."""
    return (folder / PENDING).exists()


def verify(folder: Path, *, checksums: bool = True, progress: Progress = no_progress) -> list[str]:
    """What is wrong with an index, a sentence each; an empty list if nothing is."""
    while True:
        manifest = read_manifest(folder)
        problems = _wrong_files(folder, manifest, checksums, progress) or _inconsistencies(folder, manifest)
        # What a writer cleared away in the meantime is not wrong.
        if not problems or read_manifest(folder).generation == manifest.generation:
            return problems


def _wrong_files(folder: Path, manifest: Manifest, checksums: bool, progress: Progress) -> list[str]:
    problems = []
    total = sum(record.bytes for record in manifest.files.values())
    done = 0
    for name, record in manifest.files.items():
        path = folder / name
        if not path.is_file():
            problems.append(f"{name} is missing.")
        elif path.stat().st_size != record.bytes:
            problems.append(f"{name} has {path.stat().st_size:,} bytes instead of {record.bytes:,}.")
        elif checksums and sha256_of(path) != record.sha256:
            problems.append(f"{name} has changed: its checksum is not the recorded one.")
        done += record.bytes
        progress("checking", done, total)
    return problems


def _inconsistencies(folder: Path, manifest: Manifest) -> list[str]:
    problems = []
    try:
        for part in manifest.parts:
            rows = len(PartReader(folder / part.name))
            if rows != part.rows:
                problems.append(f"{part.name} has {rows:,} passages instead of {part.rows:,}.")
            if manifest.dense is not None:
                vectors = len(map_vectors(folder / part.name, manifest.dense.fingerprint, manifest.dense.dimension))
                if vectors != part.rows:
                    problems.append(f"{part.name} has {vectors:,} vectors for {part.rows:,} passages.")
        indexed = len(Bm25Searcher(folder / manifest.bm25, str))
        if indexed != manifest.passages:
            problems.append(f"{manifest.bm25} holds {indexed:,} passages instead of {manifest.passages:,}.")
    except FileNotFoundError as error:
        problems.append(f"{Path(error.filename).name} is missing.")
    except FailureError as error:
        problems.append(str(error).split(":")[0] + ".")
    return problems
