"""Progress bars: on standard error, only in a terminal, with rate and time left."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from longform.progress import Progress, no_progress

__all__ = ["progress_bar"]


@contextmanager
def progress_bar() -> Iterator[Progress]:
    """A callable for the library's ``progress`` that draws a bar for every stage."""
    if not sys.stderr.isatty():
        yield no_progress
        return
    from rich.console import Console
    from rich.progress import BarColumn, ProgressColumn, SpinnerColumn, Task, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars
    from rich.text import Text

    class Rate(ProgressColumn):
        def render(self, task: Task) -> Text:
            speed = task.finished_speed or task.speed
            return Text(f"{speed:,.0f}/s" if speed else "", style="dim")

    class Count(ProgressColumn):
        def render(self, task: Task) -> Text:
            return Text(f"{task.completed:,.0f}" + (f" of {task.total:,.0f}" if task.total else ""))

    bars = Bars(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(bar_width=30),
        Count(),
        Rate(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    tasks: dict[str, object] = {}

    def show(stage: str, done: int, total: int | None = None) -> None:
        task = tasks.get(stage)
        if task is None:
            # What an earlier run has done is not this run's speed.
            task = tasks[stage] = bars.add_task(stage, total=total, completed=done)
        bars.update(task, completed=done, total=total)  # type: ignore[arg-type]

    with bars:
        yield show
