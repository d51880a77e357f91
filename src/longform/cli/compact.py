"""``longform compact``: rewrite an index without what was deleted."""

from __future__ import annotations

import time

import click

from longform.cli.options import index_argument, json_option
from longform.cli.progress import progress_bar
from longform.cli.reading import summary

__all__ = ["command"]


@click.command("compact")
@index_argument
@json_option
def command(index: str, as_json: bool) -> None:
    """Rewrite INDEX without what was deleted: as small, and scored, as if it were built anew.

    Deleted passages still count in BM25's word frequencies until then. Nothing is read or encoded again.
    """
    from longform import Index

    started = time.perf_counter()
    target = Index.open(index)
    with progress_bar() as progress:
        target.compact(progress=progress)
    summary(target, "Compacted", time.perf_counter() - started, as_json)
