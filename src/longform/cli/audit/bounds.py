"""``longform audit bounds``: what scores say that know nothing, and what people reach."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from longform.cli.audit.present import (
    dataset_options,
    finding_options,
    keep_findings,
    note_option,
    present_findings,
    score_options,
)
from longform.cli.progress import progress_bar
from longform.errors import InputError

if TYPE_CHECKING:
    from longform.audit.bounds_runs import Bounds
    from longform.data.dataset import Dataset
    from longform.study.runs import Run

__all__ = ["command"]


@click.command("bounds")
@dataset_options
@click.option("--train", metavar="FILE", help="Training questions with long answers: a file, or a dataset's name.")
@click.option("--index", type=click.Path(), metavar="INDEX", help="For the answer from silver passages, which is slow.")
@score_options
@click.option("--run", "runs", multiple=True, type=click.Path(), metavar="FOLDER", help="Place this system's run.")
@click.option("--work", type=click.Path(), metavar="FOLDER", help="Where runs and bounds.json are kept.")
@note_option
@finding_options
def command(
    dataset: str | None,
    split: str | None,
    ids: str | None,
    limit: int | None,
    train: str | None,
    index: str | None,
    sentences: str,
    reader: str,
    runs: tuple[str, ...],
    work: str | None,
    seed: int,
    resamples: int,
    output: str | None,
    as_json: bool,
    notes: tuple[str, ...],
) -> None:
    """Score what knows nothing of the answer, and people's own answers: what every score lies between.

    Copying the question, a random training answer, the longest and the best answer of the nearest training questions,
    people's longest and best answer, people against each other, and an answer from silver passages; each where the
    data allow it. With --run and no --dataset, those that follow from the run's questions, or with --train from
    training answers, and those that are runs beside it.
    """
    from longform.audit.bounds import audit_bounds
    from longform.audit.bounds_runs import nearby_bounds
    from longform.audit.placed import place_run
    from longform.audit.shown import run_hashes
    from longform.study.dataset_spec import DatasetSpec
    from longform.study.runs import Run

    placed = [Run.open(folder) for folder in runs]
    hashes: dict[str, str] = {}
    kept = ""
    if dataset is None:
        if not placed:
            raise InputError("Bounds are those of a dataset: name one with --dataset, or a run with --run.")
        if index is not None or work is not None:
            raise InputError("--index and --work need --dataset: the bounds beside a run are made of its questions.")
        _same_questions(placed)
        learnt = None if train is None else DatasetSpec.parse(train, Path(), split="train")
        bounds = nearby_bounds(placed[0], train=learnt, seed=seed)
        hashes = {} if learnt is None else {Path(name).name: digest for name, digest in learnt.load().files.items()}
    else:
        if placed:
            # Before the bounds are made, which takes long.
            loaded = DatasetSpec.named(dataset, split, ids, limit).load()
            for run in placed:
                _check_sentences(run, sentences)
                _check_gold(run, loaded)
        with progress_bar() as progress, tempfile.TemporaryDirectory(prefix="longform-bounds-") as scratch:
            place = Path(work) if work is not None else Path(scratch)
            bounds, hashes = _made(
                dataset, split, ids, limit, train, index, sentences, reader, resamples, seed, place, progress
            )
    findings = [audit_bounds(bounds, notes=notes, resamples=resamples, seed=seed)]
    for run in placed:
        findings.append(place_run(run, bounds, resamples=resamples, seed=seed))
        hashes |= run_hashes(run)
    if work is not None:
        keep_findings(Path(work) / bounds.dataset, findings)
        kept = f"The bounds are in {Path(work) / bounds.dataset / 'bounds.json'}."
    present_findings(
        f"Bounds on {bounds.dataset}",
        findings,
        hashes=hashes,
        seed=seed,
        as_json=as_json,
        output=output,
        kept=kept,
    )


def _made(
    dataset: str,
    split: str | None,
    ids: str | None,
    limit: int | None,
    train: str | None,
    index: str | None,
    sentences: str,
    reader: str,
    resamples: int,
    seed: int,
    place: Path,
    progress: Any,
) -> tuple[Bounds, dict[str, str]]:
    from longform.audit.bounds_runs import make_bounds
    from longform.files import sha256_of
    from longform.study.config import ScoreSettings
    from longform.study.dataset_spec import DatasetSpec

    spec = DatasetSpec.named(dataset, split, ids, limit)
    learnt = None if train is None else DatasetSpec.parse(train, Path(), split="train")
    bounds = make_bounds(
        spec,
        place,
        train=learnt,
        index=index,
        seed=seed,
        scores=ScoreSettings(sentences, reader, resamples),
        progress=progress,
    )
    hashes = {Path(name).name: digest for name, digest in spec.load().files.items()}
    if learnt is not None:
        hashes |= {Path(name).name: digest for name, digest in learnt.load().files.items()}
    if ids is not None:
        hashes[Path(ids).name] = sha256_of(Path(ids))
    if index is not None:
        hashes[f"{Path(index).name}/longform.json"] = sha256_of(Path(index) / "longform.json")
    return bounds, hashes


def _same_questions(runs: list[Run]) -> None:
    other = next(
        (run for run in runs if run.record["identity"]["examples"] != runs[0].record["identity"]["examples"]), None
    )
    if other is not None:
        raise InputError(f"{other.folder} is over other questions than {runs[0].folder}: audit them one by one.")


def _check_gold(run: Run, dataset: Dataset) -> None:
    gold = {example.id: example for example in dataset}
    for mine in run.examples:
        other = gold.get(mine.id, mine)
        if (mine.long_answers, mine.short_answers) != (other.long_answers, other.short_answers):
            raise InputError(
                f"{run.folder} is scored by other answers to the question {mine.id} than {dataset.name} has: leave out "
                "--dataset, and the bounds are made of the run's own questions."
            )


def _check_sentences(run: Run, sentences: str) -> None:
    from longform.audit.shown import finished

    theirs = finished(run).settings.get("sentences", sentences)
    if theirs != sentences:
        raise InputError(f"{run.folder} is scored with sentences {theirs}: give --sentences {theirs}.")
