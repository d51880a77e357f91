"""``longform train retriever``: an encoder, from questions and their long answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
import orjson

from longform.cli.options import SEED, counted, json_option
from longform.cli.progress import progress_bar
from longform.cli.train.report import clock, training_report
from longform.errors import InputError

if TYPE_CHECKING:
    from longform.train.ablation import AblationRow
    from longform.train.retriever import RetrieverResult

__all__ = ["command"]


@click.command("retriever")
@click.option("--pairs", required=True, multiple=True, metavar="FILE", help="Questions with long answers; repeatable.")
@click.option("--base", default="encoder", show_default=True, metavar="MODEL", help="What to start from.")
@click.option("--out", required=True, type=click.Path(), metavar="FOLDER", help="Where to write the encoder.")
@click.option("--epochs", default=1.0, show_default=True, help="How often each pair is seen.")
@click.option("--batch", default=512, show_default=True, help="Answers that a question is told apart from.")
@click.option("--mini-batch", default=32, show_default=True, help="Texts in memory at a time.")
@click.option("--lr", "learning_rate", default=1e-4, show_default=True, help="Learning rate of AdamW.")
@click.option("--weight-decay", default=0.01, show_default=True, help="Of AdamW.")
@click.option("--warmup", default=0.1, show_default=True, help="Share of the steps in which the rate rises.")
@click.option("--scale", default=20.0, show_default=True, help="Factor of the cosines: 1 / temperature.")
@click.option("--max-length", default=128, show_default=True, help="Tokens of a text that are trained on.")
@click.option("--titles", is_flag=True, help="Put the page's title before an answer, as an index does.")
@click.option("--train-embeddings", is_flag=True, help="Train the word table too.")
@click.option("--validation", default=0.05, show_default=True, help="Share of the pairs that is held out.")
@click.option(
    "--looks", default=4, show_default=True, help="How often the held-out pairs are looked at; the best stays."
)
@click.option("--seed", type=SEED, default=0, show_default=True, help="The same seed gives the same model.")
@click.option("--limit", type=int, metavar="N", help="Train on N of the pairs only.")
@click.option("--fp32", is_flag=True, help="Write 32-bit weights instead of 8-bit ones.")
@click.option("--ablate-batch", metavar="N,N,…", help="Train once for each batch size and write the table instead.")
@json_option
def command(
    pairs: tuple[str, ...],
    base: str,
    out: str,
    limit: int | None,
    fp32: bool,
    ablate_batch: str | None,
    as_json: bool,
    **settings: Any,
) -> None:
    """Train an encoder so that a question is close to its long answer.

    A row of a file is {"question": …, "long_answer": …}, or the file is an ASQA.json. The same command goes on after
    it was stopped.

    \b
    longform train retriever --pairs qa.jsonl --out my-encoder
    longform train retriever --pairs qa.jsonl --ablate-batch 8,64,512 --out my-ablation
    """
    from longform.train.retriever_settings import RetrieverSettings

    chosen = RetrieverSettings(**settings)
    chosen.check()
    with progress_bar() as progress, training_report() as report:
        if ablate_batch is not None:
            from longform.train.ablation import ablate_batch as ablate

            rows = ablate(pairs, base, out, _sizes(ablate_batch), chosen, limit=limit, report=report)
        else:
            from longform.train.retriever import train_retriever

            result = train_retriever(
                pairs, base, out, chosen, limit=limit, int8=not fp32, report=report, progress=progress
            )
    if ablate_batch is not None:
        _show_rows(rows, out, as_json)
    else:
        _show(result, as_json)


def _sizes(text: str) -> list[int]:
    try:
        return [int(size) for size in text.split(",")]
    except ValueError:
        raise InputError(
            f"--ablate-batch takes numbers with commas between them, such as 8,64,512, not {text}."
        ) from None


def _show(result: RetrieverResult, as_json: bool) -> None:
    from dataclasses import asdict

    if as_json:
        click.echo(orjson.dumps(asdict(result) | {"folder": str(result.folder)}, option=orjson.OPT_INDENT_2))
        return
    if result.before is not None and result.exported is not None:
        for name, before, after in (
            ("recall@1", result.before.recall_at_1, result.exported.recall_at_1),
            ("recall@5", result.before.recall_at_5, result.exported.recall_at_5),
            ("MRR", result.before.mrr, result.exported.mrr),
        ):
            click.echo(f"{name:<9} {before:.4f} → {after:.4f}")
        if result.exported.mrr <= result.before.mrr:
            click.echo("The base finds the held-out answers as well: more data or another --lr may help.", err=True)
    click.echo(
        f"Wrote {result.folder}: {counted(result.pairs, 'pair')}, {result.held_out:,} held out, "
        f"{clock(result.seconds)} of training."
    )


def _show_rows(rows: list[AblationRow], out: str, as_json: bool) -> None:
    from dataclasses import asdict

    from longform.train.ablation import table_of

    if as_json:
        click.echo(orjson.dumps([asdict(row) for row in rows], option=orjson.OPT_INDENT_2))
        return
    click.echo(table_of(rows))
    click.echo(f"Wrote {out}/README.md.")
