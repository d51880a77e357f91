"""``longform study report``: a folder of runs as tables, plots and one page."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import click
import orjson

from longform.cli.options import RESAMPLES, SEED, Whole, counted, json_option
from longform.cli.progress import progress_bar

if TYPE_CHECKING:
    from longform.report import ReportFiles

__all__ = ["command"]

_MANY = Whole(0, 100_000)


@click.command("report")
@click.argument("runs", type=click.Path())
@click.option("-o", "--output", type=click.Path(), metavar="FOLDER", required=True, help="Where the report goes.")
@click.option(
    "--baseline",
    metavar="SYSTEM",
    help="Test the others against it; none for no tests. [default: each dataset's first that is no bound]",
)
@click.option(
    "--metric",
    "metrics",
    multiple=True,
    metavar="NAME",
    help="Only these scores; the first says how good an answer is. [default: all]",
)
@click.option("--examples", type=_MANY, default=20, show_default=True, help="Questions shown of each dataset.")
@click.option("--seed", type=SEED, default=0, show_default=True, help="Of the tests, and of examples drawn by chance.")
@click.option("--resamples", type=RESAMPLES, default=10_000, show_default=True, help="Of the paired tests.")
@click.option("--title", help="Of the page.")
@json_option
def command(
    runs: str,
    output: str,
    baseline: str | None,
    metrics: tuple[str, ...],
    examples: int,
    seed: int,
    resamples: int,
    title: str | None,
    as_json: bool,
) -> None:
    """Make a report of the runs in RUNS: one page that is readable offline, tables (Markdown, LaTeX, CSV) and plots.

    \b
    longform study report runs/ -o report/ --baseline bm25@5
    """
    from longform.report import make_report

    given = ["longform", "study", "report", runs, "-o", output]
    for name, value, default in (
        ("--baseline", baseline, None),
        ("--examples", examples, 20),
        ("--seed", seed, 0),
        ("--resamples", resamples, 10_000),
        ("--title", title, None),
    ):
        given += [name, str(value)] if value != default else []
    given += [part for name in metrics for part in ("--metric", name)]
    with progress_bar() as progress:
        made = make_report(
            runs,
            output,
            baseline=baseline,
            metrics=metrics,
            examples=examples,
            seed=seed,
            resamples=resamples,
            title=title,
            command=shlex.join(given),
            progress=progress,
        )
    _tell(made, as_json)


def _tell(made: ReportFiles, as_json: bool) -> None:
    from longform.report.formats import csv_rows

    if as_json:
        row = {
            "page": str(made.page),
            "files": [str(path) for path in made.files],
            "caveats": list(made.caveats),
            "scores": csv_rows(made.tables),
        }
        click.echo(orjson.dumps(row, option=orjson.OPT_INDENT_2))
        return
    for sentence in made.caveats:
        click.echo(f"Note: {sentence}", err=True)
    for table in made.tables:
        against = f", tested against {table.baseline}" if table.baseline else ""
        click.echo(f"{table.label}: {counted(len(table.systems), 'system')}{against}")
    size = made.page.stat().st_size // 1000
    click.echo(f"{made.page}: {size:,} kB, {counted(made.examples, 'example')}; tables and plots are beside it.")
