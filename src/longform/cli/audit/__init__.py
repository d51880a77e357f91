"""``longform audit``: whether scores mean what they seem to."""

from __future__ import annotations

import click

from longform.cli.lazy import LazyGroup

__all__ = ["AUDITS", "command"]

AUDITS = {
    "control": "Whether a system uses the passages that it retrieves.",
    "overlap": "Which test questions stand among the training questions, in other words.",
    "bounds": "What scores say that know nothing, and what people reach.",
    "length": "How much of a score is length.",
    "all": "Every check that applies to a run.",
}


@click.group("audit", cls=LazyGroup, package="longform.cli.audit", summaries=AUDITS)
def command() -> None:
    """Check that a system's scores mean what they seem to, as the controls of Hurdles do."""
