"""``longform train reranker``: a re-ranker, from silver passages."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import click
import orjson

from longform.cli.options import SEED, counted, json_option
from longform.cli.progress import progress_bar
from longform.cli.train.report import clock, training_report
from longform.errors import InputError

__all__ = ["command", "layer_numbers"]


@click.command("reranker")
@click.option("--silver", multiple=True, required=True, metavar="FILE", help="From `longform silver`; may be repeated.")
@click.option("--base", default="encoder", show_default=True, metavar="MODEL", help="What to start from.")
@click.option("--out", required=True, type=click.Path(), metavar="FOLDER", help="Folder to make.")
@click.option("--index", metavar="INDEX", help="Where the passages are. [default: as the silver file says]")
@click.option(
    "--loss", type=click.Choice(["bce", "list"]), default="bce", show_default=True, help="Over pairs, or over lists."
)
@click.option("--graded", is_flag=True, help="Weigh silver passages by their match, not all alike.")
@click.option("--positives", default=5, show_default=True, help="Silver passages of a question, per epoch.")
@click.option("--negatives", default=50, show_default=True, help="Other passages of its pool, per epoch.")
@click.option("--hard", default=0.0, show_default=True, help="Share of those drawn from the 20 most like the question.")
@click.option("--epochs", default=1.0, show_default=True)
@click.option("--batch", default=16, show_default=True, help="Pairs of a step, or questions with --loss list.")
@click.option("--learning-rate", default=1e-5, show_default=True)
@click.option("--weight-decay", default=0.01, show_default=True)
@click.option("--warmup", default=0.04, show_default=True, help="Share of the steps with a rising rate.")
@click.option(
    "--head", type=click.Choice(["similarity", "cls"]), default="similarity", show_default=True, help="What scores."
)
@click.option("--layers", metavar="0,1,…", help="Layers of the base to keep. [default: all]")
@click.option("--max-length", default=256, show_default=True, help="Tokens of question, title and text.")
@click.option("--question-tokens", default=40, show_default=True, help="Tokens of a question that count.")
@click.option("--title-tokens", default=24, show_default=True, help="Tokens of a title that count.")
@click.option("--train-embeddings", is_flag=True, help="Let the word table learn too.")
@click.option(
    "--teacher",
    "teachers",
    multiple=True,
    metavar="MODEL",
    help="A re-ranker, or similarity, to learn the scores of, with --loss list; may be repeated.",
)
@click.option(
    "--teacher-lift", default=1.0, show_default=True, help="What a silver passage adds to its teacher's score."
)
@click.option("--validation", default=0.05, show_default=True, help="Share of the questions that is not trained on.")
@click.option("--split-seed", default=0, show_default=True, help="Decides which: keep it from teacher to student.")
@click.option("--validation-questions", default=100, show_default=True, help="The most of them that are looked at.")
@click.option("--looks", default=4, show_default=True, help="Checkpoints, each validated; the best is kept.")
@click.option("--limit", type=int, metavar="N", help="Only the first N questions: to try a command out.")
@click.option("--seed", type=SEED, default=0, show_default=True)
@click.option("--fp32", is_flag=True, help="Write 32-bit weights.")
@click.option("--keep-torch", is_flag=True, help="Keep FOLDER/torch, for another training to start from.")
@json_option
def command(
    silver: tuple[str, ...],
    base: str,
    out: str,
    index: str | None,
    layers: str | None,
    teachers: tuple[str, ...],
    limit: int | None,
    fp32: bool,
    keep_torch: bool,
    as_json: bool,
    **settings: Any,
) -> None:
    """Train a cross-encoder to tell silver passages from the rest of each question's pool.

    Killed and started again, the same command goes on from its last checkpoint.

    \b
    longform silver my.index --questions qa.jsonl -o silver.jsonl
    longform train reranker --silver silver.jsonl --out my-reranker/
    longform search my.index "question" --rerank my-reranker/
    """
    from longform.train.reranker import RerankerSettings, train_reranker

    chosen = RerankerSettings(**settings, layers=layer_numbers(layers))
    with progress_bar() as progress, training_report() as report:
        result = train_reranker(
            silver,
            base,
            out,
            chosen,
            index=index,
            teachers=teachers,
            limit=limit,
            int8=not fp32,
            keep_torch=keep_torch,
            report=report,
            progress=progress,
        )
    if as_json:
        click.echo(orjson.dumps({**asdict(result), "folder": str(result.folder)}))
        return
    click.echo(
        f"Trained on {counted(result.pairs, 'pair')} in {clock(result.seconds)}. Average precision of silver passages "
        f"on validation questions: {result.before:.3f} before, {result.after:.3f} after, {result.exported:.3f} as "
        f"exported, with {result.agreement:.0%} of the same top 5."
    )
    click.echo(f"Wrote {result.folder}: `longform search INDEX QUESTION --rerank {result.folder}`.")


def layer_numbers(layers: str | None) -> tuple[int, ...]:
    """The numbers in ``--layers``; none where it was not given.

    >>> layer_numbers("0,1,4,5")
    (0, 1, 4, 5)
    """
    if layers is None:
        return ()
    try:
        numbers = tuple(int(word) for word in layers.split(","))
    except ValueError:
        numbers = ()
    if not numbers or min(numbers) < 0 or len(set(numbers)) < len(numbers):
        raise InputError(f"--layers takes different numbers from 0 on, such as 0,1,4,5, not {layers!r}.")
    return numbers
