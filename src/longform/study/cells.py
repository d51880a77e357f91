"""The runs of a study before they are made: each is checked, and gets what decides its answers."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from longform.data.dataset import Dataset
from longform.data.having import HAVING
from longform.errors import InputError, LongformError
from longform.study.config import Study
from longform.study.dataset_spec import DatasetSpec
from longform.study.run_writer import check_same
from longform.study.runs import Run
from longform.study.scores import check_scorable
from longform.study.systems.kinds import SystemSpec
from longform.study.systems.tools import Tools

__all__ = ["Cell", "checked_cells", "examples_bytes", "examples_sha"]


@dataclass(frozen=True)
class Cell:
    """One system on one dataset, and the folder of its run."""

    spec: DatasetSpec
    dataset: Dataset
    system: SystemSpec
    folder: Path


def checked_cells(study: Study) -> tuple[list[Cell], list[dict[str, Any]], Tools]:
    """The runs and what decides each; what cannot be run or scored is said before anything is."""
    tools = Tools(study.seed, study.base, study.output / ".cache", study.scores.sentences)
    cells = _cells(study)
    if not cells:
        raise InputError("There is nothing to run: none of the systems is meant for any of the datasets.")
    for label, dataset in {cell.spec.label: cell.dataset for cell in cells}.items():
        check_scorable(dataset.examples, dataset.task, study.scores.sentences)
        if _of_other_questions(study.output / label, examples_sha(dataset)):
            raise InputError(
                f"{study.output / label} holds runs over other questions or other gold than {label} has now: give the "
                "dataset another label, or write to another folder."
            )
    for cell in cells:
        _check_needs(cell)
    identities = [_identity(study, cell, tools) for cell in cells]
    if study.scores.reader != "none":
        tools.fingerprint("reader", study.scores.reader)
    for cell, identity in zip(cells, identities, strict=True):
        try:
            cell.system.settings.check(tools, cell.dataset)
        except LongformError as error:
            raise type(error)(f"The system {cell.system.name}: {error}") from None
        check_same(cell.folder, identity, len(cell.dataset))
    return cells, identities, tools


def _cells(study: Study) -> list[Cell]:
    loaded: dict[str, Dataset] = {}
    for spec in study.datasets:
        loaded[spec.label] = spec.load()
    return [
        Cell(spec, loaded[spec.label], system, study.output / spec.label / system.name)
        for spec, system in study.pairs()
    ]


def _check_needs(cell: Cell) -> None:
    """Raise where questions lack what the system needs, before the first of them is asked."""
    need = cell.system.settings.needs
    lacking = [example.id for example in cell.dataset if need is not None and not HAVING[need](example)]
    if len(lacking) == len(cell.dataset):
        raise InputError(
            f"{cell.system.name} needs questions with {need}, and {cell.spec.label} has none: leave it out for this "
            "dataset."
        )
    if lacking:
        raise InputError(
            f"{cell.system.name} needs questions with {need}, and {len(lacking):,} of the {len(cell.dataset):,} of "
            f"{cell.spec.label} are without, the first is {lacking[0]}: give it a dataset of the others, with "
            f'having = "{need}" and a label of its own, and name that in its datasets.'
        )


def _identity(study: Study, cell: Cell, tools: Tools) -> dict[str, Any]:
    try:
        settings = cell.system.identity(tools)
    except LongformError as error:
        raise type(error)(f"The system {cell.system.name}: {error}") from None
    return {
        "system": settings,
        "dataset": {"name": cell.dataset.name, "split": cell.dataset.split, "sha256": cell.dataset.sha256},
        "examples": examples_sha(cell.dataset),
        "task": cell.dataset.task,
        "seed": study.seed,
        # The ROUGE by which "best" chooses depends on it.
        **({"sentences": study.scores.sentences} if settings.get("choose") == "best" else {}),
    }


def examples_bytes(dataset: Dataset) -> bytes:
    """The questions with their gold, a JSON line each, as they lie beside the runs."""
    return b"".join(orjson.dumps(example.to_json(), option=orjson.OPT_APPEND_NEWLINE) for example in dataset)


def examples_sha(dataset: Dataset) -> str:
    """The sha256 of these lines."""
    return hashlib.sha256(examples_bytes(dataset)).hexdigest()


def _of_other_questions(folder: Path, examples: str) -> bool:
    """Whether a folder holds runs over other questions, or the same with other gold."""
    return any(_examples_of(path.parent) not in (None, examples) for path in folder.glob("*/run.json"))


def _examples_of(folder: Path) -> str | None:
    """The sha256 of the questions of a run; none of one that cannot be read, which is its own study's business."""
    try:
        return str(Run.open(folder).record["identity"]["examples"])
    except LongformError:
        return None
