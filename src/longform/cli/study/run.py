"""``longform study run``: systems × datasets, as a TOML file has them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click
import orjson

from longform.cli.options import counted, json_option
from longform.cli.progress import progress_bar
from longform.errors import InputError

if TYPE_CHECKING:
    from longform.study.config import Study
    from longform.study.grid import GridRun

__all__ = ["command"]

# The scores that a line shows, of those that the task has.
_SHOWN = ("str_em", "rougeLsum", "rougel", "QA-F1", "C-F1", "DR", "f1", "length", "groundedness", "answer_recall@5")


@click.command("run")
@click.argument("study", type=click.Path())
@click.option(
    "-o", "--output", type=click.Path(), metavar="FOLDER", help="Where runs go. [default: the study's, or runs]"
)
@click.option("--system", "systems", multiple=True, metavar="NAME", help="Only these systems.")
@click.option("--dataset", "datasets", multiple=True, metavar="LABEL", help="Only these datasets.")
@click.option("--plan", "only_plan", is_flag=True, help="Say what would be run and how far it is, and run nothing.")
@json_option
def command(
    study: str,
    output: str | None,
    systems: tuple[str, ...],
    datasets: tuple[str, ...],
    only_plan: bool,
    as_json: bool,
) -> None:
    """Run every system of STUDY, a TOML file, on every dataset, and score all.

    Started again it goes on where it was: what is finished is not done again. docs/studies.md says what STUDY holds.
    """
    from longform.study.config import read_study
    from longform.study.grid import plan, run_study

    wanted = _chosen(read_study(study, output), systems, datasets)
    if only_plan:
        _show_plan(plan(wanted), as_json)
        return
    number = len(wanted.pairs())
    with progress_bar() as progress:
        shown = 0

        def told(run: GridRun) -> None:
            nonlocal shown
            shown += 1
            if not as_json:
                click.echo(f"[{shown}/{number}] {_line(run)}")

        runs = run_study(wanted, progress=progress, on_run=told)
    if as_json:
        click.echo(orjson.dumps([_row(run) for run in runs], option=orjson.OPT_INDENT_2))
    else:
        click.echo(f"{counted(len(runs), 'run')} in {wanted.output}.")


def _chosen(study: Study, systems: tuple[str, ...], datasets: tuple[str, ...]) -> Study:
    for kind, names, known in (
        ("system", systems, [system.name for system in study.systems]),
        ("dataset", datasets, [dataset.label for dataset in study.datasets]),
    ):
        unknown = [name for name in names if name not in known]
        if unknown:
            raise InputError(f"The study has no {kind} {unknown[0]}: it has {', '.join(known)}.")
    return replace(
        study,
        systems=tuple(one for one in study.systems if not systems or one.name in systems),
        datasets=tuple(one for one in study.datasets if not datasets or one.label in datasets),
    )


def _show_plan(runs: list[GridRun], as_json: bool) -> None:
    if as_json:
        rows = [{"system": run.system, "dataset": run.dataset, "items": run.items, "done": run.done} for run in runs]
        click.echo(orjson.dumps(rows, option=orjson.OPT_INDENT_2))
        return
    for run in runs:
        state = "finished" if run.done == run.items else f"{run.done:,} of {run.items:,}"
        click.echo(f"{run.dataset:16}{run.system:32}{state:>18}")
    left = sum(run.items - run.done for run in runs)
    click.echo(f"{counted(len(runs), 'run')}, {counted(left, 'answer')} to make.")


def _line(run: GridRun) -> str:
    scores = run.run.report.scores
    told = " · ".join(f"{name} {scores[name]:.1f}" for name in _SHOWN if name in scores)
    made = run.items - run.before
    state = f"{made:,} made" + (f", {run.before:,} there" if run.before else "")
    return f"{click.style(run.system, bold=True)} on {run.dataset}: {state} · {told}"


def _row(run: GridRun) -> dict[str, Any]:
    return {
        "system": run.system,
        "dataset": run.dataset,
        "folder": str(run.folder),
        "items": run.items,
        "made": run.items - run.before,
        "scores": run.run.report.scores,
    }
