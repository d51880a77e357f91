"""How the commands show that training goes on: a bar in a terminal, a line a minute in a log."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from longform.train.running import Report, TrainingStep

__all__ = ["clock", "training_report"]

SECONDS_BETWEEN_LINES = 60.0


def clock(seconds: float) -> str:
    """A duration as a clock shows it.

    >>> clock(75), clock(3700)
    ('1:15', '1:01:40')
    """
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


@contextmanager
def training_report() -> Iterator[Report]:
    """A callable for a trainer's ``report``: shows steps, loss and time left on standard error."""
    if not sys.stderr.isatty():
        yield _lines()
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    columns = TextColumn("{task.description}"), BarColumn(bar_width=30), TextColumn("{task.fields[state]}")
    bars = Progress(*columns, console=Console(stderr=True), transient=True)
    tasks: dict[str, object] = {}

    def show(step: TrainingStep) -> None:
        if step.stage not in tasks:
            tasks[step.stage] = bars.add_task(step.stage, total=step.total, state="")
        bars.update(tasks[step.stage], completed=step.done, total=step.total, state=_state(step))  # type: ignore[arg-type]

    with bars:
        yield show


def _lines() -> Report:
    last: dict[str, float] = {}

    def show(step: TrainingStep) -> None:
        now = time.monotonic()
        due = now - last.get(step.stage, now - SECONDS_BETWEEN_LINES) >= SECONDS_BETWEEN_LINES
        if due or step.done == step.total:
            last[step.stage] = now
            click.echo(f"{step.stage}: {_state(step)}", err=True)

    return show


def _state(step: TrainingStep) -> str:
    loss = "" if step.loss is None else f" · loss {step.loss:.4f}"
    left = "" if step.seconds_left is None else f" · {clock(step.seconds_left)} left"
    return f"{step.done:,} of {step.total:,}{loss}{left}"
