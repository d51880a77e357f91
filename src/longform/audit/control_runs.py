"""The runs of a control experiment, made in a study's run store: killed and started again, they go on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from longform.audit.control import unlike_settings
from longform.data.dataset import Dataset
from longform.data.having import GOLD_PASSAGES, HAVING
from longform.progress import Progress, no_progress
from longform.study.config import ScoreSettings, Study
from longform.study.dataset_spec import DatasetSpec
from longform.study.grid import run_study
from longform.study.runs import Run, find_runs
from longform.study.systems.kinds import SystemSpec

__all__ = ["ControlRuns", "control_siblings", "make_control"]


@dataclass(frozen=True)
class ControlRuns:
    """The same system with passages found, random, and, where the dataset has any, gold; ``note`` says of gold."""

    found: Run
    random: Run
    gold: Run | None
    note: str


def make_control(
    system: Mapping[str, Any],
    dataset: DatasetSpec,
    work: Path,
    *,
    seed: int = 0,
    scores: ScoreSettings = ScoreSettings(),  # noqa: B008
    progress: Progress = no_progress,
) -> ControlRuns:
    """Make the runs, or go on with them; ``system`` is a table as in a study, of a kind that has ``given``."""
    specs = {given: SystemSpec.parse({**system, "given": given}, {}, Path()) for given in ("found", "random", "gold")}
    name = specs["found"].name
    names = {"found": name, "random": f"{name}-random", "gold": f"{name}-gold"}
    named = {given: replace(spec, name=names[given]) for given, spec in specs.items()}
    loaded = dataset.load()
    on_gold, note = _with_gold(dataset, loaded)
    datasets = [dataset]
    only = {names["found"]: (dataset.label,), names["random"]: (dataset.label,)}
    if on_gold is None:
        named.pop("gold")
    else:
        only[names["gold"]] = (on_gold.label,)
        datasets += [on_gold] if on_gold.label != dataset.label else []
    study = Study("control", tuple(named.values()), tuple(datasets), work, Path(), seed, scores, only)
    run_study(study, progress=progress)
    gold = None if on_gold is None else Run.open(work / on_gold.label / names["gold"])
    return ControlRuns(
        Run.open(work / dataset.label / names["found"]), Run.open(work / dataset.label / names["random"]), gold, note
    )


def _with_gold(spec: DatasetSpec, dataset: Dataset) -> tuple[DatasetSpec | None, str]:
    """The questions that have gold passages, and a note where they are not all."""
    having = sum(map(HAVING[GOLD_PASSAGES], dataset))
    if not having:
        return None, "The dataset has no gold passages, so there is no run from gold ones."
    if having == len(dataset):
        return spec, ""
    note = f"{having:,} of {len(dataset):,} questions have gold passages: the run from gold ones is over these."
    return replace(spec, label=f"{spec.label}-with-gold", having=GOLD_PASSAGES), note


def control_siblings(run: Run) -> tuple[Run | None, Run | None]:
    """The runs of its study that differ from it in nothing but ``given``: with random passages, and with gold ones.

    Those with gold passages may be over some of the questions alone, in the folder of another dataset.
    """
    mine = _settings(run)
    if mine.get("given") != "found":
        return None, None
    random = gold = None
    for other in find_runs(run.folder.parent.parent):
        theirs = _settings(other)
        if not other.complete or unlike_settings(run, other):
            continue
        if theirs.get("given") == "random" and _same_questions(run, other):
            random = other
        if theirs.get("given") == "gold" and set(other.rows) <= set(run.rows):
            gold = other
    return random, gold


def _settings(run: Run) -> dict[str, Any]:
    found: dict[str, Any] = run.record["identity"]["system"]
    return found


def _same_questions(first: Run, second: Run) -> bool:
    return bool(first.record["identity"]["examples"] == second.record["identity"]["examples"])
