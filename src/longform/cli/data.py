"""``longform data``: which datasets there are, and what each holds."""

from __future__ import annotations

from typing import Any

import click
import orjson

from longform.cli.options import json_option
from longform.errors import InputError

__all__ = ["command"]


@click.group("data", invoke_without_command=True)
@json_option
@click.pass_context
def command(context: click.Context, as_json: bool) -> None:
    """List the datasets that Longform reads, and which of them are here.

    Files are looked for in $LONGFORM_DATA and ./data, under the names that their owners gave them.
    """
    if context.invoked_subcommand is not None:
        return
    from longform.data.catalogue import CATALOGUE, data_folders, splits_here

    here = {
        name: {split: [str(path) for path in files] for split, files in splits_here(source).items()}
        for name, source in CATALOGUE.items()
    }
    if as_json:
        rows = [
            {"dataset": name, "title": source.title, "owner": source.owner, "here": here[name]}
            for name, source in CATALOGUE.items()
        ]
        click.echo(orjson.dumps(rows, option=orjson.OPT_INDENT_2))
        return
    width = max(map(len, CATALOGUE))
    for name, source in CATALOGUE.items():
        click.echo(f"{click.style(name.ljust(width), bold=True)}  {source.title}")
        for split, files in here[name].items():
            more = f" and {len(files) - 1} more" if len(files) > 1 else ""
            click.echo(f"{' ' * width}  {split}: {files[0]}{more}")
        if not here[name]:
            click.echo(click.style(f"{' ' * width}  not here; published at {source.owner}", dim=True))
    looked = " and ".join(str(folder) for folder in data_folders())
    click.echo(f"\nLooked for in {looked}. Any JSONL works too: `longform data describe FILE`.")


@command.command("describe")
@click.argument("name", metavar="NAME|FILE")
@click.option("--split", help="Which split. [default: dev, or the only one]")
@click.option("--file", metavar="FILE", help="The dataset's file, where it is not in its place.")
@click.option(
    "--field", "fields", multiple=True, metavar="WHAT=FIELD", help="Of JSON rows: question=query, long_answers=answer …"
)
@click.option("--ids", metavar="FILE", help="Only the ids in this file.")
@json_option
def describe_command(
    name: str, split: str | None, file: str | None, fields: tuple[str, ...], ids: str | None, as_json: bool
) -> None:
    """Say what a dataset holds: files, checksums, counts, statistics.

    NAME is one of `longform data`, or a file, whose shape is recognised.
    """
    from longform.corpus.training_questions import read_ids
    from longform.data import describe, load_dataset

    wrong = [one for one in fields if not all(one.partition("="))]
    if wrong:
        raise InputError(f"--field takes WHAT=FIELD, such as question=query, not {wrong[0]!r}.")
    mapped = {one.partition("=")[0]: one.partition("=")[2] for one in fields}
    if mapped and file is not None and name != "rows":
        raise InputError(f"--field maps the fields of JSON rows: `longform data describe {file} --field …`.")
    facts = describe(load_dataset(name, split=split, file=file, fields=mapped, ids=read_ids(ids) if ids else None))
    if as_json:
        click.echo(orjson.dumps(facts, option=orjson.OPT_INDENT_2))
        return
    _show(facts)


def _show(facts: dict[str, Any]) -> None:
    split = f", {facts['split']}" if facts["split"] else ""
    click.echo(click.style(f"{facts['dataset']}{split}", bold=True) + f"  {facts['title']}")
    for path, digest in facts["files"].items():
        click.echo(f"  {path}\n  sha256 {digest}")
    if facts["owner"]:
        click.echo(f"  published at {facts['owner']} ({facts['licence']})")
    if facts["published"] not in (None, facts["all"]):
        click.echo(
            click.style(
                f"  The file holds {facts['all']:,} questions; the split as published holds {facts['published']:,}.",
                fg="yellow",
            )
        )
    click.echo()
    for name, count in facts["counts"].items():
        click.echo(f"{name:28}{count:>12,}")
    for name, count in facts["kinds"].items():
        click.echo(f"{f'  of kind {name}':28}{count:>12,}")
    click.echo(f"\n{'':28}{'mean':>8}{'median':>8}{'least':>8}{'most':>8}")
    for name, spread in facts["statistics"].items():
        figures = "".join(f"{value:>8,.1f}" for value in (spread["mean"], spread["median"]))
        figures += "".join(f"{value:>8,}" for value in (spread["least"], spread["most"]))
        click.echo(f"{name:28}{figures}")
