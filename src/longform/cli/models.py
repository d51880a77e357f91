"""``longform models``: what models there are, what they are for, and how to get more."""

from __future__ import annotations

from typing import Any

import click
import orjson

from longform.cli.options import json_option
from longform.cli.progress import progress_bar

__all__ = ["command"]

_USES = {
    "encoder": "index --dense, search",
    "reranker": "search --rerank, ask",
    "reader": "search --select diverse, score asqa",
    "entailment": "score alce, checking answers",
    "language model": "ask --model",
}


# Folders of the cache with what was made from other models.
_DERIVED = ("bases/", "converted/")


@click.group("models", invoke_without_command=True)
@json_option
@click.pass_context
def command(context: click.Context, as_json: bool) -> None:
    """List the models that are here, what they are for, and what can be fetched."""
    if context.invoked_subcommand is not None:
        return
    rows = [*_shipped(), *_cached(), *_fetchable()]
    if as_json:
        click.echo(orjson.dumps(rows, option=orjson.OPT_INDENT_2))
        return
    for state in ("shipped", "installed", "damaged", "to fetch"):
        part = [row for row in rows if row["state"] == state]
        if part:
            click.echo(f"{state.capitalize()}:")
            for row in part:
                _show(row)
            click.echo()
    click.echo(
        "Language models of your own: --model gguf:FILE, --model openai:NAME@URL (key in LONGFORM_API_KEY),\n"
        "--model hf:FOLDER. Encoders, re-rankers and readers of your own: a folder, or owner/name of the hub."
    )


@command.command("get")
@click.argument("name")
def get(name: str) -> None:
    """Fetch the model NAME into the cache, once, for use without a network."""
    from longform.models.fetch import fetch_model

    with progress_bar() as progress:
        path = fetch_model(name, progress)
    click.echo(f"{name.lower()} is installed: {path}")
    click.echo(f"Use it with `longform ask INDEX QUESTION --model {name.lower()}`.")


def _shipped() -> list[dict[str, Any]]:
    from longform.models.registry import find_model, list_models

    rows = []
    for entry in list_models():
        folder = find_model(entry.name, entry.kind).folder
        size = sum((folder / name).stat().st_size for name in entry.sha256)
        rows.append(_row(entry.name, entry.kind, "shipped", entry.description, entry.licence, entry.source, size))
    return rows


def _cached() -> list[dict[str, Any]]:
    """What was fetched from the hub or put into the cache by hand; what it is for is not told by its files."""
    from longform.models.fetch import FETCHABLE
    from longform.models.registry import cache_folder

    home = cache_folder()
    if not home.is_dir():
        return []
    folders = {path.parent for path in (*home.glob("*/config.json"), *home.glob("*/*/config.json"))}
    rows = []
    for folder in sorted(folders):
        name = folder.relative_to(home).as_posix()
        if name in FETCHABLE or name.startswith((".", *_DERIVED)):
            continue
        size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
        rows.append(_row(name, "", "installed", f"in {folder}", "", name if "/" in name else "", size))
    return rows


def _fetchable() -> list[dict[str, Any]]:
    from longform.errors import FailureError
    from longform.models.fetch import FETCHABLE, installed

    rows = []
    for model in FETCHABLE.values():
        try:
            state = "installed" if installed(model) else "to fetch"
        except FailureError:
            state = "damaged"
        row = _row(model.name, "language model", state, model.description, model.licence, model.source, model.size)
        if state != "installed":
            row["get"] = f"longform models get {model.name}"
        rows.append(row)
    return rows


def _row(name: str, kind: str, state: str, description: str, licence: str, source: str, size: int) -> dict[str, Any]:
    return {
        "name": name,
        "kind": kind,
        "state": state,
        "description": description,
        "used_by": _USES.get(kind, ""),
        "size": size,
        "licence": licence,
        "source": source,
    }


def _show(row: dict[str, Any]) -> None:
    facts = [row["kind"], f"{row['size'] / 1e6:,.1f} MB", row["licence"]]
    click.echo(f"  {row['name']:<12}  {', '.join(fact for fact in facts if fact)}")
    click.echo(f"  {'':<12}  {row['description']}")
    if row["used_by"]:
        click.echo(f"  {'':<12}  for: {row['used_by']}")
    if "get" in row:
        click.echo(f"  {'':<12}  `{row['get']}` fetches it")
