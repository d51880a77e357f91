"""``longform score``: one subcommand per benchmark."""

from __future__ import annotations

import click

from longform.cli.lazy import LazyGroup

__all__ = ["BENCHMARKS", "command"]

BENCHMARKS = {
    "asqa": "ASQA: ROUGE-Lsum, STR-EM, Disambig-F1, length, DR.",
    "nq": "Natural Questions: long and short answers over whole pages.",
    "kilt": "KILT and ELI5: accuracy, EM, F1, ROUGE-L, R-precision, and the KILT scores.",
    "qampari": "QAMPARI: questions with many answers.",
    "alce": "ALCE: correctness and citations.",
    "retrieval": "Rankings: answer, page and evidence recall; nDCG and others from qrels.",
}


@click.group("score", cls=LazyGroup, package="longform.cli.score", summaries=BENCHMARKS)
def command() -> None:
    """Score answers or rankings exactly as a benchmark's own code does, with a 95 % interval beside every score."""
