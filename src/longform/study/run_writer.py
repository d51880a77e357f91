"""Writing a run: by one process at a time, an item on disk before the next is begun, gone on with after a kill."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
from filelock import FileLock, Timeout

from longform._version import __version__
from longform.errors import FailureError, InputError, reason_of
from longform.files import atomic_write
from longform.study.code import code_sha
from longform.study.ledger import Ledger
from longform.study.machine import machine, now, versions
from longform.study.runs import FORMAT, ITEMS, LOCK, RUN, SESSIONS, Run, checked_rows

__all__ = ["RunBusyError", "RunWriter", "check_same", "writing_run"]


class RunBusyError(FailureError):
    """Another process writes this run."""


@dataclass(frozen=True)
class RunWriter:
    """A run that this process, and no other, writes; ``ledger`` holds the finished items."""

    folder: Path
    ledger: Ledger

    @property
    def done(self) -> dict[str, dict[str, Any]]:
        """The finished items by id."""
        return self.ledger.rows

    def finish(self, row: Mapping[str, Any]) -> None:
        """Keep an item: it is on disk when this returns."""
        self.ledger.append(row)


@contextmanager
def writing_run(
    folder: Path, *, system: str, dataset: str, config: Mapping[str, Any], identity: Mapping[str, Any], items: int
) -> Iterator[RunWriter]:
    """Begin a run, or go on with it.

    ``identity`` is what decides the answers; where a run of another is in the folder, the difference is named and
    nothing is touched. Where another process writes it, :class:`RunBusyError` is raised.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder / LOCK)
        lock.acquire(timeout=0)
    except Timeout:
        raise RunBusyError(f"{folder} is being written by another process: wait until it is done.") from None
    except OSError as error:
        raise FailureError(f"{folder} cannot be written: {reason_of(error)}.") from error
    try:
        for left in folder.glob(".*.tmp"):
            left.unlink(missing_ok=True)
        same = _whole(identity)
        if not check_same(folder, identity, items):
            record = {
                "format": FORMAT,
                "system": system,
                "dataset": dataset,
                "config": config,
                "identity": same,
                "items": items,
                "seed": identity.get("seed"),
                "begun": now(),
                "versions": versions(),
                "machine": machine(),
            }
            with atomic_write(folder / RUN) as file:
                file.write(orjson.dumps(record, option=orjson.OPT_INDENT_2))
        with Ledger(folder / ITEMS) as ledger:
            if len(ledger.rows) < items:
                with Ledger(folder / SESSIONS, key=None) as sessions:
                    sessions.append(
                        {"begun": now(), "pid": os.getpid(), "finished": len(ledger.rows)}
                        | {"versions": versions(), "machine": machine()}
                    )
            checked_rows(ledger.rows, folder / ITEMS)
            yield RunWriter(folder, ledger)
    except OSError as error:
        raise FailureError(f"{folder} cannot be written: {reason_of(error)}.") from error
    finally:
        lock.release()


def _whole(identity: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = orjson.loads(orjson.dumps({"longform": __version__, "code": code_sha(), **identity}))
    return found


def check_same(folder: Path, identity: Mapping[str, Any], items: int) -> bool:
    """Whether the folder holds a run that can go on, and false where none has begun; raises where it is another.

    A finished one may be of another version of Longform or of its code.
    """
    # In this order: another process that begins the run now writes what it is made with before the first answer.
    answered = (folder / ITEMS).is_file() and (folder / ITEMS).stat().st_size > 0
    if not (folder / RUN).is_file():
        if answered:
            raise InputError(
                f"{folder} has answers but no {RUN}, so that nothing says what made them: put it back, or "
                f"remove {folder} to make the run anew."
            )
        return False
    found = Run.open(folder)
    differences = list(_differences(found.record["identity"], _whole(identity)))
    if {name for name, _, _ in differences} <= {"longform", "code"} and len(found.rows) == items:
        return True
    if differences and not found.rows:
        return False
    if differences:
        name, before, after = differences[0]
        raise InputError(
            f"{folder} was made with another {name} ({before}, now {after}): change it back, give the system another "
            f"name, write to another folder, or remove {folder} to make it anew."
        )
    return True


def _differences(before: Any, after: Any, name: str = "") -> Iterator[tuple[str, str, str]]:
    if isinstance(before, dict) and isinstance(after, dict):
        for key in [*before, *(key for key in after if key not in before)]:
            inner = f"{name}.{key}" if name else key
            yield from _differences(before.get(key), after.get(key), inner)
    elif before != after:
        yield name, _shown(before), _shown(after)


def _shown(value: Any) -> str:
    text = "none" if value is None else value if isinstance(value, str) else orjson.dumps(value).decode()
    return text if len(text) <= 40 else f"{text[:12]}…"
