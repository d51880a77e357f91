"""``longform score nq``."""

from __future__ import annotations

import click

from longform.cli.score.output import output_options, present

__all__ = ["command"]


@click.command("nq")
@click.option("--gold", required=True, metavar="GLOB", help="Pages, original or simplified: 'nq-dev-*.jsonl.gz'.")
@click.option("--predictions", required=True, metavar="FILE", help='JSON: {"predictions": […]}.')
@click.option("--long-threshold", default=2, show_default=True, help="Annotators who must give a long answer (β).")
@click.option("--short-threshold", default=2, show_default=True, help="Annotators who must give a short answer (β).")
@click.option("--subset", is_flag=True, help="Score only the questions that have a prediction.")
@output_options
def command(
    gold: str,
    predictions: str,
    long_threshold: int,
    short_threshold: int,
    subset: bool,
    as_json: bool,
    output: str | None,
    resamples: int,
    seed: int,
) -> None:
    """Score long and short answers over whole pages.

    \b
    longform score nq --gold 'nq-dev-*.jsonl.gz' --predictions p.json
    """
    from longform.score.nq import score_nq
    from longform.score.nq_records import load_gold, load_predictions

    wanted, given = load_gold(gold), load_predictions(predictions)
    if subset:
        wanted = {item: labels for item, labels in wanted.items() if item in given}
    report = score_nq(
        wanted,
        given,
        long_threshold=long_threshold,
        short_threshold=short_threshold,
    )
    present(report, as_json=as_json, output=output, resamples=resamples, seed=seed)
