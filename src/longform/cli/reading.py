"""What ``index`` and ``add`` do alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click
import orjson

from longform.cli.options import BadRows, counted

if TYPE_CHECKING:
    from longform import Collection, Dense, Index

__all__ = ["collection", "dense_choice", "summary"]


def collection(
    docs: Sequence[str],
    passages: bool,
    shape: str,
    id_field: str | None,
    title_field: str | None,
    text_field: str | None,
    skip_bad: bool,
    bad: BadRows,
) -> Collection:
    """The documents that the arguments name."""
    from longform import ReadOptions, read

    options = ReadOptions(
        shape=shape,
        id_field=id_field,
        title_field=title_field,
        text_field=text_field,
        skip_bad=skip_bad,
        passages=passages,
    )
    return read(*docs, options=options, on_bad=bad)


def dense_choice(dense: bool, encoder: str | None, method: str | None) -> Dense | bool:
    """What the options say about vectors."""
    from longform import Dense

    if encoder is None and method is None:
        return dense
    return Dense(encoder or "encoder", method)


def summary(index: Index, verb: str, seconds: float, as_json: bool) -> None:
    """Say what the index holds now."""
    manifest = index.manifest
    if as_json:
        row = {
            "index": str(index.folder),
            "passages": manifest.passages,
            "documents": manifest.documents,
            "dense": manifest.dense is not None,
            "seconds": round(seconds, 3),
        }
        click.echo(orjson.dumps(row))
        return
    vectors = ", with vectors" if manifest.dense else ""
    click.echo(
        f"{verb} {index.folder}: it holds {counted(manifest.passages, 'passage')} of "
        f"{counted(manifest.documents, 'document')}{vectors} "
        f"({seconds:.1f} s)."
    )
