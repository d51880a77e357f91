"""``longform train reader``: a span reader with a null answer, from SQuAD files."""

from __future__ import annotations

import json

import click

from longform.cli.options import SEED, counted, json_option
from longform.cli.train.report import clock, training_report

__all__ = ["command"]

SHOWN = {
    "exact": "exact match",
    "f1": "F1",
    "HasAns_f1": "F1, has an answer",
    "NoAns_f1": "accuracy, has none",
    "null_accuracy": "agrees on no answer",
    "null_precision": "precision of no answer",
    "null_recall": "recall of no answer",
}


@click.command("reader")
@click.option("--squad", multiple=True, required=True, metavar="FILE…", help="SQuAD 1.1 or 2.0 JSON, also .gz.")
@click.argument("more", nargs=-1, metavar="[FILE…]")
@click.option("--out", required=True, type=click.Path(), metavar="FOLDER", help="Folder to make.")
@click.option("--base", default="encoder", show_default=True, metavar="MODEL", help="What to start from.")
@click.option("--dev", metavar="FILE", help="Hold out this SQuAD file's articles in place of a share.")
@click.option(
    "--extra", multiple=True, metavar="FILE", help='More to learn from: lines of {"question", "context", "answers"}.'
)
@click.option(
    "--asked", multiple=True, metavar="FILE", help="Questions with short_answers, read in passages of --index."
)
@click.option("--index", type=click.Path(), metavar="INDEX", help="Where passages for --asked are found.")
@click.option(
    "--asqa", multiple=True, metavar="FILE", help="ASQA.json: each reading of a question, read in its long answers."
)
@click.option(
    "--exclude-ids", "exclude", metavar="FILE", help="Ids to leave out of --asqa and --asked: a list, or one a line."
)
@click.option("--epochs", default=3, show_default=True, help="How often each question is seen.")
@click.option("--batch", default=16, show_default=True, help="Windows in a step.")
@click.option("--lr", "learning_rate", default=1e-4, show_default=True, help="Learning rate of AdamW.")
@click.option("--warmup", default=0.1, show_default=True, help="Share of the steps in which the rate rises.")
@click.option("--weight-decay", default=0.01, show_default=True, help="Of AdamW.")
@click.option("--max-length", default=256, show_default=True, help="Tokens of a window.")
@click.option("--stride", default=64, show_default=True, help="Tokens that a window repeats of the one before.")
@click.option("--question-length", default=64, show_default=True, help="Tokens of a question that count.")
@click.option("--layers", metavar="0,1,…", help="Layers of the base to keep. [default: all]")
@click.option("--train-embeddings", is_flag=True, help="Let the word table learn too.")
@click.option(
    "--held-out", default=0.15, show_default=True, help="Share of the articles for validation, and again for the test."
)
@click.option("--limit", type=int, metavar="N", help="Only N questions of each part: to try a command out.")
@click.option("--save-steps", default=100, show_default=True, help="Steps between checkpoints.")
@click.option("--seed", type=SEED, default=0, show_default=True, help="The same one gives the same split and model.")
@click.option("--fp32", is_flag=True, help="Write 32-bit weights instead of 8-bit ones.")
@click.option("--keep-training", is_flag=True, help="Keep FOLDER/training, with the weights in torch.")
@json_option
def command(
    squad: tuple[str, ...],
    more: tuple[str, ...],
    out: str,
    base: str,
    dev: str | None,
    extra: tuple[str, ...],
    asked: tuple[str, ...],
    index: str | None,
    asqa: tuple[str, ...],
    exclude: str | None,
    epochs: int,
    batch: int,
    learning_rate: float,
    warmup: float,
    weight_decay: float,
    max_length: int,
    stride: int,
    question_length: int,
    layers: str | None,
    train_embeddings: bool,
    held_out: float,
    limit: int | None,
    save_steps: int,
    seed: int,
    fp32: bool,
    keep_training: bool,
    as_json: bool,
) -> None:
    """Train a reader that finds the answer in a text, or says that there is none.

    The articles are split three ways: to learn from, to choose the epoch and the threshold of "no answer", and to
    report. Interrupted, it goes on where it stopped when run again.

    \b
    longform train reader --squad train-v2.0.json --out my-reader/
    longform train reader --squad a.json.gz b.json --layers 0,1,4,5 --out my-reader/
    longform train reader --squad train-v2.0.json --asked qa.jsonl --index my.index --out my-reader/
    """
    from longform.corpus.training_questions import read_ids
    from longform.retrieve import Index
    from longform.train.reader import ReaderSettings, train_reader

    settings = ReaderSettings(
        epochs=epochs,
        batch=batch,
        learning_rate=learning_rate,
        warmup=warmup,
        weight_decay=weight_decay,
        max_length=max_length,
        stride=stride,
        question_length=question_length,
        layers=_layers(layers),
        train_embeddings=train_embeddings,
        held_out=held_out,
        limit=limit,
        save_steps=save_steps,
        seed=seed,
    )
    with training_report() as report:
        result = train_reader(
            [*squad, *more],
            out,
            base=base,
            dev=dev,
            extra=extra,
            asked=asked,
            index=Index.open(index) if index is not None else None,
            asqa=asqa,
            exclude_ids=read_ids(exclude) if exclude is not None else (),
            settings=settings,
            int8=not fp32,
            keep=keep_training,
            report=report,
        )
    if as_json:
        content = {
            "folder": str(result.folder),
            "scores": {name: found.value for name, found in result.scores.items()},
            "intervals": {name: [found.low, found.high] for name, found in result.scores.items()},
            "before": result.before,
            "null_threshold": result.null_threshold,
            "validation_f1": result.validation_f1,
            "agreement": result.agreement,
            "span_agreement": result.span_agreement,
            "seconds": round(result.seconds, 1),
            "counts": result.counts,
        }
        click.echo(json.dumps(content))
        return
    learnt = counted(result.counts["train"] + result.counts["extra"], "question")
    click.echo(f"Trained {out} on {learnt} in {clock(result.seconds)}.")
    click.echo(
        f"On {counted(result.counts['test'], 'question')} about other articles, in percent, with 95 % intervals:"
    )
    for name, meaning in SHOWN.items():
        value, low, high = result.scores[name]
        click.echo(f"  {meaning:<24}{value:6.1f}  ({low:.1f} … {high:.1f})   before {result.before[name]:.1f}")


def _layers(text: str | None) -> tuple[int, ...] | None:
    """Numbers with commas between them."""
    from longform.errors import InputError

    if text is None:
        return None
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise InputError(f"--layers takes numbers with commas between them, as 0,1,4,5, not {text}.") from None
