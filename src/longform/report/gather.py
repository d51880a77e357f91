"""What a folder of runs holds: by dataset the finished runs with their scores, and those that are not finished."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import orjson

from longform.data.example import Example
from longform.errors import FailureError, LongformError
from longform.report.bounds import BOUNDS, CONTROL, LOWER, Bound, read_bounds, role_of, side_of
from longform.report.findings import FoundFinding, read_findings
from longform.score.report import Report
from longform.study.runs import RUN, SCORES, Run, find_runs

__all__ = ["DatasetRuns", "Entry", "Gathered", "Unfinished", "gather"]


@dataclass(frozen=True)
class Entry:
    """A finished run with its scores, and the 95 % interval of each that has one."""

    run: Run
    report: Report
    intervals: Mapping[str, tuple[float, float]]

    @property
    def system(self) -> str:
        """The system's name."""
        return self.run.system

    @property
    def settings(self) -> Mapping[str, Any]:
        """The system's settings as the study has them."""
        found: Mapping[str, Any] = self.run.record["config"].get("system", {})
        return found

    @property
    def kind(self) -> str:
        """The kind of system."""
        return str(self.settings.get("kind", ""))

    @property
    def side(self) -> str | None:
        """On which side it bounds the others, ``None`` where it competes."""
        return side_of(self.settings)

    @property
    def role(self) -> str | None:
        """Its side, ``"control"`` where it is given other passages than it finds, ``None`` where it competes."""
        return role_of(self.settings)

    @property
    def title(self) -> str:
        """Its name in a plot, which says where it is a control."""
        return f"{self.system} (control)" if self.role == CONTROL else self.system

    @property
    def bound(self) -> Bound | None:
        """The run as a bound."""
        return None if self.side is None else Bound(self.system, self.side, self.report.scores)


@dataclass(frozen=True)
class Unfinished:
    """A run without scores: how many of its items are there, and why it is not in the tables."""

    run: Run
    done: int
    items: int
    why: str


@dataclass(frozen=True)
class DatasetRuns:
    """The runs over one dataset, in the order of the study."""

    label: str
    entries: tuple[Entry, ...]
    unfinished: tuple[Unfinished, ...]
    extra_bounds: tuple[Bound, ...] = ()

    @property
    def runs(self) -> list[Run]:
        """All runs, finished or not."""
        return [entry.run for entry in self.entries] + [one.run for one in self.unfinished]

    @property
    def competing(self) -> tuple[Entry, ...]:
        """The systems that are neither bounds nor controls; all, where there is none but these."""
        return tuple(entry for entry in self.entries if entry.role is None) or self.entries

    @property
    def controls(self) -> tuple[Entry, ...]:
        """The systems that are given random or gold passages, where others compete."""
        return tuple(entry for entry in self.entries if entry.role == CONTROL and entry not in self.competing)

    @property
    def bounds(self) -> list[Bound]:
        """Every bound: runs of this folder and those of ``bounds.json``, the lower ones first."""
        own = [entry.bound for entry in self.entries]
        found = [bound for bound in own if bound is not None]
        names = {bound.name for bound in found}
        found += [bound for bound in self.extra_bounds if bound.name not in names]
        return sorted(found, key=lambda bound: bound.side != LOWER)

    @property
    def examples(self) -> Mapping[str, Example]:
        """The questions with their gold, by id."""
        return {example.id: example for example in self.entries[0].run.examples} if self.entries else {}

    def entry(self, system: str) -> Entry | None:
        """The finished run of a system."""
        return next((entry for entry in self.entries if entry.system == system), None)


@dataclass(frozen=True)
class Gathered:
    """Everything that a report is made from; ``damaged`` says what is wrong with runs that cannot be read."""

    folder: Path
    datasets: tuple[DatasetRuns, ...]
    findings: tuple[FoundFinding, ...]
    studies: tuple[Mapping[str, Any], ...] = ()
    damaged: tuple[str, ...] = ()

    @property
    def systems(self) -> list[str]:
        """The names of all systems, in order."""
        names = [run.system for dataset in self.datasets for run in dataset.runs]
        return list(dict.fromkeys(names))


