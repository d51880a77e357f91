"""``longform remove``: remove documents from an index."""

from __future__ import annotations

import click
import orjson

from longform.cli.options import counted, index_argument, json_option
from longform.cli.progress import progress_bar

__all__ = ["command"]


@click.command("remove")
@index_argument
@click.argument("ids", nargs=-1, required=True, metavar="ID…")
@json_option
def command(index: str, ids: tuple[str, ...], as_json: bool) -> None:
    """Remove the documents with these IDs, or single passages, from INDEX. If one is not there, none is removed.

    \b
    longform remove my.index docs/old.md
    """
    from longform import Index

    target = Index.open(index)
    with progress_bar() as progress:
        removed = target.remove(ids, progress=progress)
    if as_json:
        click.echo(orjson.dumps({"index": index, "removed": removed, "passages": len(target)}))
    else:
        click.echo(f"Removed {counted(removed, 'passage')} from {index}: it holds {len(target):,} now.")
