"""``longform add``: add documents to an index, or replace them."""

from __future__ import annotations

import time

import click

from longform.cli.options import (
    BadRows,
    dense_options,
    index_argument,
    json_option,
    reading_options,
    say_skipped,
)
from longform.cli.progress import progress_bar
from longform.cli.reading import collection, dense_choice, summary

__all__ = ["command"]


@click.command("add")
@index_argument
@click.argument("docs", nargs=-1, metavar="DOCS…")
@reading_options
@dense_options
@json_option
def command(
    index: str,
    docs: tuple[str, ...],
    passages: bool,
    shape: str,
    id_field: str | None,
    title_field: str | None,
    text_field: str | None,
    skip_bad: bool,
    dense: bool,
    encoder: str | None,
    dense_method: str | None,
    as_json: bool,
) -> None:
    """Add DOCS to INDEX. A document that is there already is replaced; with --passages, a passage is.

    With --dense and no DOCS, encodes an index that has no vectors yet.

    \b
    longform add my.index more/ new.pdf
    longform add my.index --dense
    """
    from longform import Index
    from longform.errors import InputError

    started = time.perf_counter()
    bad = BadRows()
    choice = dense_choice(dense, encoder, dense_method)
    if not docs and not choice:
        raise InputError("Name documents to add, or give --dense to encode what is there.")
    target = Index.open(index)
    documents = collection(docs, passages, shape, id_field, title_field, text_field, skip_bad, bad) if docs else None
    with progress_bar() as progress:
        target.add(documents or (), dense=choice, on_bad=bad if skip_bad else None, progress=progress)
    if documents is not None:
        say_skipped(bad, documents.skipped)
    summary(target, "Added to", time.perf_counter() - started, as_json)
