"""``longform train generator``: the writer of long answers, from questions and long answers."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import click
import orjson

from longform.cli.options import SEED, counted, json_option
from longform.cli.progress import progress_bar
from longform.cli.train.report import clock, training_report

__all__ = ["command"]


@click.command("generator")
@click.option("--index", required=True, type=click.Path(), metavar="INDEX", help="Where passages are searched.")
@click.option("--questions", required=True, metavar="FILE", help="Questions with long answers: JSONL or ASQA.json.")
@click.option(
    "--base",
    required=True,
    metavar="MODEL",
    help="The causal model to start from: a transformers folder, a GGUF file or a hub name.",
)
@click.option("--out", required=True, type=click.Path(), metavar="FOLDER", help="Folder to make.")
@click.option(
    "--exclude-ids", "exclude", metavar="FILE", help="Ids of questions to leave out: a JSON list, or one a line."
)
@click.option("--split", metavar="NAME", help="The split of an ASQA.json. [default: all]")
@click.option("--limit", type=int, metavar="N", help="Only the first N questions: to try a command out.")
@click.option(
    "--rerank",
    metavar="MODEL|similarity|none",
    help="What orders the candidates. [default: the shipped re-ranker, else similarity]",
)
@click.option(
    "--mode",
    type=click.Choice(["bm25", "dense", "hybrid"]),
    help="How the first stage searches. [default: hybrid where the index has vectors, else bm25]",
)
@click.option("-k", default=5, show_default=True, help="Passages in a prompt.")
@click.option("--pool", default=100, show_default=True, help="Candidates that are re-ranked.")
@click.option(
    "--prompt",
    type=click.Choice(["instruct", "asqa"]),
    default="instruct",
    show_default=True,
    help="What is asked: an instruction, or the ASQA paper's question and context. Ask with the same one.",
)
@click.option("--best-last", is_flag=True, help="Put the best passage next to the question.")
@click.option(
    "--cite/--no-cite",
    default=None,
    help="Put citations into the answers that are learnt. [default: with --prompt instruct]",
)
@click.option("--epochs", default=1.0, show_default=True, help="How often each answer is seen.")
@click.option("--batch", default=8, show_default=True, help="Answers in a step.")
@click.option("--mini-batch", default=1, show_default=True, help="Answers computed at once; more take more memory.")
@click.option("--learning-rate", default=2e-4, show_default=True, help="Of AdamW, at its highest.")
@click.option("--warmup", default=0.05, show_default=True, help="Share of the steps with a rising rate.")
@click.option("--weight-decay", default=0.0, show_default=True, help="Of AdamW.")
@click.option("--rank", default=16, show_default=True, help="Rank of the additions to each weight matrix (LoRA).")
@click.option("--alpha", default=32, show_default=True, help="The additions are scaled by alpha / rank.")
@click.option("--dropout", default=0.05, show_default=True, help="Of the additions.")
@click.option("--max-length", default=2048, show_default=True, help="Tokens of prompt and answer; passages are cut.")
@click.option("--validation", default=0.05, show_default=True, help="Share of the questions that is not trained on.")
@click.option("--split-seed", default=0, show_default=True, help="Decides which.")
@click.option("--validation-questions", default=50, show_default=True, help="The most of them that are looked at.")
@click.option(
    "--looks", default=4, show_default=True, help="Checkpoints, each with its held-out loss; the best is kept."
)
@click.option("--seed", type=SEED, default=0, show_default=True)
@click.option(
    "--precision", type=click.Choice(["fp32", "fp16", "bf16"]), default="fp32", show_default=True, help="Of the folder."
)
@click.option(
    "--gguf",
    type=click.Choice(["q8_0", "f16", "none"]),
    default="q8_0",
    show_default=True,
    help="Write model.gguf too, where the base is a GGUF file of the Llama family.",
)
@json_option
def command(
    index: str,
    questions: str,
    base: str,
    out: str,
    exclude: str | None,
    split: str | None,
    limit: int | None,
    rerank: str | None,
    mode: str | None,
    precision: str,
    gguf: str,
    as_json: bool,
    **settings: Any,
) -> None:
    """Fine-tune a language model to write long answers from the passages that INDEX finds.

    Killed and started again, the same command goes on where it was.

    \b
    longform train generator --index my.index --questions qa.jsonl --base smollm2.gguf --out my-writer/
    longform ask my.index "question" --model hf:my-writer/
    """
    from longform.train.generator import GeneratorSettings, train_generator

    with progress_bar() as progress, training_report() as report:
        result = train_generator(
            index,
            questions,
            base,
            out,
            GeneratorSettings(**settings),
            rerank=rerank,
            mode=mode,
            split=split,
            exclude=exclude,
            limit=limit,
            precision=precision,
            gguf=gguf,
            report=report,
            progress=progress,
        )
    if as_json:
        row = {
            **asdict(result),
            "folder": str(result.folder),
            "gguf": None if result.gguf is None else str(result.gguf),
        }
        click.echo(orjson.dumps(row))
        return
    click.echo(f"Trained on {counted(result.examples, 'answer')} in {clock(result.seconds)}.")
    if result.left_out:
        click.echo(f"Left out {counted(result.left_out, 'answer')} that left no room for passages.")
    if result.before is not None and result.after is not None:
        click.echo(
            f"Loss of a token of {counted(result.held_out, 'held-out answer')}: {result.before:.3f} before, "
            f"{result.after:.3f} after, {result.exported:.3f} as exported."
        )
        if result.after >= result.before:
            click.echo("It did not fall: give it more answers, or another --learning-rate.", err=True)
    click.echo(f"Wrote {result.folder}: `longform ask INDEX QUESTION --model hf:{result.folder}`.")
    if result.gguf is not None:
        click.echo(f"Wrote {result.gguf}: `longform ask INDEX QUESTION --model gguf:{result.gguf}`.")
