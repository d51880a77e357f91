"""How findings are printed and kept: a verdict with short tables, JSON, or a Markdown page."""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
import orjson

from longform.cli.options import RESAMPLES, SEED, Whole
from longform.errors import FailureError, reason_of

if TYPE_CHECKING:
    from longform.audit.finding import Finding, Table

__all__ = [
    "COUNT",
    "dataset_options",
    "finding_options",
    "keep_findings",
    "note_option",
    "present_findings",
    "score_options",
    "typed_command",
]

Function = TypeVar("Function", bound=Callable[..., Any])
_WIDTH = 100
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
# Rows of a table of sentences in the terminal.
_SHOWN = 10
COUNT = Whole(1, 1_000_000_000)
"""A number of questions."""
_COLOURS = {"fine": "green", "concern": "red", "unknown": "yellow"}


def finding_options(function: Function) -> Function:
    """What every audit can do with its findings."""
    for option in (
        click.option("--json", "as_json", is_flag=True, help="Print JSON."),
        click.option("-o", "--output", type=click.Path(), metavar="PAGE", help="Write them as a page (Markdown)."),
        click.option("--resamples", type=RESAMPLES, default=10_000, show_default=True, help="For intervals and tests."),
        click.option("--seed", type=SEED, default=0, show_default=True, help="Of every draw."),
    ):
        function = option(function)
    return function


note_option = click.option("--note", "notes", multiple=True, metavar="TEXT", help="A remark to put below the tables.")


def dataset_options(function: Function) -> Function:
    """Which questions are asked."""
    for option in (
        click.option("--limit", type=COUNT, metavar="N", help="Only the first N questions: to try a command out."),
        click.option("--ids", type=click.Path(), metavar="FILE", help="Of its questions only the ids in this file."),
        click.option("--split", metavar="NAME", help="Its split. [default: dev, or the only one]"),
        click.option("--dataset", metavar="NAME", help="A dataset by name, or a file; see longform data."),
    ):
        function = option(function)
    return function


def score_options(function: Function) -> Function:
    """How answers are scored."""
    for option in (
        click.option(
            "--reader", default="none", show_default=True, metavar="MODEL", help="For Disambig-F1, DR and C-F1."
        ),
        click.option(
            "--sentences",
            type=click.Choice(["own", "punkt"]),
            default="own",
            show_default=True,
            help="How ROUGE-L splits; punkt as the official scorers do.",
        ),
    ):
        function = option(function)
    return function


def present_findings(
    title: str,
    findings: Sequence[Finding],
    *,
    hashes: Mapping[str, str],
    seed: int,
    as_json: bool,
    output: str | None,
    kept: str = "",
) -> None:
    """Print findings, and write them as a page where one is wanted; ``kept`` says what else was written.

    The page and JSON have everything; a terminal shows the first rows of tables of sentences.
    """
    from longform.audit.finding import audit_page
    from longform.files import atomic_write

    command = typed_command()
    if output is not None:
        page = audit_page(title, findings, command=command, hashes=hashes, seed=seed)
        try:
            Path(output).parent.mkdir(parents=True, exist_ok=True)
            with atomic_write(Path(output)) as file:
                file.write(page.encode())
        except OSError as error:
            raise FailureError(f"{output} cannot be written: {reason_of(error)}.") from error
    if as_json:
        rows = [finding.to_json() for finding in findings]
        record = {"title": title, "findings": rows, "command": command, "hashes": dict(hashes), "seed": seed}
        click.echo(orjson.dumps(record, option=orjson.OPT_INDENT_2))
        return
    for place, finding in enumerate(findings):
        click.echo(("\n" if place else "") + _told(_printable(finding)))
    wrote = [text for text in (f"Wrote {output}." if output else "", kept) if text]
    if wrote:
        click.echo("\n" + "\n".join(wrote))


def typed_command() -> str:
    """What was typed, with the variables that say where data are."""
    places = [
        f"{name}={shlex.quote(os.environ[name])}" for name in ("LONGFORM_DATA", "NLTK_DATA") if name in os.environ
    ]
    return " ".join([*places, shlex.join(["longform", *sys.argv[1:]])])


def keep_findings(folder: Path, findings: Sequence[Finding]) -> None:
    """Keep findings with their tables in ``findings.json``, where ``longform study report`` finds them."""
    from longform.files import atomic_write

    rows = [{**finding.to_json(), "tables": [asdict(table) for table in finding.tables]} for finding in findings]
    path = folder / "findings.json"
    try:
        with atomic_write(path) as file:
            file.write(orjson.dumps({"findings": rows}, option=orjson.OPT_INDENT_2))
    except OSError as error:
        raise FailureError(f"{path} cannot be written: {reason_of(error)}.") from error


def _printable(finding: Finding) -> Finding:
    """The finding without characters that would steer the terminal: questions and names are other people's."""
    tables = [
        replace(table, title=_plain(table.title), rows=[[_plain(cell) for cell in row] for row in table.rows])
        for table in finding.tables
    ]
    notes = [_plain(note) for note in finding.notes]
    return replace(finding, check=_plain(finding.check), words=_plain(finding.words), tables=tables, notes=notes)


def _plain(text: str) -> str:
    return _CONTROL.sub("�", text)


def _told(finding: Finding) -> str:
    colour = _COLOURS[finding.verdict.value]
    head = f"{click.style(finding.check, bold=True)}  {click.style(finding.verdict.value, fg=colour, bold=True)}"
    parts = [head, click.wrap_text(finding.words, _WIDTH)]
    parts += [f"\n{_table(table)}" for table in finding.tables]
    if finding.notes:
        parts.append("")
        parts += [click.wrap_text(f"– {note}", _WIDTH, subsequent_indent="  ") for note in finding.notes]
    return "\n".join(parts)


def _table(table: Table) -> str:
    if table.sentences:
        return _stacked(table)
    rows = [list(table.columns), *(list(row) for row in table.rows)]
    widths = [max(len(row[place]) for row in rows) for place in range(len(table.columns))]
    lines = [
        "  ".join(
            cell.ljust(width) if place == 0 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
    return "\n".join([click.style(table.title, bold=True), click.style(lines[0], dim=True), *lines[1:]])


def _stacked(table: Table) -> str:
    """The first rows of a table of sentences: the two one below the other, and before them the number behind them."""
    lines = [click.style(table.title, bold=True)]
    for first, second, number, *_ in table.rows[:_SHOWN]:
        lines.append(f"{number:>8}  {first}\n{'':8}  {click.style(second, dim=True)}")
    if len(table.rows) > _SHOWN:
        lines.append(f"{'':8}  … and more: -o writes them as a page, --csv all pairs.")
    return "\n".join(lines)
