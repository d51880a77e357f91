"""``longform score asqa``."""

from __future__ import annotations

from typing import Literal, cast

import click

from longform.cli.options import sentences_option
from longform.cli.score.output import load_answers, load_object, output_options, present
from longform.errors import InputError

__all__ = ["command"]


@click.command("asqa")
@click.option("--gold", required=True, metavar="FILE", help="ASQA.json.")
@click.option("--split", default="dev", show_default=True)
@click.option(
    "--predictions",
    required=True,
    metavar="FILE",
    help='JSON: {"key": "long answer"}, or the lines of `longform ask -o`.',
)
@click.option("--qa", metavar="FILE", help='JSON: {"key_0": "short answer"}: what a reader found in the answers.')
@click.option(
    "--reader", metavar="MODEL", help="Run this reader over the answers: `reader`, the shipped one, or a folder."
)
@click.option("--subset", is_flag=True, help="Score only the questions that have a prediction.")
@sentences_option
@click.option("--one-reference", type=click.Choice(["0", "1"]), help="Compare with this reference alone.")
@click.option("--official-bootstrap", is_flag=True, help="rougeLsum as the official script's bootstrap median.")
@output_options
def command(
    gold: str,
    split: str,
    predictions: str,
    qa: str | None,
    reader: str | None,
    subset: bool,
    sentences: str,
    one_reference: str | None,
    official_bootstrap: bool,
    as_json: bool,
    output: str | None,
    resamples: int,
    seed: int,
) -> None:
    """Score long answers to ambiguous questions.

    \b
    longform score asqa --gold ASQA.json --predictions p.json --qa qa.json
    """
    from longform.score.asqa import load_asqa, score_asqa

    if qa is not None and reader is not None:
        raise InputError("Give the reader's answers with --qa, or a reader with --reader, not both.")
    questions = load_asqa(gold, split)
    answers = load_answers(predictions)
    short = load_object(qa, "reader's answers") if qa is not None else None
    if reader is not None:
        from longform.cli.progress import progress_bar
        from longform.score.reading import read_answers

        with progress_bar() as progress:
            short = read_answers(questions, answers, reader, progress=progress)
    if short is None:
        click.echo("Without --qa or --reader there is no Disambig-F1 (QA-F1) and no DR.", err=True)
    report = score_asqa(
        questions,
        answers,
        short,
        sentences=cast(Literal["own", "punkt"], sentences),
        subset=subset,
        one_reference=cast(Literal[0, 1] | None, None if one_reference is None else int(one_reference)),
        official_bootstrap=official_bootstrap,
        seed=seed,
    )
    if reader is not None:
        report.settings["reader"] = reader  # type: ignore[index]
    present(report, as_json=as_json, output=output, resamples=resamples, seed=seed)
