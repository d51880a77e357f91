"""``longform silver``: choose silver passages, and show why each was chosen."""

from __future__ import annotations

import hashlib
import re
import shutil
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import orjson

from longform.cli.options import SEED, counted, json_option
from longform.cli.plain import plain
from longform.cli.progress import progress_bar
from longform.errors import InputError

if TYPE_CHECKING:
    from longform.corpus import TrainingQuestion
    from longform.silver import SilverFile, SilverPassage, SilverRow, SilverSettings, SilverSummary

__all__ = ["command"]


@click.command("silver")
@click.argument("index", type=click.Path(), metavar="INDEX")
@click.option("--questions", metavar="FILE", help="Questions with answers: JSONL or ASQA.json, - for stdin.")
@click.option("-o", "--output", metavar="FILE", help="Where to write the silver passages.")
@click.option("--exclude", metavar="FILE", help="Ids of questions to leave out: a JSON list, or one a line.")
@click.option("--split", metavar="NAME", help="The split of an ASQA.json. [default: all]")
@click.option("--limit", type=click.IntRange(1), help="Only so many questions, from the first on.")
@click.option(
    "--method",
    type=click.Choice(["lexical", "semantic", "perplexity", "direct", "silver"]),
    default="silver",
    show_default=True,
    help="How passages are matched with the answers.",
)
@click.option("-k", type=int, default=5, show_default=True, help="How many silver passages a question gets at most.")
@click.option("--pool", type=int, default=100, show_default=True, help="How many candidates the first stage finds.")
@click.option(
    "--mode",
    type=click.Choice(["bm25", "dense", "hybrid"]),
    default="bm25",
    show_default=True,
    help="How the first stage searches.",
)
@click.option(
    "--model",
    metavar="MODEL",
    help="For perplexity a language model: a transformers folder, a GGUF file or a hub name. "
    "For semantic an encoder. [default: that of the index, else the shipped one]",
)
@click.option("--seed", type=SEED, default=0, show_default=True, help="For perplexity: what stands beside each.")
@click.option("--show", metavar="ID", help="Show the silver passages of one question; INDEX is then a silver file.")
@json_option
def command(
    index: str,
    questions: str | None,
    output: str | None,
    exclude: str | None,
    split: str | None,
    limit: int | None,
    method: str,
    k: int,
    pool: int,
    mode: str,
    model: str | None,
    seed: int,
    show: str | None,
    as_json: bool,
) -> None:
    """Choose, among the passages that INDEX finds for each question, those that support its answers.

    \b
    longform silver my.index --questions qa.jsonl -o silver.jsonl
    longform silver silver.jsonl --show nq-0
    """
    if show is not None:
        if questions is not None or output is not None:
            raise InputError("--show reads a silver file: leave out --questions and -o.")
        _show(index, show, as_json)
        return
    if questions is None or output is None:
        missing = "--questions FILE" if questions is None else "-o FILE"
        raise InputError(f"{missing} is missing: `longform silver {index} --questions qa.jsonl -o silver.jsonl`.")
    if model is not None and method not in ("perplexity", "semantic"):
        raise InputError(f"--model goes with --method perplexity or semantic; {method} needs none.")
    from longform.files import checked_target
    from longform.silver import SilverSettings

    checked_target(output, [questions, exclude])
    settings = SilverSettings(method, k, pool, mode, seed)
    asked, origin = _questions(questions, exclude, split, limit)
    summary = _write(index, asked, output, settings, origin, model)
    _report(summary, output, as_json)


def _questions(
    path: str, exclude: str | None, split: str | None, limit: int | None
) -> tuple[list[TrainingQuestion], dict[str, Any]]:
    """The questions, and what the header says of where they came from."""
    from longform.corpus import read_ids, read_training_questions

    excluded = frozenset() if exclude is None else read_ids(exclude)
    asked = read_training_questions(path, split=split, exclude_ids=excluded)[:limit]
    origin: dict[str, Any] = {
        "questions": path,
        "questions_sha256": _digest(path, [question.to_json() for question in asked]),
    }
    if exclude is not None:
        origin |= {"exclude": exclude, "exclude_sha256": _digest(exclude, sorted(excluded))}
    if split is not None:
        origin["split"] = split
    if limit is not None:
        origin["limit"] = limit
    return asked, origin


def _digest(path: str, read: list[Any]) -> str:
    """The sha256 of a file, or of what was read from standard input."""
    from longform.files import sha256_of

    return hashlib.sha256(orjson.dumps(read)).hexdigest() if path == "-" else sha256_of(Path(path))


