"""``longform audit length``: how much of a score, or of a lead, is length."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from longform.cli.audit.present import dataset_options, finding_options, present_findings
from longform.cli.progress import progress_bar
from longform.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from longform.audit.length import Answered
    from longform.data import Dataset, Example

__all__ = ["command"]

TITLE = "Length"


@click.command("length")
@click.option("--run", "run_folder", type=click.Path(), metavar="FOLDER", help="A run of `longform study run`.")
@click.option("--predictions", metavar="FILE", help="Answers of any system: JSONL of id and answer; needs --dataset.")
@dataset_options
@click.option("--against", metavar="FOLDER|FILE", help="A second system: a run, or a file of answers.")
@click.option("--fractions", metavar="LIST", help="Of each answer to keep. [default: 0.1,0.2,…,1]")
@click.option(
    "--sentences",
    type=click.Choice(["own", "punkt"]),
    help="How ROUGE-L splits; punkt as the official scorers do. [default: own, or as the run was scored]",
)
@finding_options
def command(
    run_folder: str | None,
    predictions: str | None,
    dataset: str | None,
    split: str | None,
    ids: str | None,
    limit: int | None,
    against: str | None,
    fractions: str | None,
    sentences: str | None,
    seed: int,
    resamples: int,
    output: str | None,
    as_json: bool,
) -> None:
    """Cut answers to fractions of their length, repeat what is left, and see what ROUGE-L makes of it.

    With --against: the lead of the better system as both are, and with both cut to equal lengths, question by question.

    \b
    longform audit length --run runs/asqa/bm25@5 --against runs/asqa/question-x8
    longform audit length --predictions mine.jsonl --dataset asqa
    """
    from longform.audit.length import FRACTIONS, audit_length
    from longform.audit.length_lead import audit_lead

    if (run_folder is None) == (predictions is None):
        raise InputError(
            "An audit of length is of one system: name its run with --run, or its answers with --predictions."
        )
    kept = FRACTIONS if fractions is None else _fractions(fractions)
    hashes: dict[str, str] = {}
    if run_folder is not None:
        if dataset is not None or ids is not None or split is not None or limit is not None:
            raise InputError(
                "A run has its own questions: --dataset, --split, --ids and --limit go with --predictions."
            )
        system = _of_run(run_folder, sentences, hashes)
    else:
        assert predictions is not None
        if dataset is None:
            raise InputError("--predictions are compared with a dataset's answers: name it with --dataset.")
        found = _loaded(dataset, split, ids, limit, hashes)
        system = _of_file(predictions, found.task, found.examples, sentences or "own", hashes)
    other = None if against is None else _other(against, system, sentences, hashes)
    with progress_bar() as progress:
        findings = [audit_length(system, fractions=kept, resamples=resamples, seed=seed, progress=progress)]
    if other is not None:
        findings.append(audit_lead(system, other, resamples=resamples, seed=seed))
    present_findings(TITLE, findings, hashes=hashes, seed=seed, as_json=as_json, output=output)


def _fractions(text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise InputError(f"--fractions takes numbers such as 0.25,0.5,1, not {text!r}.") from None


def _loaded(dataset: str, split: str | None, ids: str | None, limit: int | None, hashes: dict[str, str]) -> Dataset:
    from longform.corpus.training_questions import read_ids
    from longform.data import load_dataset
    from longform.files import sha256_of

    found = load_dataset(dataset, split=split, ids=read_ids(ids) if ids else None, limit=limit)
    hashes |= found.files
    if ids:
        hashes[ids] = sha256_of(Path(ids))
    return found


def _of_run(folder: str, sentences: str | None, hashes: dict[str, str]) -> Answered:
    from longform.audit.length import Answered
    from longform.audit.shown import finished, run_hashes
    from longform.study.runs import Run

    run = Run.open(folder)
    settings = finished(run).settings
    hashes |= run_hashes(run)
    return Answered(run.system, run.task, run.examples, run.rows, sentences or str(settings.get("sentences", "own")))


def _of_file(path: str, task: str, examples: Sequence[Example], sentences: str, hashes: dict[str, str]) -> Answered:
    from longform.audit.length import Answered
    from longform.files import sha256_of
    from longform.study.systems.stored import Stored
    from longform.study.systems.tools import Tools

    stored = Stored(file=path).open(Tools(), task)
    rows = {
        example.id: {"answers": [said.to_json() for said in stored.answer(example).answers]} for example in examples
    }
    hashes[path] = sha256_of(Path(path))
    return Answered(Path(path).name.partition(".json")[0], task, examples, rows, sentences)


def _other(against: str, system: Answered, sentences: str | None, hashes: dict[str, str]) -> Answered:
    """The second system; a file of answers is to the questions of the first."""
    if Path(against).is_dir():
        other = _of_run(against, sentences or system.sentences, hashes)
    else:
        other = _of_file(against, system.task, system.examples, system.sentences, hashes)
    return replace(other, name=f"{other.name} (2)") if other.name == system.name else other
