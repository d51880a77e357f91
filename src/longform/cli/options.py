"""Options that several commands share, and how they report what they skipped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, TypeVar

import click

from longform.errors import InputError

__all__ = [
    "RESAMPLES",
    "SEED",
    "BadRows",
    "Whole",
    "counted",
    "dense_options",
    "index_argument",
    "json_option",
    "reading_options",
    "say_skipped",
    "sentences_option",
]

Function = TypeVar("Function", bound=Callable[..., Any])


class Whole(click.ParamType):  # type: ignore[type-arg]
    """A whole number between two others; said in one sentence where it is not."""

    name = "integer"

    def __init__(self, least: int, most: int) -> None:
        self.least, self.most = least, most

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        number: int = click.INT.convert(value, param, ctx)
        if not self.least <= number <= self.most:
            self.fail(f"it must lie between {self.least:,} and {self.most:,}, and {number:,} does not.", param, ctx)
        return number


SEED = Whole(0, 2**32 - 1)
RESAMPLES = Whole(1, 1_000_000)

index_argument = click.argument("index", type=click.Path(), metavar="INDEX")
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
sentences_option = click.option(
    "--sentences",
    type=click.Choice(["own", "punkt"]),
    default="own",
    show_default=True,
    help="Sentence splitter for rougeLsum; punkt is the official one and needs NLTK_DATA.",
)


def reading_options(function: Function) -> Function:
    """How documents are read."""
    for option in (
        click.option("--skip-bad", is_flag=True, help="Count rows and files that cannot be read, and go on."),
        click.option("--text-field", metavar="NAME", help="Field or column with the text."),
        click.option("--title-field", metavar="NAME", help="Field or column with the title."),
        click.option("--id-field", metavar="NAME", help="Field or column with the id."),
        click.option(
            "--shape",
            type=click.Choice(["auto", "rows", "dpr", "kilt", "beir", "mediawiki"]),
            default="auto",
            show_default=True,
            help="Layout of JSONL, TSV, CSV and XML files.",
        ),
        click.option("--passages", is_flag=True, help="Rows are passages already: keep them whole, with their ids."),
    ):
        function = option(function)
    return function


def dense_options(function: Function) -> Function:
    """How passages are encoded."""
    for option in (
        click.option(
            "--dense-method",
            type=click.Choice(["exact", "ivf"]),
            help="How vectors are searched. [default: exact up to 200,000 passages, then ivf]",
        ),
        click.option(
            "--encoder",
            metavar="MODEL",
            help="Encoder: a folder or a hub name; implies --dense. [default: shipped]",
        ),
        click.option("--dense", is_flag=True, help="Encode the passages too, for dense and hybrid search."),
    ):
        function = option(function)
    return function


def counted(count: int, noun: str) -> str:
    """A number with its noun, in the plural where it is one.

    >>> counted(1, "passage"), counted(1200, "passage")
    ('1 passage', '1,200 passages')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


class BadRows:
    """Takes what ``--skip-bad`` skips: shows the first few, counts all."""

    _SHOWN = 10

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, error: InputError) -> None:
        self.count += 1
        if self.count <= self._SHOWN:
            click.echo(f"Skipped: {error}", err=True)
        elif self.count == self._SHOWN + 1:
            click.echo("Skipped: … and more; the number of them comes at the end.", err=True)


def say_skipped(bad: BadRows, unknown: Counter[str]) -> None:
    """Say at the end what was left out."""
    if bad.count:
        click.echo(f"Skipped {counted(bad.count, 'row')} or files that could not be read.", err=True)
    if unknown:
        kinds = ", ".join(f"{suffix or 'no suffix'} × {count:,}" for suffix, count in unknown.most_common())
        click.echo(f"Left out {unknown.total():,} files of types that Longform does not read: {kinds}.", err=True)
