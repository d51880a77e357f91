"""``longform score kilt``."""

from __future__ import annotations

import click

from longform.cli.score.output import output_options, present

__all__ = ["command"]


@click.command("kilt")
@click.option("--gold", required=True, metavar="FILE", help="KILT JSONL.")
@click.option("--predictions", required=True, metavar="FILE", help="KILT JSONL with one output each.")
@click.option("--subset", is_flag=True, help="Score only the items that have a guess.")
@output_options
def command(
    gold: str, predictions: str, subset: bool, as_json: bool, output: str | None, resamples: int, seed: int
) -> None:
    """Score answers with their pages, as KILT does; ELI5 is one of its tasks.

    \b
    longform score kilt --gold eli5-dev-kilt.jsonl --predictions guess.jsonl
    """
    from longform.score.kilt import load_kilt, score_kilt

    wanted, given = load_kilt(gold), load_kilt(predictions)
    if subset:
        guessed = {str(row.get("id")) for row in given}
        wanted = [row for row in wanted if str(row.get("id")) in guessed]
    report = score_kilt(wanted, given)
    present(report, as_json=as_json, output=output, resamples=resamples, seed=seed)