def _write(
    index: str,
    asked: list[TrainingQuestion],
    output: str,
    settings: SilverSettings,
    origin: dict[str, Any],
    model: str | None,
) -> SilverSummary:
    from longform import Index
    from longform.silver import write_silver

    target = Index.open(index)
    tools: dict[str, Any] = {}
    if settings.method == "perplexity":
        if model is None:
            raise InputError("--method perplexity needs a language model: name one with --model.")
        from longform.train.likelihood import CausalModel

        tools["language_model"] = CausalModel.load(model)
    elif model is not None:
        from longform.models import Encoder

        tools["encoder"] = Encoder.load(model)
    with progress_bar() as progress:
        return write_silver(target, asked, output, settings, origin=origin, progress=progress, **tools)


def _report(summary: SilverSummary, output: str, as_json: bool) -> None:
    empty = summary.questions - summary.with_silver
    if as_json:
        row = {
            "output": output,
            "questions": summary.questions,
            "with_silver": summary.with_silver,
            "without_silver": empty,
            "passages": summary.passages,
            "answers": summary.answers,
            "answers_found": summary.answers_found,
            "coverage": summary.coverage,
            "mean_match": summary.match,
            "resumed": summary.resumed,
        }
        click.echo(orjson.dumps(row, option=orjson.OPT_INDENT_2))
        return
    if summary.resumed:
        click.echo(f"Went on behind {counted(summary.resumed, 'question')} that an earlier run had finished.")
    click.echo(
        f"Wrote {counted(summary.passages, 'silver passage')} for {counted(summary.questions, 'question')} to {output}"
        + (f"; {counted(empty, 'question')} got none." if empty else ".")
    )
    held = f"{summary.answers_found:,} of {counted(summary.answers, 'direct answer')}"
    covered = f"They hold {held} ({summary.coverage:.1%}); mean" if summary.coverage is not None else "Mean"
    click.echo(f"{covered} match {summary.match:.3f}.")


# Showing ----------------------------------------------------------------------------------------------------------


def _show(path: str, identifier: str, as_json: bool) -> None:
    from longform.silver import read_silver

    if Path(path).is_dir():
        raise InputError(f"{path} is a folder: --show reads the file that `longform silver … -o FILE` wrote.")
    found = read_silver(path)
    row = _row(found, path, identifier)
    if as_json:
        click.echo(orjson.dumps(row.to_json(), option=orjson.OPT_INDENT_2))
        return
    width = min(shutil.get_terminal_size().columns, 100) if sys.stdout.isatty() else 100
    click.echo(click.style(plain(row.question), bold=True))
    for answer in row.long_answers:
        click.echo(_filled(plain(answer), width))
    if row.short_answers:
        names = ", ".join(plain(names[0]) for names in row.short_answers)
        click.echo(_filled(f"Direct answers: {names} ({row.answers_found} of {row.answers} in silver passages)", width))
    click.echo()
    for passage in row.silver:
        _show_passage(passage, width)
    header = found.header
    what = f"{len(row.silver)} of {counted(len(row.pool), 'candidate')}" if row.silver else "No candidate was chosen"
    click.echo(click.style(f"{what} · {plain(str(header.get('method', '')))} · {plain(path)}", dim=True))


def _row(found: SilverFile, path: str, identifier: str) -> SilverRow:
    row = next((row for row in found.rows if row.id == identifier), None)
    if row is None:
        some = ", ".join(row.id for row in found.rows[:3]) or "none"
        raise InputError(f"{path} has no question {identifier!r}; it has {len(found.rows):,}, the first: {some}.")
    return row


def _show_passage(passage: SilverPassage, width: int) -> None:
    click.echo(
        f"{click.style(f'{passage.rank:>3}', fg='cyan', bold=True)}  {click.style(plain(passage.title), bold=True)}"
        f"  {click.style(f'{passage.score:.4f}', dim=True)}"
    )
    click.echo(click.style(_filled(plain(passage.why), width, "     "), fg="green"))
    filled = _filled(plain(passage.text), width, "     ")
    click.echo(_highlighted(filled, passage))
    click.echo(click.style(f"     {plain(passage.id)}", dim=True))
    click.echo()


def _highlighted(text: str, passage: SilverPassage) -> str:
    """The text with the direct answers underlined, and the words of the long answer in bold."""
    names = sorted((re.escape(plain(name)).replace(r"\ ", r"\s+") for name in passage.answers), key=len, reverse=True)
    words = frozenset(passage.words)

    def style(match: re.Match[str]) -> str:
        if match["answer"]:
            return click.style(match[0], bold=True, underline=True)
        return click.style(match[0], bold=True) if match[0].lower() in words else match[0]

    answers = f"(?P<answer>{'|'.join(names)})" if names else "(?P<answer>(?!))"
    return re.sub(rf"{answers}|[^\W_]+", style, text, flags=re.IGNORECASE)


def _filled(text: str, width: int, indent: str = "") -> str:
    return textwrap.fill(text, width, initial_indent=indent, subsequent_indent=indent)
