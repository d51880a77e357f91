"""``longform train``: one subcommand per model."""

from __future__ import annotations

import click

from longform.cli.lazy import LazyGroup

__all__ = ["MODELS", "command"]

MODELS = {
    "reranker": "A re-ranker, from silver passages.",
    "retriever": "An encoder, from questions and long answers.",
    "fid": "A Fusion-in-Decoder reader, from questions with many answers.",
    "reader": "A span reader with a null answer, from SQuAD files.",
    "generator": "The writer of long answers, from questions and long answers.",
}


@click.group("train", cls=LazyGroup, package="longform.cli.train", summaries=MODELS)
def command() -> None:
    """Train a model on your own questions, on a CPU; needs longform[train]."""
