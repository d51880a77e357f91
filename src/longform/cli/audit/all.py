"""``longform audit all``: every check that applies to a run."""

from __future__ import annotations

from pathlib import Path

import click

from longform.cli.audit.present import finding_options, keep_findings, present_findings
from longform.cli.progress import progress_bar

__all__ = ["command"]


@click.command("all")
@click.argument("run", type=click.Path())
@click.option("--train", metavar="FILE", help="Training questions: a file or a dataset's name. [default: its split]")
@click.option("--keep", is_flag=True, help="Write findings.json into the run, where longform study report finds it.")
@finding_options
def command(
    run: str, train: str | None, keep: bool, resamples: int, seed: int, output: str | None, as_json: bool
) -> None:
    """Check the run in the folder RUN in every way that applies, with a verdict in plain words for each.

    Whether it uses its passages (with a run beside it that is given random ones, by both), whether it is above what
    knows nothing, answers to training questions among it, how much of its score is length, and whether its questions
    are among the training questions.
    """
    from longform.audit.everything import audit_run, runs_behind, training_of
    from longform.audit.shown import run_hashes
    from longform.study.dataset_spec import DatasetSpec
    from longform.study.runs import Run

    opened = Run.open(run)
    known = training_of(opened) if train is None else DatasetSpec.parse(train, Path(), split="train")
    # Before anything is computed: a file that cannot be read is the user's mistake, not a check that does not apply.
    files = {} if known is None else known.load().files
    with progress_bar() as progress:
        findings = audit_run(opened, train=known, resamples=resamples, seed=seed, progress=progress)
    hashes: dict[str, str] = {}
    for role, behind in runs_behind(opened).items():
        hashes |= run_hashes(behind, role)
    hashes |= {f"{Path(name).name} (training)": digest for name, digest in files.items()}
    if keep:
        keep_findings(opened.folder, findings)
    present_findings(
        f"Audit of {opened.system} on {opened.dataset}",
        findings,
        hashes=hashes,
        seed=seed,
        as_json=as_json,
        output=output,
        kept=f"Kept in {opened.folder / 'findings.json'}." if keep else "",
    )
