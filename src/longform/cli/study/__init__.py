"""``longform study``: experiments whose tables anyone can make again."""

from __future__ import annotations

import click

from longform.cli.lazy import LazyGroup

__all__ = ["STUDIES", "command"]

STUDIES = {
    "run": "Systems × datasets, as a TOML file has them.",
    "report": "Tables, plots and a page of the runs in a folder.",
    "asqa": "Long answers to ambiguous questions, ours beside those of others.",
    "silver": "Every kind of weak supervision for a re-ranker, side by side.",
}


@click.group("study", cls=LazyGroup, package="longform.cli.study", summaries=STUDIES)
def command() -> None:
    """Run an experiment and write its table; what is done already is not done again."""
