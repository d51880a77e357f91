"""Systems × datasets: every run of a study made, gone on with, or found finished, and scored."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import orjson
from filelock import FileLock

from longform.data.example import Example
from longform.errors import FailureError, InputError, LongformError, reason_of
from longform.files import atomic_write, sha256_of
from longform.progress import Progress, no_progress
from longform.study.cells import Cell, checked_cells, examples_bytes, examples_sha
from longform.study.config import Study
from longform.study.items import item_row
from longform.study.run_writer import RunBusyError, RunWriter, writing_run
from longform.study.runs import EXAMPLES, ITEMS, Run
from longform.study.scored import score_run
from longform.study.systems.protocol import System
from longform.study.systems.tools import Tools

__all__ = ["GridRun", "plan", "run_study"]

_POLL = 0.2


@dataclass(frozen=True)
class GridRun:
    """A run of the grid: where it is, how many of its items are made, and how many of these were there before."""

    system: str
    dataset: str
    folder: Path
    items: int
    done: int
    before: int

    @property
    def run(self) -> Run:
        """The run itself."""
        return Run.open(self.folder)


def plan(study: Study) -> list[GridRun]:
    """What the study is made of, and how far each run is; everything is checked, nothing written."""
    cells, _, _ = checked_cells(study)
    found = []
    for cell in cells:
        done = len(Run.open(cell.folder).rows) if (cell.folder / "run.json").is_file() else 0
        found.append(GridRun(cell.system.name, cell.spec.label, cell.folder, len(cell.dataset), done, done))
    return found


def run_study(
    study: Study, *, progress: Progress = no_progress, on_run: Callable[[GridRun], None] = lambda _: None
) -> list[GridRun]:
    """Make every run that is not finished, and score all.

    Settings, files and datasets are checked before the first question is asked. A run that fails does not stop the
    others; in the end the error names those that are not finished. Several processes may work on one study: each run
    is made by one of them at a time. ``on_run`` is called for each run once it is scored.
    """
    cells, identities, tools = checked_cells(study)
    _write_examples(study, cells)
    _write_study(study, cells)
    counting = _Counting(progress, sum(len(cell.dataset) for cell in cells), [_done(cell) for cell in cells])
    waiting = list(range(len(cells)))
    finished: dict[int, GridRun] = {}
    failures: dict[int, LongformError] = {}
    while waiting:
        busy = []
        for place in waiting:
            cell = cells[place]
            try:
                finished[place] = _make(study, cell, identities[place], tools, partial(counting, place))
                on_run(finished[place])
            except RunBusyError:
                busy.append(place)
            except LongformError as error:
                failures[place] = error
        if len(busy) == len(waiting):
            time.sleep(_POLL)
        waiting = busy
    if failures:
        raise _unfinished(cells, failures)
    return [finished[place] for place in sorted(finished)]


def _done(cell: Cell) -> int:
    """How many items of a run are there, without opening it."""
    path = cell.folder / "items.jsonl"
    return path.read_bytes().count(b"\n") if path.is_file() else 0


class _Counting:
    """Progress over the whole grid."""

    def __init__(self, progress: Progress, total: int, done: list[int]) -> None:
        self._progress, self._total, self._done = progress, total, done
        progress("answering", sum(done), total)

    def __call__(self, place: int, done: int) -> None:
        self._done[place] = done
        self._progress("answering", sum(self._done), self._total)


def _write_examples(study: Study, cells: Sequence[Cell]) -> None:
    """Put each dataset's examples beside its runs."""
    for label, dataset in {cell.spec.label: cell.dataset for cell in cells}.items():
        path = study.output / label / EXAMPLES
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with FileLock(path.with_name(".examples.lock")):
                if path.is_file() and sha256_of(path) != examples_sha(dataset):
                    path.unlink()  # It is damaged: runs over other questions were refused before.
                if not path.is_file():
                    with atomic_write(path) as file:
                        file.write(examples_bytes(dataset))
        except OSError as error:
            raise FailureError(f"{path} cannot be written: {reason_of(error)}.") from error


def _write_study(study: Study, cells: Sequence[Cell]) -> None:
    """The study itself, for whoever finds the folder."""
    record = {
        "format": "longform-study/1",
        "name": study.name,
        "seed": study.seed,
        "scores": {
            "sentences": study.scores.sentences,
            "reader": study.scores.reader,
            "resamples": study.scores.resamples,
        },
        "runs": [
            {"dataset": cell.spec.label, "system": cell.system.name, "folder": f"{cell.spec.label}/{cell.system.name}"}
            for cell in cells
        ],
    }
    with atomic_write(study.output / f"{study.name}.study.json") as file:
        file.write(orjson.dumps(record, option=orjson.OPT_INDENT_2))


def _make(study: Study, cell: Cell, identity: dict[str, Any], tools: Tools, counted: Callable[[int], None]) -> GridRun:
    config = {
        "system": cell.system.to_json(),
        "dataset": {"name": cell.dataset.name, "split": cell.dataset.split, "files": dict(cell.dataset.files)},
    }
    with writing_run(
        cell.folder,
        system=cell.system.name,
        dataset=cell.spec.label,
        config=config,
        identity=identity,
        items=len(cell.dataset),
    ) as writer:
        before = len(writer.done)
        strange = set(writer.done) - {example.id for example in cell.dataset}
        if strange:
            raise FailureError(
                f"{cell.folder / ITEMS} is damaged: its line for {min(strange)} is of no question of "
                f"{cell.spec.label}; remove that line."
            )
        counted(before)
        left = [example for example in cell.dataset if example.id not in writer.done]
        if left:
            _answer(cell.system.open(tools, cell.dataset.task), left, writer, counted)
        score_run(cell.folder, cell.dataset, writer.done, study.scores, tools)
    return GridRun(cell.system.name, cell.spec.label, cell.folder, len(cell.dataset), len(cell.dataset), before)


def _answer(system: System, left: Sequence[Example], writer: RunWriter, counted: Callable[[int], None]) -> None:
    for example in left:
        started = time.perf_counter()
        outcome = system.answer(example)
        writer.finish(item_row(example, outcome, time.perf_counter() - started))
        counted(len(writer.done))


def _unfinished(cells: Sequence[Cell], failures: dict[int, LongformError]) -> LongformError:
    told = [f"{cells[place].system.name} on {cells[place].spec.label}: {error}" for place, error in failures.items()]
    more = f" (and {len(told) - 1} more)" if len(told) > 1 else ""
    kind = FailureError if any(isinstance(error, FailureError) for error in failures.values()) else InputError
    verb, others = "is" if len(told) == 1 else "are", "; the others are" if len(told) < len(cells) else ""
    return kind(f"{len(told)} of {len(cells)} runs {verb} not finished{others}. {told[0]}{more}")
