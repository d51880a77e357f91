"""The bounds of a dataset: made in a study's run store, found beside a run, or computed where nothing is needed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import orjson

from longform.audit.bound_systems import BoundSystem, bound_systems, side_of, title_of, why_not
from longform.audit.nearest_questions import default_cache
from longform.audit.shown import finished
from longform.data.example import Example
from longform.data.having import HAVING, TWO_ANSWERS
from longform.errors import FailureError, reason_of
from longform.files import atomic_write
from longform.progress import Progress, no_progress
from longform.score.report import Report
from longform.score.statistics import Interval, intervals
from longform.study.config import ScoreSettings, Study
from longform.study.dataset_spec import DatasetSpec
from longform.study.grid import run_study
from longform.study.items import item_row
from longform.study.runs import Run, find_runs
from longform.study.scores import score_rows
from longform.study.systems.kinds import SystemSpec
from longform.study.systems.tools import Tools

__all__ = ["BOUNDS", "Bound", "Bounds", "bounds_beside", "make_bounds", "nearby_bounds", "write_bounds"]

BOUNDS = "bounds.json"
FORMAT = "longform-bounds/1"


@dataclass(frozen=True)
class Bound:
    """A bound with its scores; ``kind`` is that of its system, ``title`` what it is called in a sentence.

    ``references`` are, for a bound that is compared with some of the references alone, the places of those that each
    of its answers to a question is compared with.
    """

    name: str
    kind: str
    side: str
    title: str
    report: Report
    references: Mapping[str, tuple[tuple[int, ...], ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class Bounds:
    """The bounds of a dataset of ``items`` questions, and why others are left out."""

    dataset: str
    task: str
    items: int
    bounds: tuple[Bound, ...]
    left_out: Mapping[str, str]


def make_bounds(
    dataset: DatasetSpec,
    work: Path,
    *,
    train: DatasetSpec | None = None,
    index: str | None = None,
    seed: int = 0,
    scores: ScoreSettings = ScoreSettings(),  # noqa: B008
    progress: Progress = no_progress,
) -> Bounds:
    """Make every bound that the data allow, or go on with it, and write ``bounds.json`` beside the runs.

    People's answers are compared with each other on the questions that have two, as in *Hurdles*.
    """
    loaded = dataset.load()
    of_two = dataset
    if 0 < sum(map(HAVING[TWO_ANSWERS], loaded)) < len(loaded):
        of_two = replace(dataset, label=f"{dataset.label}-with-two-answers", having=TWO_ANSWERS)
    defaults: dict[str, Any] = {"train": train} if train is not None else {}
    defaults |= {"index": index} if index is not None else {}
    left_out, systems, only = {}, [], {}
    for one in bound_systems(loaded.task):
        why = why_not(one, loaded.examples, train=train is not None, index=index is not None)
        if why:
            left_out[_name(one)] = why
            continue
        spec = SystemSpec.parse(one.table, defaults, Path())
        systems.append(spec)
        only[spec.name] = (of_two.label if "two" in one.needs else dataset.label,)
    datasets = (dataset,) if of_two.label == dataset.label else (dataset, of_two)
    study = Study("bounds", tuple(systems), datasets, work, Path(), seed, scores, only)
    made = run_study(study, progress=progress)
    bounds = Bounds(dataset.label, loaded.task, len(loaded), tuple(_of_run(one.run) for one in made), left_out)
    write_bounds(work / dataset.label / BOUNDS, bounds, seed=seed, resamples=scores.resamples)
    return bounds


def bounds_beside(run: Run) -> list[Run]:
    """The finished runs beside a run, over the same questions, that are bounds."""
    return [
        other
        for other in find_runs(run.folder.parent)
        if side_of(_settings(other))
        and other.complete
        and other.folder != run.folder
        and other.record["identity"]["examples"] == run.record["identity"]["examples"]
    ]


def nearby_bounds(
    run: Run,
    *,
    train: DatasetSpec | None = None,
    cache: Path | None = None,
    seed: int = 0,
    sentences: str | None = None,
) -> Bounds:
    """The bounds for a run: those that are runs beside it, and those that follow from its questions.

    With training questions (``train``) also those from their answers; ``cache`` keeps the vectors of questions.
    """
    found = {other.system: _of_run(other) for other in bounds_beside(run)}
    settings = finished(run).settings
    way = sentences or str(settings.get("sentences", "own"))
    left_out = {}
    there = {(bound.kind, bound.title) for bound in found.values()}
    tools = Tools(seed, cache=None if train is None else cache or default_cache(), sentences=way)
    answered = train is not None and any(example.long_answers for example in train.load())
    for one in bound_systems(run.task):
        if (one.table["kind"], title_of(one.table)) in there:
            continue
        if "train" in one.needs and train is not None and not answered:
            why = f"the training questions of {train.label} have no long answers."
        else:
            why = why_not(one, run.examples, train=answered, index=False).replace(": name one with --index", "")
        if why:
            left_out[_name(one)] = why
            continue
        bound = _computed(one, run.examples, run.task, way, train, tools)
        found[bound.name] = bound
    ordered = sorted(found.values(), key=lambda bound: bound.side != "lower")
    return Bounds(run.dataset, run.task, len(run.examples), tuple(ordered), left_out)


def write_bounds(path: Path, bounds: Bounds, *, seed: int, resamples: int = 10_000) -> None:
    """Keep the bounds where ``longform study report`` finds them, to draw them under and over the systems."""
    rows = []
    for bound in bounds.bounds:
        found: Mapping[str, Interval] = intervals(bound.report, resamples=resamples, seed=seed)
        rows.append(
            {
                "name": bound.name,
                "kind": bound.kind,
                "side": bound.side,
                "title": bound.title,
                "dataset": bounds.dataset,
                "items": bound.report.n,
                "scores": bound.report.scores,
                "intervals": {name: [one.low, one.high] for name, one in found.items()},
            }
        )
    record = {
        "format": FORMAT,
        "dataset": bounds.dataset,
        "task": bounds.task,
        "items": bounds.items,
        "bounds": rows,
        "left_out": [{"name": name, "why": why} for name, why in bounds.left_out.items()],
    }
    try:
        with atomic_write(path) as file:
            file.write(orjson.dumps(record, option=orjson.OPT_INDENT_2))
    except OSError as error:
        raise FailureError(f"{path} cannot be written: {reason_of(error)}.") from error


def _computed(
    one: BoundSystem, examples: Sequence[Example], task: str, sentences: str, train: DatasetSpec | None, tools: Tools
) -> Bound:
    kept = [example for example in examples if "two" not in one.needs or len(example.long_answers) > 1]
    spec = SystemSpec.parse(one.table, {} if train is None else {"train": train}, Path())
    system = spec.open(tools, task)
    rows = {example.id: item_row(example, system.answer(example), 0.0) for example in kept}
    return _bound(spec.name, one.table, score_rows(kept, rows, task, sentences=sentences), rows)


def _of_run(run: Run) -> Bound:
    return _bound(run.system, _settings(run), finished(run), run.rows)


def _bound(name: str, settings: Mapping[str, Any], report: Report, rows: Mapping[str, Mapping[str, Any]]) -> Bound:
    side = side_of(settings)
    assert side is not None
    references = {
        identifier: tuple(tuple(answer["references"]) for answer in row["answers"])
        for identifier, row in rows.items()
        if all("references" in answer for answer in row["answers"])
    }
    return Bound(name, settings["kind"], side, title_of(settings), report, references)


def _settings(run: Run) -> Mapping[str, Any]:
    found: Mapping[str, Any] = run.record["identity"]["system"]
    return found


def _name(one: BoundSystem) -> str:
    """What a bound is called that cannot be made, and so has no settings to be named by."""
    table = one.table
    if table["kind"] == "training-answer":
        return f"{table['choose']}-training-answer@{table['k']}"
    return str(table.get("name") or (f"{table['choose']}-gold" if table["kind"] == "gold" else table["kind"]))
