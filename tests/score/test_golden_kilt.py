"""The values that the official KILT scorers give stored guesses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from longform.score.kilt import load_kilt, score_kilt, score_kilt_retrieval

GOLDEN = Path(__file__).parents[3] / "shared" / "golden" / "kilt"

pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(
        not GOLDEN.is_dir(), reason="the golden values are not beside the checkout (../shared/golden/kilt)"
    ),
]


@pytest.mark.parametrize("case", ["case21", "case22"])
def test_every_number_of_the_official_scorers(case: str) -> None:
    expected = json.loads((GOLDEN / f"{case}.expected.json").read_text())
    gold, guess = load_kilt(GOLDEN / f"{case}.gold.jsonl"), load_kilt(GOLDEN / f"{case}.guess.jsonl")
    scores = score_kilt(gold, guess).scores
    for part in ("kilt", "downstream", "retrieval"):
        for name, value in expected[part].items():
            assert scores[name] == pytest.approx(value, abs=1e-9), name
    for name in ("accuracy", "em", "KILT-accuracy", "KILT-em"):
        part = expected["kilt" if name.startswith("KILT") else "downstream"]
        assert round(scores[name] * len(gold)) == round(part[name] * len(gold))
    retrieval = score_kilt_retrieval(gold, guess, ks=(1, 5, 10)).scores
    assert retrieval.keys() == expected["retrieval_full"].keys()
    for name, value in expected["retrieval_full"].items():
        assert retrieval[name] == pytest.approx(value, abs=1e-9), name
