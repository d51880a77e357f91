"""``longform index``: make an index of documents."""

from __future__ import annotations

import time

import click

from longform.cli.options import BadRows, dense_options, json_option, reading_options, say_skipped
from longform.cli.progress import progress_bar
from longform.cli.reading import collection, dense_choice, summary

__all__ = ["command"]


@click.command("index")
@click.argument("docs", nargs=-1, required=True, metavar="DOCS…")
@click.option("-o", "--output", required=True, type=click.Path(), metavar="INDEX", help="Folder to make.")
@click.option("--words", default=100, show_default=True, help="Largest number of words in a passage.")
@reading_options
@dense_options
@click.option("--overwrite", is_flag=True, help="Replace the index that is there.")
@json_option
def command(
    docs: tuple[str, ...],
    output: str,
    words: int,
    passages: bool,
    shape: str,
    id_field: str | None,
    title_field: str | None,
    text_field: str | None,
    skip_bad: bool,
    dense: bool,
    encoder: str | None,
    dense_method: str | None,
    overwrite: bool,
    as_json: bool,
) -> None:
    """Make an index of DOCS: files, folders, globs, or - for JSONL on standard input.

    Reads .txt, .md, .html, .pdf, .jsonl, .tsv, .csv (also .gz, .bz2, .xz), DPR, KILT and BEIR collections, and
    MediaWiki dumps. Interrupted, it goes on where it stopped when run again.

    \b
    longform index docs/ -o my.index
    longform index passages.jsonl.gz --passages --dense -o my.index
    """
    from longform import Index

    started = time.perf_counter()
    bad = BadRows()
    documents = collection(docs, passages, shape, id_field, title_field, text_field, skip_bad, bad)
    with progress_bar() as progress:
        index = Index.create(
            output,
            documents,
            words=words,
            dense=dense_choice(dense, encoder, dense_method),
            overwrite=overwrite,
            on_bad=bad if skip_bad else None,
            progress=progress,
        )
    say_skipped(bad, documents.skipped)
    summary(index, "Indexed", time.perf_counter() - started, as_json)
