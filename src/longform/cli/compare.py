"""``longform compare``: two scored systems, item by item."""

from __future__ import annotations

from pathlib import Path

import click
import orjson

from longform.cli.options import RESAMPLES, SEED, json_option
from longform.errors import InputError

__all__ = ["command"]


@click.command("compare")
@click.argument("first", type=click.Path(), metavar="A")
@click.argument("second", type=click.Path(), metavar="B")
@click.option("--metric", "metrics", multiple=True, metavar="NAME", help="May be given often. [default: all]")
@click.option(
    "--resamples",
    type=RESAMPLES,
    default=10_000,
    show_default=True,
    help="Of bootstrap and permutation test.",
)
@click.option("--seed", type=SEED, default=0, show_default=True)
@json_option
def command(first: str, second: str, metrics: tuple[str, ...], resamples: int, seed: int, as_json: bool) -> None:
    """Compare two systems whose scores `longform score … -o FOLDER` has kept in A and B.

    For every metric: both scores, the difference A − B with its 95 % interval (paired bootstrap), the p-value of the
    paired permutation test, and the same corrected for all metrics asked for (Holm).

    \b
    longform compare runs/ours runs/theirs --metric DR
    """
    from longform.score.statistics import compare, holm
    from longform.score.store import load_report

    found = compare(load_report(Path(first)), load_report(Path(second)), resamples=resamples, seed=seed)
    unknown = [name for name in metrics if name not in found]
    if unknown:
        raise InputError(f"There is no metric {unknown[0]!r} in both; there are {', '.join(found)}.")
    names = list(metrics or found)
    corrected = dict(zip(names, holm([found[name].p for name in names]), strict=True))
    rows = {name: {**found[name]._asdict(), "holm": corrected[name]} for name in names}
    if as_json:
        row = {"first": first, "second": second, "metrics": rows, "settings": {"resamples": resamples, "seed": seed}}
        click.echo(orjson.dumps(row, option=orjson.OPT_INDENT_2))
        return
    width = max(len("metric"), *map(len, names))
    head = f"{'metric':{width}} {'A':>9} {'B':>9} {'A − B':>9}   {'95 % interval':20} {'p':>7} {'Holm':>7}"
    click.echo(click.style(head, bold=True))
    for name, row in rows.items():
        interval = f"[{row['low']:.4f}, {row['high']:.4f}]"
        click.echo(
            f"{name:{width}} {row['first']:9.4f} {row['second']:9.4f} {row['difference']:+9.4f}   {interval:20} "
            f"{row['p']:7.4f} {row['holm']:7.4f}"
        )
