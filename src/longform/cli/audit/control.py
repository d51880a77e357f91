"""``longform audit control``: whether a system uses the passages that it retrieves."""

from __future__ import annotations

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
from longform.cli.options import Whole
from longform.cli.progress import progress_bar
from longform.errors import InputError

if TYPE_CHECKING:
    from longform.audit.control_runs import ControlRuns

__all__ = ["command"]

_MANY = Whole(1, 100_000)


@click.command("control")
@click.argument("index", type=click.Path(), required=False)
@dataset_options
@click.option(
    "--system",
    type=click.Choice(["extractive", "open-book"]),
    default="extractive",
    show_default=True,
    help="What answers from the passages.",
)
@click.option("--model", metavar="MODEL", help="The language model of open-book, such as gguf:FILE.")
@click.option("-k", type=_MANY, metavar="N", help="Passages that it is given. [default: the system's]")
@click.option("--words", type=_MANY, metavar="N", help="About how long its answers are. [default: the system's]")
@click.option("--mode", type=click.Choice(["bm25", "dense", "hybrid"]), help="How it searches. [default: the index's]")
@click.option("--rerank", metavar="MODEL", help="Its re-ranker, or none. [default: reranker]")
@score_options
@click.option("--work", type=click.Path(), metavar="FOLDER", help="Where the runs are kept, and gone on with.")
@click.option("--run", "found", type=click.Path(), metavar="FOLDER", help="A run from the passages found.")
@click.option("--run-random", "random", type=click.Path(), metavar="FOLDER", help="The same from random passages.")
@click.option("--run-gold", "gold", type=click.Path(), metavar="FOLDER", help="The same from gold passages.")
@note_option
@finding_options
def command(
    index: str | None,
    dataset: str | None,
    split: str | None,
    ids: str | None,
    limit: int | None,
    system: str,
    model: str | None,
    k: int | None,
    words: int | None,
    mode: str | None,
    rerank: str | None,
    sentences: str,
    reader: str,
    work: str | None,
    found: str | None,
    random: str | None,
    gold: str | None,
    seed: int,
    resamples: int,
    output: str | None,
    as_json: bool,
    notes: tuple[str, ...],
) -> None:
    """Ask the same system with the passages that it finds in INDEX, with random ones, and with gold ones.

    Started again with the same --work it goes on where it was. Or, from runs that are there:

    longform audit control --run runs/asqa/mine --run-random runs/asqa/mine-random
    """
    from longform.audit.control import audit_control
    from longform.audit.shown import run_hashes
    from longform.study.config import ScoreSettings

    if found is not None or random is not None or gold is not None:
        runs = _given(index, dataset, found, random, gold)
    else:
        if index is None or dataset is None or work is None:
            missing = "an INDEX" if index is None else "--dataset" if dataset is None else "--work"
            raise InputError(f"A control needs {missing}; or --run and --run-random, for runs that are there.")
        settings: dict[str, Any] = {"kind": system, "index": index, "model": model, "k": k, "words": words}
        settings |= {"mode": mode, "rerank": rerank}
        if system == "extractive":
            _no_model(model)
        scores = ScoreSettings(sentences, reader, resamples)
        runs = _made(settings, dataset, split, ids, limit, Path(work), seed, scores)
    said = [*([runs.note] if runs.note else []), *notes]
    finding = audit_control(runs.found, runs.random, runs.gold, notes=said, resamples=resamples, seed=seed)
    hashes = {**run_hashes(runs.found, "passages found"), **run_hashes(runs.random, "random passages")}
    if runs.gold is not None:
        hashes |= run_hashes(runs.gold, "gold passages")
    kept = ""
    if work is not None:
        keep_findings(runs.found.folder, [finding])
        kept = f"The runs are in {work}."
    present_findings(
        f"Control: {runs.found.system} on {runs.found.dataset}",
        [finding],
        hashes=hashes,
        seed=seed,
        as_json=as_json,
        output=output,
        kept=kept,
    )


def _no_model(model: str | None) -> None:
    if model is not None:
        raise InputError("--model is for --system open-book: an extractive answer has no language model.")


def _given(
    index: str | None, dataset: str | None, found: str | None, random: str | None, gold: str | None
) -> ControlRuns:
    from longform.audit.control_runs import ControlRuns
    from longform.study.runs import Run

    if index is not None or dataset is not None:
        raise InputError("--run names runs that are there, so neither INDEX nor --dataset is asked: leave them out.")
    if found is None or random is None:
        raise InputError("A control compares two runs: name both --run and --run-random.")
    return ControlRuns(Run.open(found), Run.open(random), None if gold is None else Run.open(gold), "")


def _made(
    settings: dict[str, Any],
    dataset: str,
    split: str | None,
    ids: str | None,
    limit: int | None,
    work: Path,
    seed: int,
    scores: Any,
) -> ControlRuns:
    from longform.audit.control_runs import make_control
    from longform.study.dataset_spec import DatasetSpec

    spec = DatasetSpec.named(dataset, split, ids, limit)
    chosen = {key: value for key, value in settings.items() if value is not None}
    with progress_bar() as progress:
        return make_control(chosen, spec, work, seed=seed, scores=scores, progress=progress)
