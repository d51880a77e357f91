"""A finished run's scores: computed once, kept beside it, and computed again when what they follow from changes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson

from longform._version import __version__
from longform.data.dataset import Dataset
from longform.errors import FailureError
from longform.files import atomic_write, sha256_of
from longform.score.statistics import intervals
from longform.score.store import save_report, summary
from longform.study.code import code_sha
from longform.study.config import ScoreSettings
from longform.study.kept_scores import read_scores
from longform.study.ledger import Ledger
from longform.study.runs import ITEMS, MADE_FROM, SCORES
from longform.study.scores import asked_of, score_rows
from longform.study.systems.tools import Tools

__all__ = ["score_run"]


def score_run(
    folder: Path, dataset: Dataset, rows: Mapping[str, Mapping[str, Any]], settings: ScoreSettings, tools: Tools
) -> None:
    """Write ``scores/`` of a run whose items are all there; the caller holds its lock.

    The bytes follow from the examples and the answers alone: no time, no machine, no order of making is in them.
    """
    reader = tools.fingerprint("reader", settings.reader)
    wanted = {
        "longform": __version__,
        "code": code_sha("score", "study/scores", "study/rankings", "text"),
        "items": sha256_of(folder / ITEMS),
        "sentences": settings.sentences,
        "resamples": settings.resamples,
        "reader": reader,
    }
    scores = folder / SCORES
    kept = scores / MADE_FROM
    if kept.is_file() and kept.read_bytes() == orjson.dumps(wanted) and _whole(scores):
        return
    read = None if reader is None else _read(folder, dataset, rows, settings, reader, tools)
    report = score_rows(dataset.examples, rows, dataset.task, sentences=settings.sentences, read=read)
    found = intervals(report, resamples=settings.resamples)
    told = {"reader": settings.reader if reader is not None else "none", "resamples": settings.resamples}
    save_report(scores, report, summary(report, found, told))
    # Last, so that a kill before it leaves scores that are made again.
    with atomic_write(kept) as file:
        file.write(orjson.dumps(wanted))


def _whole(scores: Path) -> bool:
    try:
        read_scores(scores)
    except FailureError:
        return False
    return True


def _read(
    folder: Path,
    dataset: Dataset,
    rows: Mapping[str, Mapping[str, Any]],
    settings: ScoreSettings,
    fingerprint: str,
    tools: Tools,
) -> dict[str, list[list[str]]]:
    """What the reader finds in every answer for every question of its example, one line an item."""
    with Ledger(folder / f"read-{fingerprint[:12]}.jsonl") as ledger:
        for example in dataset:
            asked = asked_of(example)
            if example.id in ledger.rows or not asked:
                continue
            reader = tools.reader(settings.reader)
            found = [
                [answer.text for answer in reader.read([(question, said["text"]) for question in asked])]
                for said in rows[example.id]["answers"]
            ]
            ledger.append({"id": example.id, "read": found})
        return {identifier: row["read"] for identifier, row in ledger.rows.items()}
