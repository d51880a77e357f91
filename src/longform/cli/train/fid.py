"""``longform train fid``: a Fusion-in-Decoder reader, from questions with many answers."""

from __future__ import annotations

import json

import click

from longform.cli.options import SEED, counted, json_option
from longform.cli.train.report import clock, training_report

__all__ = ["command"]

SHOWN = {"loss": "loss of a token", "precision": "precision", "recall": "recall", "f1": "F1"}


@click.command("fid")
@click.option(
    "--data", required=True, metavar="FILE", help='Lines of {"question", "answers", "ctxs": [{"title", "text"}]}.'
)
@click.option("--out", required=True, type=click.Path(), metavar="FOLDER", help="Folder to make.")
@click.option("--base", required=True, metavar="FOLDER", help="A T5-family model to start from.")
@click.option("--index", metavar="INDEX", help="Where to search for the passages of lines without ctxs.")
@click.option("--passages", default=50, show_default=True, help="Passages of a question that are read.")
@click.option("--max-length", default=200, show_default=True, help="Tokens of a passage with question and title.")
@click.option("--answer-length", default=200, show_default=True, help="Tokens of the list of answers.")
@click.option("--epochs", default=3, show_default=True, help="How often each question is seen.")
@click.option("--batch", default=1, show_default=True, help="Questions that are read at once.")
@click.option("--accumulate", default=8, show_default=True, help="Batches in a step.")
@click.option("--lr", "learning_rate", default=1e-4, show_default=True, help="Learning rate of AdamW.")
@click.option("--warmup", default=0.1, show_default=True, help="Share of the steps in which the rate rises.")
@click.option("--weight-decay", default=0.01, show_default=True, help="Of AdamW.")
@click.option("--held-out", default=0.1, show_default=True, help="Share of the questions that are only reported.")
@click.option("--limit", type=int, metavar="N", help="Only N questions: to try a command out.")
@click.option("--save-steps", default=50, show_default=True, help="Steps between checkpoints.")
@click.option("--seed", type=SEED, default=0, show_default=True, help="The same one gives the same split and model.")
@click.option("--keep-training", is_flag=True, help="Keep FOLDER/training.")
@json_option
def command(
    data: str,
    out: str,
    base: str,
    index: str | None,
    passages: int,
    max_length: int,
    answer_length: int,
    epochs: int,
    batch: int,
    accumulate: int,
    learning_rate: float,
    warmup: float,
    weight_decay: float,
    held_out: float,
    limit: int | None,
    save_steps: int,
    seed: int,
    keep_training: bool,
    as_json: bool,
) -> None:
    """Train a Fusion-in-Decoder reader: T5 that lists the answers that many passages hold.

    Interrupted, it goes on where it stopped when run again.

    \b
    longform train fid --data lists.jsonl --base t5-base/ --out my-fid/
    longform train fid --data qampari.jsonl --index my.index --base t5-base/ --out my-fid/
    """
    from longform.train.fid import FidSettings, train_fid
    from longform.train.fid_data import index_search

    settings = FidSettings(
        passages=passages,
        max_length=max_length,
        answer_length=answer_length,
        epochs=epochs,
        batch=batch,
        accumulate=accumulate,
        learning_rate=learning_rate,
        warmup=warmup,
        weight_decay=weight_decay,
        held_out=held_out,
        limit=limit,
        save_steps=save_steps,
        seed=seed,
    )
    search = None if index is None else index_search(index, passages)
    with training_report() as report:
        result = train_fid(
            data,
            out,
            base=base,
            search=search,
            index=index,
            settings=settings,
            keep=keep_training,
            report=report,
        )
    if as_json:
        content = {
            "folder": str(result.folder),
            "before": {name: getattr(result.before, name) for name in SHOWN},
            "after": {name: getattr(result.after, name) for name in SHOWN},
            "seconds": round(result.seconds, 1),
            "counts": result.counts,
        }
        click.echo(json.dumps(content))
        return
    click.echo(f"Trained {out} on {counted(result.counts['train'], 'question')} in {clock(result.seconds)}.")
    click.echo(f"On {counted(result.counts['held_out'], 'question')} that it did not see:")
    for name, meaning in SHOWN.items():
        click.echo(f"  {meaning:<16}{getattr(result.after, name):.3f}   before {getattr(result.before, name):.3f}")
