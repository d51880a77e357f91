"""The run store: a folder for what one system says of one dataset, which survives a kill at any moment.

```
runs/asqa/
  examples.jsonl       the questions with their gold, the same for every run beside them
  bm25@5/
    run.json           what decides the answers (config, hashes, seed) and what they were made on (versions, machine)
    items.jsonl        one line a finished question, on disk before the next is begun
    sessions.jsonl     one line each time the run was begun or gone on with
    read-….jsonl       what a reader found in the answers, where scores need it
    scores/            scores.json and items.jsonl, as `longform compare` reads them
    .lock              held by the process that writes
```
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import orjson

from longform.data.example import Example
from longform.errors import FailureError, InputError
from longform.files import sha256_of
from longform.score.report import Report
from longform.study.kept_scores import read_scores
from longform.study.ledger import read_ledger

__all__ = ["EXAMPLES", "FORMAT", "Run", "checked_rows", "find_runs"]

FORMAT = "longform-run/1"
MADE_FROM = "made-from.json"
RUN, ITEMS, SESSIONS, SCORES, EXAMPLES, LOCK = (
    "run.json",
    "items.jsonl",
    "sessions.jsonl",
    "scores",
    "examples.jsonl",
    ".lock",
)


@dataclass(frozen=True)
class Run:
    """A run on disk, to be read: of a run that is being written, as far as it has come.

    ``record`` is ``run.json``: ``system``, ``dataset``, ``config``, ``identity``, ``seed``, ``versions``, ``machine``.
    """

    folder: Path
    record: Mapping[str, Any]

    @classmethod
    def open(cls, folder: str | Path) -> Run:
        """The run in a folder."""
        place = Path(folder)
        try:
            record = orjson.loads((place / RUN).read_bytes())
        except OSError:
            raise InputError(_no_run(place)) from None
        except orjson.JSONDecodeError:
            raise FailureError(f"{place / RUN} is damaged: remove {folder}, and the study makes it anew.") from None
        if not isinstance(record, dict):
            raise FailureError(f"{place / RUN} is damaged: remove {folder}, and the study makes it anew.")
        if record.get("format") != FORMAT:
            raise InputError(f"{folder} is a run of another version of Longform: make it anew.")
        identity = record.get("identity")
        whole = isinstance(identity, dict) and {"task", "examples"} <= identity.keys()
        named = all(isinstance(record.get(name), str) for name in ("system", "dataset"))
        if (
            not whole
            or not named
            or not isinstance(record.get("items"), int)
            or record["items"] < 1
            or not isinstance(record.get("config"), dict)
        ):
            raise FailureError(f"{place / RUN} is damaged: remove {folder}, and the study makes it anew.")
        return cls(place, record)

    @property
    def system(self) -> str:
        """The system's name."""
        return str(self.record["system"])

    @property
    def dataset(self) -> str:
        """What the study calls the dataset."""
        return str(self.record["dataset"])

    @property
    def task(self) -> str:
        """How answers are scored."""
        return str(self.record["identity"]["task"])

    @cached_property
    def rows(self) -> dict[str, dict[str, Any]]:
        """The finished items by id, in the order in which they were made."""
        return checked_rows(read_ledger(self.folder / ITEMS), self.folder / ITEMS)

    @cached_property
    def examples(self) -> tuple[Example, ...]:
        """The questions with their gold, checked against the hash in the record."""
        path = self.folder.parent / EXAMPLES
        if not path.is_file() or sha256_of(path) != self.record["identity"]["examples"]:
            raise FailureError(f"{path} is not the file that {self.folder} was made with: run the study again.")
        return tuple(Example.from_json(orjson.loads(line)) for line in path.read_bytes().splitlines())

    @property
    def complete(self) -> bool:
        """Whether every question has its item."""
        return len(self.rows) == int(self.record["items"])

    @property
    def scores_of(self) -> str | None:
        """The sha256 of the items that the scores were made from; ``None`` where there are no whole scores."""
        try:
            return str(orjson.loads((self.folder / SCORES / MADE_FROM).read_bytes())["items"])
        except (OSError, orjson.JSONDecodeError, KeyError, TypeError):
            return None

    @property
    def scores_are_current(self) -> bool:
        """Whether the scores are those of the answers that are there."""
        return self.scores_of == sha256_of(self.folder / ITEMS)

    @cached_property
    def report(self) -> Report:
        """The scores, for every item and in all."""
        return read_scores(self.folder / SCORES)


def find_runs(folder: str | Path) -> list[Run]:
    """The run in a folder, or all below it, by dataset and system."""
    place = Path(folder)
    if (place / RUN).is_file():
        return [Run.open(place)]
    found = [Run.open(path.parent) for path in sorted(place.rglob(RUN))]
    if not found:
        where = f"There are no runs in {folder}" if place.is_dir() else f"{folder} is no folder with runs"
        raise InputError(f"{where}: `longform study run` makes some.")
    return found


def _no_run(place: Path) -> str:
    if not place.is_dir():
        return f"{place} is no run, as there is no such folder: `longform study run` makes runs."
    below = next((path.parent for pattern in (f"*/{RUN}", f"*/*/{RUN}") for path in sorted(place.glob(pattern))), None)
    if below is not None:
        return f"{place} is no run but a folder with runs: name one of them, such as {below}."
    return f"{place} is no run: `longform study run` makes runs."


def _rows(value: Any, *texts: str) -> bool:
    """Whether a value is a list of objects that have these texts."""
    return isinstance(value, list) and all(
        isinstance(one, dict) and all(isinstance(one.get(name), str) for name in texts) for one in value
    )


def _ranks(value: Any) -> bool:
    lists = value.values() if isinstance(value, dict) else [None]
    return all(isinstance(one, list) and all(rank is None or isinstance(rank, int) for rank in one) for one in lists)


def _seconds(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(one, (int, float)) for one in value.values())


# What an item may hold, and what it then is.
_WHOLE: Mapping[str, Callable[[Any], bool]] = {
    "answers": lambda value: _rows(value, "text"),
    "passages": lambda value: value is None or _rows(value, "title", "text"),
    "ranking": lambda value: value is None or isinstance(value, list),
    "ranks": lambda value: value is None or _ranks(value),
    "seconds": lambda value: value is None or _seconds(value),
    "items": lambda value: value is None or isinstance(value, list),
}


def checked_rows(rows: dict[str, dict[str, Any]], path: Path) -> dict[str, dict[str, Any]]:
    """The rows, if each is an item of a run."""
    for identifier, row in rows.items():
        damaged = next((name for name, is_whole in _WHOLE.items() if not is_whole(row.get(name))), None)
        if damaged is not None:
            raise FailureError(
                f"{path} is damaged: its line for {identifier} has no {damaged} that can be read; without the line, it "
                "is made anew."
            )
    return rows
