"""``longform info``: say what an index holds, and check it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import orjson

from longform.cli.options import counted, index_argument, json_option
from longform.cli.progress import progress_bar
from longform.errors import FailureError

__all__ = ["command"]


@click.command("info")
@index_argument
@click.option("--quick", is_flag=True, help="Check names and sizes only, not the checksums.")
@json_option
def command(index: str, quick: bool, as_json: bool) -> None:
    """Say what INDEX holds, and check that it is whole. Exits with 1 if it is not."""
    from longform import Index
    from longform.retrieve import is_pending, verify

    with progress_bar() as progress:
        problems = verify(Path(index), checksums=not quick, progress=progress)
    if problems and not as_json:
        for problem in problems:
            click.echo(problem, err=True)
        raise FailureError(f"{index} is damaged ({len(problems)} problems): restore it from a copy or build it anew.")
    facts = _facts(Index.open(index)) if not problems else {}
    facts |= {"unfinished": is_pending(Path(index)), "problems": problems}
    if as_json:
        click.echo(orjson.dumps(facts, option=orjson.OPT_INDENT_2))
        if problems:
            raise SystemExit(FailureError.exit_code)
        return
    _show(facts, quick)


def _facts(index: Any) -> dict[str, Any]:
    from longform.retrieve.bm25 import ANALYSER, K1, B

    manifest = index.manifest
    return {
        "index": str(index.folder),
        "passages": manifest.passages,
        "documents": manifest.documents,
        "deleted": manifest.rows - manifest.passages,
        "parts": len(manifest.parts),
        "words": manifest.words,
        "bm25": {"analyser": ANALYSER, "k1": K1, "b": B},
        "dense": None
        if manifest.dense is None
        else {
            "encoder": manifest.dense.encoder,
            "dimension": manifest.dense.dimension,
            "method": manifest.dense.method,
            "fingerprint": manifest.dense.fingerprint,
        },
        "bytes": sum(record.bytes for record in manifest.files.values()),
        "generation": manifest.generation,
        "created": manifest.created,
        "updated": manifest.updated,
        "format": manifest.format,
        "longform": manifest.longform,
    }


def _show(facts: dict[str, Any], quick: bool) -> None:
    dense = facts["dense"]
    bm25 = facts["bm25"]
    documents = counted(facts["documents"], "document")
    rows = {
        "index": facts["index"],
        "passages": f"{facts['passages']:,} of {documents}, up to {facts['words']} words each",
        "bm25": f"{bm25['analyser']}, k1 = {bm25['k1']}, b = {bm25['b']}",
        "dense": f"{dense['encoder']}, {dense['dimension']} dimensions, {dense['method']}" if dense else "no",
        "size": f"{facts['bytes'] / 1e6:,.1f} MB",
        "deleted": counted(facts["deleted"], "passage") if facts["deleted"] else "none",
        "updated": f"{facts['updated']} (generation {facts['generation']}, format {facts['format']})",
        "state": "whole" + (" (sizes only)" if quick else ", checksums right"),
    }
    for name, value in rows.items():
        click.echo(f"{click.style(f'{name:10}', bold=True)}{value}")
    if facts["unfinished"]:
        click.echo("A change was begun and not finished: run its command again, or any other; the index is unharmed.")
    if facts["deleted"] > facts["passages"] // 4 or facts["parts"] > 50:
        click.echo(f"`longform compact {facts['index']}` would make it smaller and faster.")
