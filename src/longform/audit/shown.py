"""What audits share: which scores tell of quality, what they are called, and how numbers are shown."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from longform.errors import InputError
from longform.score.report import Report
from longform.score.statistics import Comparison, Interval
from longform.study.runs import Run

__all__ = [
    "NAMES",
    "comparison_row",
    "difference_text",
    "digits_of",
    "finished",
    "interval_text",
    "left_out_notes",
    "metric_name",
    "quality_metrics",
    "restricted",
    "run_hashes",
]

NAMES: Mapping[str, str] = {
    "rougeLsum": "ROUGE-L",
    "rougel": "ROUGE-L (KILT)",
    "str_em": "STR-EM",
    "em": "EM",
    "f1": "F1",
    "QA-F1": "Disambig-F1",
    "groundedness": "groundedness",
}
"""What people call the scores."""

_COUNTS = ("length", "num_preds")
_NOT_QUALITY = (*_COUNTS, "groundedness")


def metric_name(name: str) -> str:
    """What people call a score.

    >>> metric_name("rougeLsum"), metric_name("DR")
    ('ROUGE-L', 'DR')
    """
    return NAMES.get(name, name)


def quality_metrics(names: Iterable[str]) -> list[str]:
    """Of the names of scores those that tell how good an answer is: neither length nor what passages are worth.

    >>> quality_metrics(["length", "str_em", "groundedness", "answer_recall@5"])
    ['str_em']
    """
    return [name for name in names if name not in _NOT_QUALITY and "_recall@" not in name]


def finished(run: Run) -> Report:
    """The scores of a run; one that is not finished, or not scored, is a mistake that is named."""
    if not run.complete:
        raise InputError(
            f"{run.folder} is not finished, {len(run.rows):,} of {run.record['items']:,} items are there: "
            "start its study again."
        )
    if not (run.folder / "scores" / "scores.json").is_file():
        raise InputError(f"{run.folder} has no scores: start its study again, which scores it.")
    if not run.scores_are_current:
        raise InputError(f"{run.folder} has scores of other answers: start its study again, which scores it anew.")
    return run.report


def restricted(report: Report, ids: Collection[str]) -> Report:
    """The report on some of its items alone."""
    wanted = set(ids)
    places = [place for place, identifier in enumerate(report.ids) if identifier in wanted]
    columns = {name: np.asarray(column)[places] for name, column in report.columns.items()}
    return replace(report, ids=[report.ids[place] for place in places], columns=columns)


def run_hashes(run: Run, role: str = "") -> dict[str, str]:
    """The files behind a run, with their sha256: the dataset's, and what decides the answers."""
    from longform.files import sha256_of

    dataset = run.record["config"].get("dataset", {})
    found = {name.rpartition("/")[2]: digest for name, digest in dataset.get("files", {}).items()}
    items = run.folder / "items.jsonl"
    return {**found, f"{role or run.system} (items.jsonl)": sha256_of(items)}


def digits_of(report: Report, name: str) -> int:
    """Digits behind the point of a score: one on a scale to 100, three on a scale to 1, as QAMPARI's is."""
    metric = next(metric for metric in report.metrics if metric.name == name)
    return 3 if metric.column is not None and metric.scale == 1.0 and name not in _COUNTS else 1


def interval_text(found: Interval, digits: int = 1) -> str:
    """A score with its interval.

    >>> interval_text(Interval(12.34, 10.0, 15.0))
    '12.3 [10.0, 15.0]'
    """
    return f"{found.value:.{digits}f} [{found.low:.{digits}f}, {found.high:.{digits}f}]"


def difference_text(found: Comparison, digits: int = 1) -> str:
    """The difference of two systems with its interval.

    >>> difference_text(Comparison(30.0, 20.0, 10.0, 8.0, 12.0, 0.01, 0.01))
    '+10.0 [+8.0, +12.0]'
    """
    return f"{found.difference:+.{digits}f} [{found.low:+.{digits}f}, {found.high:+.{digits}f}]"


def left_out_notes(left_out: Mapping[str, str]) -> list[str]:
    """What was left out and why, those together that share the reason.

    >>> left_out_notes({"a": "it is late.", "b": "it is late.", "c": "it is early."})
    ['Left out: a, b: it is late.', 'Left out: c: it is early.']
    """
    reasons: dict[str, list[str]] = {}
    for name, why in left_out.items():
        reasons.setdefault(why, []).append(name)
    return [f"Left out: {', '.join(names)}: {why}" for why, names in reasons.items()]


def comparison_row(found: Comparison) -> dict[str, Any]:
    """A comparison for programs."""
    return {name: float(value) for name, value in found._asdict().items()}
