"""What a reader must know before comparing rows: other versions, other settings, other machines, missing runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import orjson

from longform.report.gather import DatasetRuns, Gathered
from longform.study.ledger import read_ledger
from longform.study.runs import SESSIONS, Run

__all__ = ["caveats", "share", "versions_of"]


def caveats(gathered: Gathered) -> list[str]:
    """Sentences, the gravest first; none where all runs are finished and were made alike."""
    runs = [run for dataset in gathered.datasets for run in dataset.runs]
    entries = [(dataset, entry) for dataset in gathered.datasets for entry in dataset.entries]
    found = [f"Left out: {sentence}" for sentence in gathered.damaged]
    found += [sentence for dataset in gathered.datasets for sentence in _unfinished(dataset)]
    found += _mixed(
        "Runs of several versions of Longform stand side by side", runs, lambda run: run.record["identity"]["longform"]
    )
    made = [(entry.run, entry.report.settings) for _, entry in entries]
    settings = {run.folder: told for run, told in made}
    for name, what in (
        ("longform", "Scores were made by several versions of Longform"),
        ("sentences", "Scores were made with several ways to split sentences"),
        ("reader", "Scores were made with several readers"),
        ("resamples", "Intervals were made with several numbers of resamples"),
    ):
        found += _mixed(what, [run for run, _ in made], lambda run, name=name: settings[run.folder].get(name))  # type: ignore[misc]
    found += _mixed("Runs have several seeds", runs, lambda run: run.record["seed"])
    found += _mixed(
        "Runs were made on several machines, so that their times do not compare",
        runs,
        lambda run: _machine(run.record["machine"]),
    )
    packages = sorted(
        {name for name in {key for run in runs for key in versions_of(run)} if name != "longform"},
    )
    differing = [
        name for name in packages if len({told for run in runs for told in versions_of(run).get(name, ["none"])}) > 1
    ]
    if differing:
        found.append(f"Runs were made with several versions of {', '.join(differing)}: see the end of the page.")
    return found


def share(done: int, items: int) -> str:
    """How far a run is.

    >>> share(1, 8), share(1999, 2000)
    ('1 of 8 (12 %)', '1,999 of 2,000 (99 %)')
    """
    # Rounded down: a run that lacks one item is never shown as whole.
    return f"{done:,} of {items:,} ({100 * done // items if items else 0} %)"


def versions_of(run: Run) -> dict[str, list[str]]:
    """The versions of each package with which a run was made, over all the times it was begun or gone on with."""
    sessions = list(read_ledger(run.folder / SESSIONS, key=None).values())
    found: dict[str, list[str]] = {}
    for record in [run.record, *sessions]:
        for name, version in record.get("versions", {}).items():
            if version not in found.setdefault(name, []):
                found[name].append(version)
    return found


def _unfinished(dataset: DatasetRuns) -> list[str]:
    return [
        f"{one.run.system} on {dataset.label} {one.why} and is in no table: {share(one.done, one.items)} answers."
        for one in dataset.unfinished
    ]


def _mixed(what: str, runs: Sequence[Run], of: Callable[[Run], Any]) -> list[str]:
    groups: dict[str, list[str]] = {}
    for run in runs:
        groups.setdefault(_shown(of(run)), []).append(run.system)
    if len(groups) < 2:
        return []
    ordered = sorted(groups.items(), key=lambda item: -len(item[1]))
    (most, _), *others = ordered
    told = "; ".join(f"{value} ({', '.join(dict.fromkeys(names))})" for value, names in others)
    return [f"{what}: {most} (most runs); {told}."]


def _machine(record: dict[str, Any]) -> str:
    return f"{record.get('processor')}, {record.get('cores')} cores, {record.get('memory_gb')} GB"


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else orjson.dumps(value).decode()
