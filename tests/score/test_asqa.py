"""The ASQA scorer on questions small enough to check by hand: every metric, every quirk, every mistake."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from longform.errors import InputError
from longform.score.asqa import load_asqa, score_asqa


def question(shorts: list[list[str]], *references: str) -> dict[str, Any]:
    return {
        "ambiguous_question": "Who?",
        "qa_pairs": [{"question": "Who then?", "short_answers": short} for short in shorts],
        "annotations": [{"long_answer": reference, "knowledge": []} for reference in references],
    }


GOLD = {
    "1": question([["Spain"], ["Italy", "Italia"]], "Spain won in 2010.", "Italy won in 2006, and Spain after."),
    "2": question([["A"]], "Vitamin A.", "It is the vitamin."),
}
PREDICTIONS = {"1": "Spain won in 2010.", "2": "It was B."}
QA = {"1_0": "the Spain", "1_1": "Northern Italy", "2_0": ""}


def test_every_metric() -> None:
    report = score_asqa(GOLD, PREDICTIONS, QA)
    assert report.ids == ["1", "2"]
    assert report.columns["str_em"].tolist() == [0.5, 1.0]
    assert report.columns["QA-EM"].tolist() == [0.5, 1.0]
    assert report.columns["QA-F1"].tolist() == pytest.approx([(1 + 2 / 3) / 2, 1.0])
    assert report.columns["QA-Hit"].tolist() == [0.0, 1.0]
    assert report.columns["rougeLsum"].tolist() == pytest.approx([1.0, 2 / 7])
    scores = report.scores
    assert list(scores) == ["length", "str_em", "rougeLsum", "QA-EM", "QA-F1", "QA-Hit", "DR"]
    assert scores["length"] == 3.5
    assert scores["str_em"] == scores["QA-EM"] == 75.0
    assert scores["QA-Hit"] == 50.0
    assert scores["DR"] == pytest.approx((scores["QA-F1"] * scores["rougeLsum"]) ** 0.5)


def test_without_qa() -> None:
    assert list(score_asqa(GOLD, PREDICTIONS).scores) == ["length", "str_em", "rougeLsum"]


def test_quirks() -> None:
    gold = {"1": question([["1"], ["The"], ["O'Neil"]], "Text.")}
    report = score_asqa(gold, {"1": "In 2016 oneil came."}, {"1_0": ["x", "1"], "1_1": "", "1_2": "o’neil"})
    # Letters, not words; an answer of articles alone is in every text, and equals no answer; curly marks survive.
    assert report.columns["str_em"].tolist() == [1.0]
    assert report.columns["QA-EM"].tolist() == pytest.approx([2 / 3])
    assert score_asqa(gold, {"1": ""}).columns["rougeLsum"].tolist() == [0.0]


def test_one_reference() -> None:
    values = [score_asqa(GOLD, PREDICTIONS, one_reference=one).columns["rougeLsum"] for one in (0, 1)]
    assert np.maximum(*values).tolist() == score_asqa(GOLD, PREDICTIONS).columns["rougeLsum"].tolist()
    with pytest.raises(InputError, match="Question 9 has 1 reference"):
        score_asqa({"9": question([["a"]], "One.")}, {"9": "b"}, one_reference=1)
    with pytest.raises(InputError, match="one_reference is 2"):
        score_asqa(GOLD, PREDICTIONS, one_reference=2)  # type: ignore[arg-type]


def test_subset() -> None:
    report = score_asqa(GOLD, {"2": "Vitamin A."}, {"2_0": "A"}, subset=True)
    assert report.ids == ["2"]
    assert report.scores["rougeLsum"] == 100.0
    with pytest.raises(InputError, match=r"1 of 2 questions have no prediction, 1 among them"):
        score_asqa(GOLD, {"2": "Vitamin A."})


def test_bootstrap_is_close_and_seeded() -> None:
    gold = {str(place): question([["x"]], "a b c d e f") for place in range(60)}
    predictions = {str(place): " ".join("abcdef"[: place % 7]) for place in range(60)}
    qa = {f"{place}_0": "x" for place in range(60)}
    plain = score_asqa(gold, predictions, qa)
    first, again, other = (score_asqa(gold, predictions, qa, official_bootstrap=True, seed=s) for s in (1, 1, 2))
    assert first.scores == again.scores
    assert first.scores["rougeLsum"] != other.scores["rougeLsum"]
    assert first.scores["rougeLsum"] == pytest.approx(plain.scores["rougeLsum"], abs=2.0)
    assert first.scores["DR"] == pytest.approx((100.0 * first.scores["rougeLsum"]) ** 0.5)
    assert first.columns["rougeLsum"].tolist() == plain.columns["rougeLsum"].tolist()


@pytest.mark.parametrize(
    ("gold", "predictions", "qa", "message"),
    [
        ({}, PREDICTIONS, None, "no questions"),
        (GOLD, {}, None, "no predictions"),
        (GOLD, {**PREDICTIONS, "3": "x"}, None, "Prediction 3 answers no question"),
        (GOLD, {"1": "x", "2": None}, None, "Prediction 2 is NoneType"),
        (GOLD, PREDICTIONS, {"1_0": "x"}, r"2 of 3 short answers are missing, 1_1 among them"),
        (GOLD, PREDICTIONS, {**QA, "1_1": []}, "Short answer 1_1"),
        (GOLD, PREDICTIONS, {**QA, "1_1": 4}, "Short answer 1_1"),
        (GOLD, PREDICTIONS, {**QA, "1_1": ["a", None]}, "Short answer 1_1"),
        ({"1": question([], "a")}, {"1": "x"}, None, "Question 1 has no qa_pairs"),
        ({"1": question([[]], "a")}, {"1": "x"}, None, "Question 1 has no qa_pairs"),
        ({"1": question([["a"]])}, {"1": "x"}, None, "Question 1 has no annotations"),
        ({"1": "text"}, {"1": "x"}, None, "Question 1 has no qa_pairs"),
    ],
)
def test_mistakes_are_named(gold: Any, predictions: Any, qa: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        score_asqa(gold, predictions, qa)


def test_sentences_setting() -> None:
    with pytest.raises(InputError, match="'own' or 'punkt'"):
        score_asqa(GOLD, PREDICTIONS, sentences="nltk")  # type: ignore[arg-type]


def test_punkt_without_data(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="Punkt data is not in"):
        score_asqa(GOLD, PREDICTIONS, sentences="punkt", punkt=tmp_path)


def test_load(tmp_path: Path) -> None:
    path = tmp_path / "ASQA.json"
    path.write_text(json.dumps({"dev": GOLD, "train": {}}), encoding="utf-8")
    assert load_asqa(path, "dev") == GOLD
    with pytest.raises(InputError, match="no split 'test'; its splits are: dev, train"):
        load_asqa(path, "test")
    path.write_text("{", encoding="utf-8")
    with pytest.raises(InputError, match="not valid JSON"):
        load_asqa(path)
    path.write_text("[]", encoding="utf-8")
    with pytest.raises(InputError, match="its splits are: none"):
        load_asqa(path)
    with pytest.raises(InputError, match="cannot be read"):
        load_asqa(tmp_path / "none.json")
