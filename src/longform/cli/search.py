"""``longform search``: search an index."""

from __future__ import annotations

import re
import shutil
import sys
import textwrap
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
import orjson

from longform.cli.options import counted, index_argument, json_option
from longform.cli.plain import plain
from longform.cli.progress import progress_bar
from longform.cli.reranking import Refiner, reranking_options, take_question
from longform.errors import InputError

if TYPE_CHECKING:
    from longform import Hit, Index

__all__ = ["command"]


@click.command("search")
@index_argument
@click.argument("question", required=False)
@click.option("-k", type=int, help="How many passages. [default: 10, or all where there are fewer]")
@click.option(
    "--mode",
    type=click.Choice(["bm25", "dense", "hybrid"]),
    help="How to search. [default: hybrid where the index has vectors, else bm25]",
)
@click.option("--fusion", type=click.Choice(["rrf", "weighted"]), default="rrf", show_default=True, help="For hybrid.")
@click.option("--weight", default=0.5, show_default=True, help="Share of dense search in hybrid, from 0 to 1.")
@reranking_options
@click.option("--questions", metavar="FILE", help='Many questions: lines of {"id": …, "question": …}, - for stdin.')
@click.option("-o", "--output", metavar="FILE", help="With --questions: where to write. [default: stdout]")
@click.option(
    "--format",
    "form",
    type=click.Choice(["trec", "jsonl"]),
    help="With --questions. [default: by the file's name, else trec]",
)
@json_option
def command(
    index: str,
    question: str | None,
    k: int | None,
    mode: str | None,
    fusion: str,
    weight: float,
    rerank: str | None,
    pool: int | None,
    budget_ms: float | None,
    select: str | None,
    reader: str | None,
    questions: str | None,
    output: str | None,
    form: str | None,
    as_json: bool,
) -> None:
    """Search INDEX for one QUESTION, or for all of a file.

    \b
    longform search my.index "Who was the ruler of France in 1830?" -k 3
    longform search my.index "Who was the ruler of France in 1830?" --rerank
    longform search my.index --questions q.jsonl -k 100 -o run.trec
    """
    from longform import Index
    from longform.retrieve.index import DEFAULT_K

    if questions is None:
        index, question, rerank = take_question(index, question, rerank)
    if (question is None) == (questions is None):
        raise InputError("Give one question, or a file of them with --questions.")
    if questions is None and (output is not None or form is not None):
        raise InputError("-o and --format go with --questions; for one question, --json prints all there is.")
    target = Index.open(index)
    refiner = Refiner.of(target, k, rerank=rerank, pool=pool, budget_ms=budget_ms, select=select, reader=reader)
    started = time.perf_counter()
    if questions is not None:
        output = output or "-"
        if as_json and output == "-":
            form = form or "jsonl"
        written = _batch(target, questions, k, mode, fusion, weight, refiner, output, form)
        if output == "-":
            return
        if as_json:
            click.echo(orjson.dumps({"index": index, "questions": written, "output": output}))
        else:
            click.echo(f"Wrote the rankings of {counted(written, 'question')} to {output}.")
        return
    assert question is not None
    hits: Sequence[Hit]
    hits = target.search(question, refiner.pool if refiner else k, mode, fusion=fusion, dense_weight=weight)
    if refiner is not None:
        hits = refiner(question, hits)
    seconds = time.perf_counter() - started
    mode = mode or target.default_mode
    if as_json:
        asked = min(DEFAULT_K, len(target)) if k is None else k
        row = {"question": question, "mode": mode, "k": asked, **(refiner.row if refiner else {})}
        row["hits"] = [hit.to_json() for hit in hits]
        click.echo(orjson.dumps(row, option=orjson.OPT_INDENT_2))
        return
    _show(hits)
    found = (
        f"{len(hits)} of {counted(len(target), 'passage')}" if hits else "No passage shares a word with the question"
    )
    stages = " · ".join([mode, *(refiner.done if refiner and hits else [])])
    click.echo(click.style(f"{found} · {stages} · {seconds * 1000:.0f} ms", dim=True))


def _batch(
    index: Index,
    questions: str,
    k: int | None,
    mode: str | None,
    fusion: str,
    weight: float,
    refiner: Refiner | None,
    output: str,
    form: str | None,
) -> int:
    from longform import read_questions
    from longform.retrieve import run_format, write_run

    asked = read_questions(questions)
    if Path(output).is_file():
        from longform.files import checked_target

        checked_target(output, [questions])
    with progress_bar() as progress:
        write_run(
            index,
            asked,
            output,
            run_format(output, form),
            k=refiner.pool if refiner else k,
            mode=mode,
            fusion=fusion,
            dense_weight=weight,
            refine=refiner,
            stage=refiner.stage if refiner else "",
            tag=refiner.tag(mode or index.default_mode) if refiner else None,
            progress=progress,
        )
    return len(asked)


def _show(hits: Sequence[Hit]) -> None:
    width = min(shutil.get_terminal_size().columns, 100) if sys.stdout.isatty() else 100
    for hit in hits:
        passage = hit.passage
        heading = plain(passage.title + (f" › {passage.section}" if passage.section else ""))
        click.echo(
            f"{click.style(f'{hit.rank:>2}', fg='cyan', bold=True)}  {click.style(heading, bold=True)}"
            f"  {click.style(f'{hit.score:.4f}', dim=True)}"
        )
        for paragraph in filter(str.strip, re.split(r"\n\s*\n", passage.text)):
            text = plain(paragraph)
            click.echo(textwrap.fill(text, width, initial_indent="    ", subsequent_indent="    "))
        answer = getattr(hit, "answer", "")
        click.echo(click.style(f"    {plain(passage.id)}{f' · answer: {plain(answer)}' if answer else ''}", dim=True))
        click.echo()
