"""The values that QAMPARI's own scorer and ALCE's give stored predictions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from longform.score.qampari import by_type, load_qampari, score_qampari

SHARED = Path(__file__).parents[3] / "shared"
GOLDEN = SHARED / "golden" / "qampari"

pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(
        not GOLDEN.is_dir(), reason="the golden values are not beside the checkout (../shared/golden/qampari)"
    ),
]


@pytest.mark.parametrize("case", ["case31", "case32"])
@pytest.mark.parametrize(("part", "alce"), [("official", False), ("alce_on_comma_joined", True)])
def test_every_number_of_both_scorers(case: str, part: str, alce: bool) -> None:
    path = GOLDEN / f"{case}.jsonl"
    expected = json.loads((GOLDEN / f"{case}.expected.json").read_text())[part]
    questions = load_qampari(path)
    rows = map(json.loads, path.read_text().splitlines())
    report = score_qampari(questions, {row["qid"]: row["predictions"] for row in rows}, alce=alce)
    assert report.scores.keys() == expected.keys()
    for name, value in expected.items():
        assert report.scores[name] == pytest.approx(value, abs=1e-9), name
    parts = by_type(report)
    assert sum(part.n for part in parts.values()) == report.n
    assert "wikidata_simple" in parts


def test_the_released_questions_can_be_read() -> None:
    questions = load_qampari(SHARED / "data" / "qampari" / "dev.jsonl.gz")
    assert len(questions) == 1000
    assert all(answer.aliases for question in questions for answer in question.answers)
