"""``longform score alce``."""

from __future__ import annotations

from typing import Literal, cast

import click

from longform.cli.score.output import load_json, output_options, present
from longform.errors import InputError

__all__ = ["command"]


@click.command("alce")
@click.option("--predictions", required=True, metavar="FILE", help="ALCE's result file: JSON with `data`, or a list.")
@click.option("--dataset", required=True, type=click.Choice(["asqa", "eli5", "qampari"]))
@click.option("--nli", metavar="MODEL", help="Entailment model for citations and claims: a folder with an ONNX model.")
@click.option("--at-most-citations", type=int, help="Count only the first so many citations of a sentence (ALCE: 3).")
@click.option("--official", is_flag=True, help="With all quirks of the official script; needs NLTK_DATA.")
@click.option("--cot", is_flag=True, help="For qampari: keep only what follows the first colon of the output.")
@output_options
def command(
    predictions: str,
    dataset: str,
    nli: str | None,
    at_most_citations: int | None,
    official: bool,
    cot: bool,
    as_json: bool,
    output: str | None,
    resamples: int,
    seed: int,
) -> None:
    """Score answers with citations.

    \b
    longform score alce --predictions out.json --dataset asqa
    """
    from longform.score.alce import score_alce

    data = load_json(predictions, "predictions")
    rows = data.get("data") if isinstance(data, dict) else data
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise InputError(f'{predictions} is not a result file of ALCE: a list of objects, or {{"data": […]}}.')
    entails = None
    if nli is None:
        click.echo("Citations and claims are not judged: name an entailment model with --nli.", err=True)
    else:
        from longform.models import Entailment

        entails = Entailment.load(nli)
    report = score_alce(
        rows,
        cast(Literal["asqa", "eli5", "qampari"], dataset),
        official=official,
        entails=entails,
        at_most_citations=at_most_citations,
        cot=cot,
    )
    present(report, as_json=as_json, output=output, resamples=resamples, seed=seed)
