"""Every disambiguated question of every predicted answer is put to the reader, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from longform.errors import InputError
from longform.models import Reader, ReaderAnswer, reader
from longform.score.reading import read_answers

GOLD = {
    "7": {"qa_pairs": [{"question": "Who won in 2010?"}, {"question": "Who won in 2014?"}]},
    "-8": {"qa_pairs": [{"question": "Who sang?"}]},
    "9": {"qa_pairs": [{"question": "Who knew?"}]},
}
PREDICTIONS = {"9": "", "7": " Spain [1] won.\nThen Germany."}


class Last(Reader):
    """Answers with the last word."""

    def __init__(self) -> None:
        self.__dict__["asked"] = []

    def read(self, pairs: Any, *, style: Any = "asqa", batch_tokens: Any = None, progress: Any = None) -> Any:
        self.__dict__["asked"].append((list(pairs), style))
        progress(len(pairs))
        return [ReaderAnswer((context.split() or [""])[-1], 1.0, 0.0, 0, 0) for _, context in pairs]


def test_predicted_questions_in_the_order_of_the_gold_file() -> None:
    last = Last()
    found = read_answers(GOLD, PREDICTIONS, last)
    assert list(found.items()) == [("7_0", "Germany."), ("7_1", "Germany."), ("9_0", "")]
    context = PREDICTIONS["7"]
    pairs = [("Who won in 2010?", context), ("Who won in 2014?", context), ("Who knew?", "")]
    assert last.__dict__["asked"] == [(pairs, "asqa")]


def test_the_style_goes_along() -> None:
    last = Last()
    read_answers(GOLD, PREDICTIONS, last, style="alce")
    assert last.__dict__["asked"][0][1] == "alce"


def test_progress_has_a_stage_and_a_total() -> None:
    seen: list[Any] = []
    read_answers(GOLD, PREDICTIONS, Last(), progress=lambda *given: seen.append(given))
    assert seen == [("reading", 0, 3), ("reading", 3, 3)]


def test_a_reader_is_loaded_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(reader.Reader, "load", lambda name: asked.append(name) or Last())
    assert read_answers(GOLD, {"-8": "She sang"}, "mine") == {"-8_0": "sang"}
    assert asked == ["mine"]


def test_the_result_can_be_scored() -> None:
    pytest.importorskip("orjson")
    from longform.score.asqa import score_asqa

    gold = {
        "7": {
            "qa_pairs": [{"question": "Who won?", "short_answers": ["Spain"]}],
            "annotations": [{"long_answer": "It was Spain."}],
        }
    }
    answers = {"7": "The winner was Spain"}
    assert score_asqa(gold, answers, read_answers(gold, answers, Last())).scores["QA-F1"] == 100.0


@pytest.mark.parametrize(
    ("gold", "predictions", "message"),
    [
        (GOLD, {"1": "x"}, "Prediction 1 answers no question of the gold file"),
        (GOLD, {"7": ["x"]}, "Prediction 7 is list; it must be one string"),
        ({"7": {}}, {"7": "x"}, "Question 7 has no qa_pairs, or one without a question"),
        ({"7": {"qa_pairs": [{"short_answers": ["x"]}]}}, {"7": "x"}, "Question 7 has no qa_pairs, or one without"),
        ({"7": None}, {"7": "x"}, "Question 7 has no qa_pairs"),
    ],
)
def test_what_cannot_be_read_is_named(gold: Any, predictions: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_answers(gold, predictions, Last())
