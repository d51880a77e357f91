"""The values that the official Natural Questions scorer gives stored predictions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from longform.score.nq import score_nq
from longform.score.nq_records import load_gold, load_predictions

GOLDEN = Path(__file__).parents[3] / "shared" / "golden" / "nq"

pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(
        not GOLDEN.is_dir(), reason="the golden values are not beside the checkout (../shared/golden/nq)"
    ),
]


@pytest.mark.parametrize("case", ["case11", "case12"])
def test_every_number_of_the_official_scorer(case: str) -> None:
    expected = json.loads((GOLDEN / f"{case}.expected.json").read_text())
    gold = load_gold(GOLDEN / f"{case}.gold.jsonl.gz")
    report = score_nq(gold, load_predictions(GOLDEN / f"{case}.predictions.json"))
    assert expected.keys() <= report.scores.keys()
    for name, value in expected.items():
        assert report.scores[name] == pytest.approx(value, abs=1e-9), name
    assert report.scores["long-answer-n"] == report.n == expected["long-answer-n"]
    # Counts: the shares times their denominators are whole numbers, and the same ones.
    right, said = report.columns["long_correct"].sum(), report.columns["long_predicted"].sum()
    assert right == round(expected["long-answer-precision"] * said)
