"""Whether a collection answers a question: off-topic questions are refused, others answered, each by its signs."""

from __future__ import annotations

from pathlib import Path

import pytest

from longform import Hit, Index, Passage, read
from longform.answer.answerable import SIGNS, answers_question, signs
from longform.answer.opening import open_pipeline
from longform.answer.relevance import Found

EXAMPLES = Path(__file__).parents[2] / "examples"


def hit(text: str, score: float | None = None) -> Hit:
    scores = {} if score is None else {"rerank": score}
    return Hit(Passage("p", "d", "Tea", text, 0, len(text)), 1, 1.0, scores)


def test_signs_are_shares_and_scores() -> None:
    found = [Found(0, "China", 0.75, 0, 5)]
    known = dict(zip(SIGNS, signs("Where does tea grow?", [hit("It will grow in China.", 1.5)], found), strict=True))
    assert known["covered"] == known["together"] == 0.5
    assert (known["sure"], known["score"]) == (0.75, 1.5)


def test_the_rerankers_score_decides() -> None:
    assert answers_question("Where does tea grow?", [hit("Tea grows in China.", 2.0)], [])
    assert not answers_question("Where does tea grow?", [hit("Tea grows in China.", -4.0)], [])


def test_on_an_unknown_scale_a_shared_word_is_enough() -> None:
    asked, found = "Where does tea grow?", [hit("Tea grows in China.", -4.0)]
    assert answers_question(asked, found, [], calibrated=False)
    assert answers_question(asked, [hit("Tea grows in China.")], [])
    assert not answers_question("Who won Eurovision?", [hit("Iron rusts.")], [])


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    return Index.create(tmp_path_factory.mktemp("known") / "examples.index", read(str(EXAMPLES / "pages")))


@pytest.mark.parametrize(
    ("question", "answered"),
    [
        ("Who was the ruler of France in 1830?", True),
        ("Who directed King Kong?", True),
        ("How do I renew a fishing licence in Oregon?", False),
        ("What is the boiling point of tungsten hexafluoride?", False),
    ],
)
def test_the_examples_answer_what_they_are_about(index: Index, question: str, answered: bool) -> None:
    answer = open_pipeline(index).answer(question)
    assert answer.answered == answered
    assert answer.text.startswith("The collection does not answer") != answered
    assert open_pipeline(index, always=True).answer(question).answered
