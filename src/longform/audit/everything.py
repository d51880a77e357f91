"""Every check that applies to a run, each with a verdict in plain words; what does not apply says why."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from longform.audit import control, length, overlap, placed
from longform.audit.bound_systems import side_of
from longform.audit.bounds_runs import bounds_beside, nearby_bounds
from longform.audit.control_runs import control_siblings
from longform.audit.finding import Finding, Verdict
from longform.audit.own_passages import audit_passages
from longform.audit.shown import finished
from longform.errors import InputError
from longform.progress import Progress, no_progress
from longform.study.dataset_spec import DatasetSpec
from longform.study.runs import Run

__all__ = ["audit_run", "runs_behind", "training_of"]


def audit_run(
    run: Run,
    *,
    train: DatasetSpec | None = None,
    cache: Path | None = None,
    resamples: int = 10_000,
    seed: int = 0,
    progress: Progress = no_progress,
) -> list[Finding]:
    """Control, bounds, length and overlap, in this order.

    The control takes runs beside this one that differ in nothing but their passages, else the overlaps of this run
    alone; bounds are those beside it, those that its questions give, and those from the answers to the training
    questions, which ``train`` names; without it there is no overlap audit. ``cache`` keeps the vectors of questions.
    """
    report = finished(run)

    def of_length() -> Finding:
        answered = length.Answered(
            run.system, run.task, run.examples, run.rows, str(report.settings.get("sentences", "own"))
        )
        return length.audit_length(answered, resamples=resamples, seed=seed, progress=progress)

    checks: list[tuple[str, Callable[[], Finding | list[Finding]]]] = [
        (control.CHECK, lambda: _control(run, resamples, seed)),
        (placed.CHECK, lambda: _placed(run, train, cache, resamples, seed)),
        (length.CHECK, of_length),
        (overlap.CHECK, lambda: _overlap(run, train, cache, resamples, seed, progress)),
    ]
    return [finding for check, audit in checks for finding in _told(check, audit)]


def runs_behind(run: Run) -> dict[str, Run]:
    """The runs that the checks of a run read, by what they are to it."""
    random, gold = control_siblings(run)
    found = {run.system: run, "random passages": random, "gold passages": gold}
    found |= {f"the bound {other.system}": other for other in bounds_beside(run)}
    return {role: other for role, other in found.items() if other is not None}


def training_of(run: Run) -> DatasetSpec | None:
    """The training split of the run's dataset, where its files are here; ``None`` where it has none."""
    from longform.data.catalogue import CATALOGUE

    told = run.record["config"].get("dataset", {})
    name = told.get("name")
    if name not in CATALOGUE or told.get("split") == "train":
        return None
    found = DatasetSpec.parse(name, Path(), split="train")
    try:
        found.load()
    except InputError:
        return None
    return found


def _told(check: str, audit: Callable[[], Finding | list[Finding]]) -> Iterator[Finding]:
    """The findings of an audit; where the run does not allow it, one that says why."""
    try:
        found = audit()
    except InputError as error:
        found = Finding(check, Verdict.UNKNOWN, f"It does not apply: {_begun(str(error))}")
    yield from found if isinstance(found, list) else [found]


def _begun(sentence: str) -> str:
    """A sentence that goes on behind a colon."""
    return (
        sentence[:1].lower() + sentence[1:]
        if sentence.startswith(("The ", "There ", "This ", "A ", "It "))
        else sentence
    )


def _control(run: Run, resamples: int, seed: int) -> Finding:
    settings = _settings(run)
    if settings.get("given", "found") != "found":
        raise InputError(f"This run is given {settings['given']} passages: audit the run with those that it finds.")
    random, gold = control_siblings(run)
    if random is not None:
        return control.audit_control(run, random, gold, resamples=resamples, seed=seed)
    if not any(row.get("passages") for row in run.rows.values()):
        raise InputError(f"{run.system} keeps no passages, so there is nothing that its answers could draw on.")
    return audit_passages(run, resamples=resamples, seed=seed)


def _placed(run: Run, train: DatasetSpec | None, cache: Path | None, resamples: int, seed: int) -> Finding:
    if side_of(_settings(run)) is not None:
        raise InputError(f"{run.system} is a bound itself.")
    bounds = nearby_bounds(run, train=train, cache=cache, seed=seed)
    return placed.place_run(run, bounds, resamples=resamples, seed=seed)


def _overlap(
    run: Run, train: DatasetSpec | None, cache: Path | None, resamples: int, seed: int, progress: Progress
) -> list[Finding]:
    from longform.audit.nearest_questions import default_cache
    from longform.audit.overlap_pairs import find_pairs
    from longform.audit.overlap_scores import audit_scores_by_overlap
    from longform.models import Encoder

    if train is None:
        raise InputError("The training questions are not known: name them with --train.")
    known = train.load()
    pairs = find_pairs(known.examples, run.examples, Encoder.load(), cache or default_cache(), progress=progress)
    found = overlap.Overlap(run.examples, len(known), pairs)
    groups = {"a paraphrase in training": found.paraphrased, "the same topic in training": found.topical}
    return [overlap.audit_overlap(found), audit_scores_by_overlap(run, groups, resamples=resamples, seed=seed)]


def _settings(run: Run) -> dict[str, Any]:
    found: dict[str, Any] = run.record["identity"]["system"]
    return found
