"""Check that an index is whole: every file there, of its size, with its checksum, and all of them of one mind."""

from __future__ import annotations

from pathlib import Path

from longform.files import sha256_of
from longform.progress import Progress, no_progress
from longform.retrieve.manifest import PENDING, Manifest, read_manifest
from longform.retrieve.store import PartReader
from longform.retrieve.vectors import map_vectors

__all__ = ["is_pending", "verify"]


def is_pending(folder: Path) -> bool:
    """Whether a change of the index was begun and not finished."""
    return (folder / PENDING).exists()


def verify(folder: Path, *, checksums: bool = True, progress: Progress = no_progress) -> list[str]:
    """What is wrong with an index, a sentence each; an empty list if nothing is."""
    manifest = read_manifest(folder)
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
    return problems or _inconsistencies(folder, manifest)


def _inconsistencies(folder: Path, manifest: Manifest) -> list[str]:
    import tantivy

    problems = []
    for part in manifest.parts:
        rows = len(PartReader(folder / part.name))
        if rows != part.rows:
            problems.append(f"{part.name} has {rows:,} passages instead of {part.rows:,}.")
        if manifest.dense is not None:
            vectors = len(map_vectors(folder / part.name, manifest.dense.fingerprint, manifest.dense.dimension))
            if vectors != part.rows:
                problems.append(f"{part.name} has {vectors:,} vectors for {part.rows:,} passages.")
    indexed = tantivy.Index.open(str(folder / manifest.bm25)).searcher().num_docs
    if indexed != manifest.passages:
        problems.append(f"{manifest.bm25} holds {indexed:,} passages instead of {manifest.passages:,}.")
    return problems
