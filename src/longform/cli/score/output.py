"""How scores are printed and kept: a table or JSON, and a folder that ``longform compare`` reads."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
import orjson

from longform.cli.options import RESAMPLES, SEED
from longform.errors import InputError, reason_of

if TYPE_CHECKING:
    from longform.score.report import Report

__all__ = ["load_answers", "load_json", "load_object", "output_options", "present"]

Function = TypeVar("Function", bound=Callable[..., Any])


def output_options(function: Function) -> Function:
    """What every scoring command can do with its scores."""
    for option in (
        click.option("--json", "as_json", is_flag=True, help="Print one JSON object."),
        click.option("-o", "--output", type=click.Path(), metavar="FOLDER", help="Keep the scores and items here."),
        click.option(
            "--resamples",
            type=RESAMPLES,
            default=10_000,
            show_default=True,
            help="Of the bootstrap, for the intervals.",
        ),
        click.option("--seed", type=SEED, default=0, show_default=True, help="Seed of the resampling."),
    ):
        function = option(function)
    return function


def present(report: Report, *, as_json: bool, output: str | None, resamples: int, seed: int) -> None:
    """Print the scores with their intervals; keep them in a folder where one is given."""
    from longform.score.statistics import intervals
    from longform.score.store import save_report, summary

    found = intervals(report, resamples=resamples, seed=seed)
    row = summary(report, found, {"resamples": resamples, "interval_seed": seed})
    if output is not None:
        save_report(Path(output), report, row)
    if as_json:
        click.echo(orjson.dumps(row, option=orjson.OPT_INDENT_2))
        return
    click.echo(f"{report.task}: {report.n:,} items\n")
    width = max(len(name) for name in row["scores"])
    # Scores are shares or percentages, all of one report alike.
    digits = 4 if max(row["scores"].values()) <= 1 else 2
    for name, value in row["scores"].items():
        low_high = row["intervals"].get(name)
        interval = f"   [{low_high[0]:.{digits}f}, {low_high[1]:.{digits}f}]" if low_high else ""
        shown = click.style(f"{name:{width}}", bold=True)
        click.echo(f"{shown}  {value:9.{digits}f}{click.style(interval, dim=True)}")
    if output is not None:
        click.echo(f"\nKept in {output}.")


def load_json(path: str, what: str) -> Any:
    """The JSON value of a file; an error that names it where there is none."""
    try:
        return orjson.loads(Path(path).read_bytes())
    except orjson.JSONDecodeError as error:
        raise InputError(f"{path} is not valid JSON ({error.msg}, line {error.lineno}): the {what} must be.") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {reason_of(error)}.") from None


def load_object(path: str, what: str) -> dict[str, Any]:
    """The JSON object of a file."""
    found = load_json(path, what)
    if not isinstance(found, dict):
        raise InputError(f"{path} is no JSON object: the {what} must be one, from ids to texts.")
    return found


def load_answers(path: str) -> Any:
    """Long answers by id: a JSON object, or the lines that ``longform ask -o`` writes, without their citations."""
    if not path.endswith((".jsonl", ".jsonl.gz", ".ndjson")):
        return load_object(path, "predictions")
    from longform.score.citations import remove_citations
    from longform.score.rows import json_rows

    answers: dict[str, str] = {}
    for number, row in enumerate(json_rows(path), 1):
        identifier, answer = row.get("id"), row.get("answer")
        if not isinstance(identifier, str | int) or not isinstance(answer, str):
            raise InputError(f"{path}: row {number} needs an id and an answer, as `longform ask -o` writes them.")
        if str(identifier) in answers:
            raise InputError(f"{path}: row {number} answers {identifier} a second time.")
        answers[str(identifier)] = remove_citations(answer)
    return answers