def gather(folder: str | Path) -> Gathered:
    """Read a folder of runs; nothing is written, and runs that are being made are seen as far as they have come."""
    place = Path(folder)
    runs, damaged = _readable(place)
    studies = _studies(place, runs)
    order = {
        (base / row["folder"]).resolve(): position
        for position, (base, row) in enumerate((base, row) for base, study in studies for row in study.get("runs", ()))
    }
    runs = sorted(runs, key=lambda run: order.get(run.folder.resolve(), len(order)))
    grouped: dict[Path, list[Run]] = {}
    for run in runs:
        grouped.setdefault(run.folder.parent, []).append(run)
    grouped = {parent: _told_apart(found) for parent, found in grouped.items()}
    labels = _labels(place, grouped)
    datasets = tuple(_dataset(place, labels[parent], found) for parent, found in grouped.items())
    return Gathered(place, datasets, tuple(read_findings(place)), tuple(study for _, study in studies), damaged)


def _readable(place: Path) -> tuple[list[Run], tuple[str, ...]]:
    """The runs that can be read, and what is wrong with the others; raises where none can."""
    paths = sorted(path.parent for path in place.rglob(RUN)) if not (place / RUN).is_file() else [place]
    found = list(map(_opened, paths))
    runs = [run for run in found if isinstance(run, Run)]
    errors = [error for error in found if isinstance(error, LongformError)]
    if errors and not runs:
        raise errors[0]
    return runs or find_runs(place), tuple(map(str, errors))


def _opened(path: Path) -> Run | LongformError:
    try:
        run = Run.open(path)
        _ = run.rows
    except LongformError as error:
        return error
    return run


def _labels(place: Path, grouped: Mapping[Path, Sequence[Run]]) -> dict[Path, str]:
    """What to call the datasets: as the study does, and where two are called the same, by their folders."""
    names = {parent: runs[0].dataset for parent, runs in grouped.items()}
    counts = Counter(names.values())
    return {
        parent: name if counts[name] == 1 or parent == place else parent.relative_to(place).as_posix()
        for parent, name in names.items()
    }


def _told_apart(runs: list[Run]) -> list[Run]:
    """The runs over a dataset, called by their folders where two are of a system of the same name."""
    if len({run.system for run in runs}) == len(runs):
        return runs
    return [replace(run, record={**run.record, "system": run.folder.name}) for run in runs]


def _dataset(place: Path, label: str, runs: Sequence[Run]) -> DatasetRuns:
    entries, unfinished = [], []
    for run in runs:
        entry = _entry(run)
        if isinstance(entry, Entry):
            entries.append(entry)
        else:
            unfinished.append(entry)
    # The nearest file counts: beside the runs, else at the top of the folder.
    nearest = next((path for path in (runs[0].folder.parent / BOUNDS, place / BOUNDS) if path.is_file()), None)
    bounds = read_bounds(nearest, runs[0].dataset) if nearest is not None else []
    return DatasetRuns(label, tuple(entries), tuple(unfinished), tuple(bounds))


def _entry(run: Run) -> Entry | Unfinished:
    done, items = len(run.rows), int(run.record["items"])
    if not run.complete:
        return Unfinished(run, done, items, "is not finished")
    scores = run.folder / SCORES
    try:
        intervals = orjson.loads((scores / "scores.json").read_bytes())["intervals"]
    except (OSError, orjson.JSONDecodeError, KeyError, TypeError):
        return Unfinished(run, done, items, "is not scored yet")
    if run.scores_of is None:
        return Unfinished(run, done, items, "is not scored yet")
    if not run.scores_are_current:
        return Unfinished(run, done, items, "has scores of other answers")
    try:
        report = run.report
    except FailureError:
        return Unfinished(run, done, items, "has damaged scores")
    return Entry(run, report, {name: (low, high) for name, (low, high) in intervals.items()})


def _studies(place: Path, runs: Sequence[Run]) -> list[tuple[Path, dict[str, Any]]]:
    """The studies that made the runs: their records lie above the datasets' folders."""
    tops = dict.fromkeys([place, *(run.folder.parent.parent for run in runs)])
    found: dict[Path, tuple[Path, dict[str, Any]]] = {}
    for top in tops:
        for path in sorted(top.glob("*.study.json")):
            try:
                record = orjson.loads(path.read_bytes())
            except (OSError, orjson.JSONDecodeError):
                continue  # it only says in which order runs stand
            if isinstance(record, dict):
                found.setdefault(path.resolve(), (top, record))
    return list(found.values())
