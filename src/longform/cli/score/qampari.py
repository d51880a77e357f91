"""``longform score qampari``."""

from __future__ import annotations

import click

from longform.cli.score.output import output_options, present

__all__ = ["command"]


@click.command("qampari")
@click.option(
    "--predictions", required=True, metavar="FILE", help='JSONL: {"qid": …, "predictions": […]}, or ALCE\'s "output".'
)
@click.option("--gold", metavar="FILE", help="QAMPARI JSONL. [default: the gold answers in the predictions' rows]")
@click.option("--alce", is_flag=True, help="ALCE's numbers (0–100) instead of the official ones (0–1).")
@click.option("--cot", is_flag=True, help="With --alce: keep only what follows the first colon of the output.")
@click.option("--subset", is_flag=True, help="Score only the questions that have a prediction.")
@output_options
def command(
    predictions: str,
    gold: str | None,
    alce: bool,
    cot: bool,
    subset: bool,
    as_json: bool,
    output: str | None,
    resamples: int,
    seed: int,
) -> None:
    """Score questions with many answers.

    \b
    longform score qampari --predictions p.jsonl --gold dev.jsonl.gz
    """
    from longform.score.qampari import load_predictions, load_qampari, score_qampari

    questions = load_qampari(gold or predictions)
    given = load_predictions(predictions)
    if subset:
        questions = [question for question in questions if question.id in given]
    report = score_qampari(questions, given, alce=alce, cot=cot)
    present(report, as_json=as_json, output=output, resamples=resamples, seed=seed)
