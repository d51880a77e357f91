"""What comes after the search: the re-ranker and the selection that the options of a command ask for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from longform.cli.options import Function
from longform.errors import InputError

if TYPE_CHECKING:
    from longform import Hit, Index
    from longform.rerank import AnswerReader, CrossEncoderReranker, SimilarityReranker

__all__ = ["Refiner", "reranking_options", "take_question"]

SHIPPED, SIMILARITY = "reranker", "similarity"
POOL = 100


def reranking_options(function: Function) -> Function:
    """How hits are re-ranked and selected."""
    for option in (
        click.option("--reader", metavar="MODEL", help="With --select: the reader. [default: shipped]"),
        click.option(
            "--select", type=click.Choice(["diverse"]), help="Choose passages that hold different answers, by a reader."
        ),
        click.option(
            "--budget-ms", type=float, metavar="MS", help="With --rerank: look at fewer candidates to stay within MS."
        ),
        click.option(
            "--pool",
            type=int,
            metavar="N",
            help=f"With --rerank: how many candidates. [default: {POOL}, or -k where that is more]",
        ),
        click.option(
            "--rerank",
            is_flag=False,
            flag_value=SHIPPED,
            metavar="[MODEL]",
            help="Order what was found anew by a cross-encoder, a folder or a hub name, or by similarity, the encoder. "
            "[default: shipped]",
        ),
    ):
        function = option(function)
    return function


def take_question(index: str, question: str | None, rerank: str | None) -> tuple[str, str | None, str | None]:
    """Index, question and re-ranker, where ``--rerank`` may have taken the argument after it for its model.

    >>> take_question("my.index", None, "Who won?")
    ('my.index', 'Who won?', 'reranker')
    """
    if question is not None or rerank is None:
        return index, question, rerank
    if (Path(rerank) / "longform.json").is_file():
        return rerank, index, SHIPPED
    if _is_model(rerank):
        raise InputError(
            f"There is no question, as {rerank} is taken for the model of --rerank: write the question before "
            "--rerank, or the model as --rerank=MODEL."
        )
    return index, rerank, SHIPPED


def _is_model(name: str) -> bool:
    from longform.models import list_models
    from longform.models.registry import _CACHE_NAME, _HUB_NAME, cache_folder

    known = {SHIPPED, SIMILARITY, *(name for model in list_models() for name in (model.name, *model.aliases))}
    cached = _CACHE_NAME.fullmatch(name) is not None and (cache_folder() / name).is_dir()
    return name.lower() in known or Path(name).is_dir() or cached or _HUB_NAME.fullmatch(name) is not None


@dataclass
class Refiner:
    """Re-ranks and selects the hits of one question after the other, and remembers what it did of the last."""

    k: int
    pool: int
    """How many hits the search shall give."""
    reranker: CrossEncoderReranker | SimilarityReranker | None
    reader: AnswerReader | None
    name: str | None
    """What the re-ranker is called."""
    done: list[str] = field(default_factory=list)
    """What was done, for people."""
    row: dict[str, Any] = field(default_factory=dict)
    """What was done, for programs."""

    @classmethod
    def of(
        cls,
        index: Index,
        k: int | None,
        *,
        rerank: str | None,
        pool: int | None,
        budget_ms: float | None,
        select: str | None,
        reader: str | None,
    ) -> Refiner | None:
        """What the options ask for; ``None`` where the search's own ranking is wanted."""
        if rerank is None and (pool is not None or budget_ms is not None):
            raise InputError(f"{'--pool' if pool is not None else '--budget-ms'} goes with --rerank.")
        if select is None and reader is not None:
            raise InputError("--reader goes with --select diverse.")
        if rerank is None and select is None:
            return None
        from longform.models import Reader
        from longform.rerank.diverse import POOL as READ
        from longform.retrieve.index import DEFAULT_K

        wanted = min(DEFAULT_K, len(index)) if k is None else k
        if pool is not None and pool < wanted:
            raise InputError(f"--pool {pool} holds fewer than the {wanted} passages that -k asks for: make it larger.")
        candidates = max((pool or POOL) if rerank is not None else READ, wanted)
        return cls(
            k=wanted,
            # Where -k itself asks for more than the index has, the search says so.
            pool=wanted if wanted > len(index) else min(candidates, len(index)),
            reranker=None if rerank is None else _reranker(rerank, index, budget_ms),
            reader=None if select is None else Reader.load(reader or "reader"),
            name=rerank,
        )

    def __call__(self, question: str, hits: Sequence[Hit]) -> Sequence[Hit]:
        """The hits to show."""
        self.done, self.row = [], {}
        if self.reranker is not None:
            # A selection chooses among more than it shows.
            report = self.reranker.report(question, hits, self.k if self.reader is None else None)
            hits = report.hits
            self.done.append(f"re-ranked {report.scored} of {report.candidates} in {report.seconds * 1000:.0f} ms")
            self.row["rerank"] = {
                "model": self.name,
                "candidates": report.candidates,
                "scored": report.scored,
                "ms": round(report.seconds * 1000, 1),
            }
        if self.reader is not None:
            from longform.rerank import select_diverse

            hits = select_diverse(question, hits, self.k, self.reader)
            self.done.append("diverse")
            self.row["select"] = "diverse"
        return hits

    @property
    def stage(self) -> str:
        """What progress calls it."""
        return "selecting" if self.reranker is None else "re-ranking"

    def tag(self, mode: str) -> str:
        """The name of the run in a TREC file."""
        parts = [mode, *(["rerank"] if self.reranker else []), *(["diverse"] if self.reader else [])]
        return "-".join(["longform", *parts])


def _reranker(name: str, index: Index, budget_ms: float | None) -> CrossEncoderReranker | SimilarityReranker:
    from longform.models import Encoder
    from longform.rerank import SimilarityReranker, open_reranker

    if name != SIMILARITY:
        if budget_ms is not None and not budget_ms > 0:
            raise InputError(f"--budget-ms must be above 0, and {budget_ms:g} is not.")
        return open_reranker(name, index, budget_ms)
    if budget_ms is not None:
        raise InputError("--budget-ms goes with a cross-encoder: --rerank similarity compares vectors, all at once.")
    return SimilarityReranker(Encoder.load() if index.manifest.dense is None else index.encoder, index)
