"""Scores on disk: ``scores.json`` with what was measured and how, ``items.jsonl`` with every item's values."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from longform._version import __version__
from longform.errors import InputError, reason_of
from longform.files import atomic_write
from longform.score.report import Metric, Report, mean_of
from longform.score.statistics import Interval

__all__ = ["load_report", "save_report", "summary"]

SCORES, ITEMS = "scores.json", "items.jsonl"


def summary(report: Report, found: Mapping[str, Interval], settings: Mapping[str, Any]) -> dict[str, Any]:
    """The object that ``longform score --json`` prints: task, n, scores, intervals, settings."""
    return {
        "task": report.task,
        "n": report.n,
        "scores": report.scores,
        "intervals": {name: [interval.low, interval.high] for name, interval in found.items()},
        "settings": {**report.settings, **settings, "longform": __version__},
    }


def save_report(folder: Path, report: Report, row: Mapping[str, Any]) -> None:
    """Keep a report: ``row`` is its :func:`summary`."""
    means = [
        {"name": metric.name, "column": metric.column, "scale": metric.scale}
        for metric in report.metrics
        if metric.column is not None
    ]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with atomic_write(folder / ITEMS) as file:
            for item in report.items():
                file.write(orjson.dumps(item, option=orjson.OPT_APPEND_NEWLINE))
        with atomic_write(folder / SCORES) as file:
            file.write(orjson.dumps({**row, "means": means}, option=orjson.OPT_INDENT_2))
    except OSError as error:
        raise InputError(f"{folder} cannot be written: {reason_of(error)}.") from error


def load_report(folder: Path) -> Report:
    """A kept report, with the metrics that follow from its columns."""
    try:
        row = orjson.loads((folder / SCORES).read_bytes())
        items = [orjson.loads(line) for line in (folder / ITEMS).read_bytes().splitlines()]
        ids = [item["id"] for item in items]
        columns = {name: np.array([item[name] for item in items]) for name in items[0] if name != "id"}
        metrics = [mean_of(mean["name"], "", "", column=mean["column"], scale=mean["scale"]) for mean in row["means"]]
        task, settings = row["task"], row["settings"]
    except OSError as error:
        raise InputError(
            f"{folder} holds no {Path(error.filename).name}: `longform score … -o {folder}` keeps scores there."
        ) from None
    except (orjson.JSONDecodeError, KeyError, IndexError, TypeError):
        raise InputError(
            f"The scores in {folder} are damaged: `longform score … -o {folder}` makes them anew."
        ) from None
    return Report(task, ids, columns, [*metrics, *_formulas(task, columns)], settings)


def _formulas(task: str, columns: Mapping[str, Any]) -> list[Metric]:
    """The metrics of a task that are more than a mean."""
    if task == "asqa":
        from longform.score.asqa import asqa_metrics

        metrics = asqa_metrics(with_qa="QA-F1" in columns)
    elif task == "nq":
        from longform.score.nq import ratio_metrics

        metrics = [*ratio_metrics("long"), *ratio_metrics("short")]
    else:
        return []
    return [metric for metric in metrics if metric.column is None]
