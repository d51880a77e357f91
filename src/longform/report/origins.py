"""How to make a report again: data hashes, versions, seeds, machines and commands."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any

import orjson

from longform._version import __version__
from longform.audit.finding import Table
from longform.report.caveats import share, versions_of
from longform.report.gather import Gathered
from longform.study.runs import Run

__all__ = ["commands", "origins"]

# The settings of a system that name what it reads.
_READ = ("train", "index", "model", "file")
_SHA256 = re.compile(r"[0-9a-f]{64}")


def commands(gathered: Gathered, report: str) -> list[str]:
    """The commands that make the runs and the report; ``report`` is the one that made it."""
    studies = dict.fromkeys(str(study.get("name", "study")) for study in gathered.studies)
    return [*(f"longform study run {name}.toml -o {gathered.folder}" for name in studies), report]


def origins(gathered: Gathered) -> list[Table]:
    """Tables for the end of the page; files are named without their folders, which are nobody's business."""
    runs = [run for dataset in gathered.datasets for run in dataset.runs]
    return [
        Table("Data", ("dataset", "file", "sha256"), _data(gathered)),
        Table(
            "Runs",
            ("run", "answers", "seed", "begun", "what decides its answers"),
            [
                [
                    f"{dataset.label} / {run.system}",
                    share(len(run.rows), int(run.record["items"])),
                    str(run.record["seed"]),
                    str(run.record["begun"]),
                    _told(run.record["identity"]["system"]),
                ]
                for dataset in gathered.datasets
                for run in dataset.runs
            ],
            "Indexes, models and files are named by their sha256.",
        ),
        Table("Versions", ("package", "version"), _versions(runs)),
        Table("Machines", ("machine", "runs"), _machines(runs)),
        Table("Scores", ("setting", "value"), _scores(gathered)),
    ]


def _data(gathered: Gathered) -> list[list[str]]:
    rows = []
    for dataset in gathered.datasets:
        record = dataset.runs[0].record
        files = record["config"].get("dataset", {}).get("files", {})
        rows += [[dataset.label, PurePath(path).name, digest] for path, digest in files.items()]
        rows.append([dataset.label, "examples.jsonl", record["identity"]["examples"]])
        read = {name: None for run in dataset.runs for name in _read_by(run)}
        rows += [[dataset.label, name, digest] for name, digest in read]
    return rows


def _read_by(run: Run) -> list[tuple[str, str]]:
    """The index, the training questions and the models of a run, each with its sha256."""
    written, hashes = run.record["config"].get("system", {}), run.record["identity"]["system"]
    return [
        (f"{PurePath(str(written.get(name, name))).name} ({name})", hashes[name])
        for name in _READ
        if isinstance(hashes.get(name), str) and _SHA256.fullmatch(hashes[name])
    ]


def _versions(runs: Sequence[Run]) -> list[list[str]]:
    found: dict[str, list[str]] = {"this report": [f"longform {__version__}"]}
    for run in runs:
        for name, told in versions_of(run).items():
            found.setdefault(name, [])
            found[name] += [version for version in told if version not in found[name]]
    return [[name, ", ".join(told)] for name, told in found.items()]


def _machines(runs: Sequence[Run]) -> list[list[str]]:
    found: dict[str, int] = {}
    for run in runs:
        told = _told(run.record["machine"])
        found[told] = found.get(told, 0) + 1
    return [[machine, str(count)] for machine, count in found.items()]


def _scores(gathered: Gathered) -> list[list[str]]:
    found: dict[str, list[str]] = {}
    for dataset in gathered.datasets:
        for entry in dataset.entries:
            for name, value in entry.report.settings.items():
                told = value if isinstance(value, str) else orjson.dumps(value).decode()
                if told not in found.setdefault(name, []):
                    found[name].append(told)
    return [[name, ", ".join(told)] for name, told in found.items()]


def _told(record: Mapping[str, Any]) -> str:
    written = {
        name: value if isinstance(value, str) else orjson.dumps(value).decode() for name, value in record.items()
    }
    return ", ".join(f"{name} {value}" for name, value in written.items())
