"""Scores on disk come back as they were."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from longform.score.nq import score_nq
from longform.score.nq_records import Label, NqPrediction, NqSpan
from longform.score.report import Report, mean_of
from longform.score.statistics import intervals
from longform.score.store import load_report, save_report, summary


def kept(report: Report, folder: Path) -> Report:
    save_report(folder, report, summary(report, intervals(report, resamples=10), {}))
    return load_report(folder)


def test_means_with_their_scales(tmp_path: Path) -> None:
    metrics = [mean_of("em", "", "", scale=100.0), mean_of("length", "", "", column="words")]
    columns = {"em": np.array([0.0, 1.0]), "words": np.array([3.0, 0.1 + 0.2])}
    report = Report("kilt", ["1", "ü 2"], columns, metrics, {"k": 5})
    again = kept(report, tmp_path)
    assert again.scores == report.scores
    assert list(again.ids) == ["1", "ü 2"]
    assert again.items() == report.items()
    assert again.settings["k"] == 5


def test_formulas_of_natural_questions(tmp_path: Path) -> None:
    span = Label(NqSpan(start_token=3, end_token=9))
    gold = {"1": [span, span], "2": [span, Label()]}
    report = score_nq(gold, {"1": NqPrediction(span, 0.7, 0.0), "2": NqPrediction(span, 0.2, 0.0)})
    again = kept(report, tmp_path)
    for name in ("long-answer-f1", "long-answer-precision", "long-answer-recall"):
        assert again.scores[name] == pytest.approx(report.scores[name], abs=1e-15)
