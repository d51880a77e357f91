"""The scores that a run keeps, read back: whole, or an error that says how they are made again."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import orjson

from longform.errors import FailureError, LongformError
from longform.score.report import Report
from longform.score.store import load_report

__all__ = ["read_scores"]


def read_scores(folder: Path) -> Report:
    """The report in the ``scores/`` of a run.

    What is kept twice must agree: ``scores.json`` has the number of items and every score, and both follow from
    ``items.jsonl``. A file that was cut off or changed is found, and the study that made the run makes it again.
    """
    try:
        kept = orjson.loads((folder / "scores.json").read_bytes())
        report = load_report(folder)
        finite = all(np.isfinite(np.asarray(column, dtype=np.float64)).all() for column in report.columns.values())
        whole = finite and report.n == kept["n"] and _agree(report.scores, kept["scores"])
        whole = whole and all(len(ends) == 2 for ends in kept["intervals"].values())
    except (LongformError, OSError, orjson.JSONDecodeError, KeyError, TypeError, ValueError, AttributeError):
        whole = False
    if not whole:
        raise FailureError(
            f"The scores in {folder} are damaged: start the study of {folder.parent.name} again, which scores it anew."
        )
    return report


def _agree(found: dict[str, float], kept: dict[str, float]) -> bool:
    # A version that computes a score in another order may differ in the last digits; what follows from no column, as
    # the best threshold of a task does, is kept in the one place alone.
    return found.keys() <= kept.keys() and all(
        math.isclose(value, kept[name], rel_tol=1e-6, abs_tol=1e-9) for name, value in found.items()
    )
