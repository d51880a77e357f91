from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longform.errors import InputError
from longform.score.recall import PassageText
from longform.score.silver import SilverItem, c_f1, content_tokens, conversation_item, groundedness, score_silver

BEATLES = [PassageText("The Beatles", "Ringo drummed in Liverpool."), PassageText("Wings", "Paul sang.")]


def test_asqa_measures() -> None:
    item = SilverItem("1", [["Ringo", "Starr"], ["Paul"], ["Yoko"]], pages=["Wings", "Yoko Ono"])
    scores = score_silver([item], {"1": BEATLES}, answers={"1": "Ringo drummed in Rome."}).scores
    assert scores == {
        "direct_answer_recall@5": pytest.approx(2 / 3),
        "page_recall@5": 0.5,
        "groundedness": pytest.approx(2 / 3),
    }
    assert score_silver([item], {"1": BEATLES}, k=1).scores["direct_answer_recall@1"] == pytest.approx(1 / 3)


def test_conversation() -> None:
    turns: list[Any] = [{"answers": [{"id": "Q1", "label": name}]} for name in ("Ringo", "Paul", "John", "a", "b", "c")]
    item = conversation_item({"conv_id": 3, "questions": turns})
    assert item.answers == [["Ringo"]]
    assert [turn[0][0] for turn in item.follow_ups] == ["Paul", "John", "a", "b"], "the first four"
    qa = {"3_0": "Ringo", "3_1": ["Paul Simon", "Paul"], "3_2": "", "3_3": "x", "3_4": "b"}
    scores = score_silver([item], {"3": BEATLES}, qa=qa).scores
    assert scores["direct_answer_recall@5"] == 1
    assert scores["follow_up_recall@5"] == 0.5, "Paul and b; 'a' normalises to nothing and John is missing"
    assert scores["C-F1"] == pytest.approx(60), "Ringo, Paul and b of five"
    assert "page_recall@5" not in scores


def test_c_f1_is_that_of_asqa() -> None:
    assert c_f1([["Rome"], ["the"]], ["", ""]) == 0.5, "two empty answers agree"


def test_content_tokens() -> None:
    assert content_tokens("The Beatles' 1st_song isn't of 1962") == {"beatles", "1st", "song", "1962"}


def test_groundedness() -> None:
    assert groundedness("The Beatles!", BEATLES) == 1
    assert groundedness("of the", BEATLES) == groundedness("", BEATLES) == 0
    assert groundedness("Ringo [1][2].", BEATLES) == 1, "citations are no words"
    assert groundedness("Ringo Ringo Rome", BEATLES) == 0.5, "words count once"
    assert groundedness("Ringo", []) == 0


@pytest.mark.parametrize(
    ("item", "options", "message"),
    [
        (SilverItem("9", [["x"]]), {}, "Item 9 has no passages: give an empty list if nothing was found."),
        (SilverItem("1", []), {}, "Item 1 has no gold answers."),
        (SilverItem("1", [["x"]]), {"answers": {}}, "Item 1 has no answer."),
        (SilverItem("1", [["x"]]), {"qa": {}}, "Item 1_0 has no reader's prediction."),
        (SilverItem("1", [["x"]]), {"k": 0}, "k must be at least 1, not 0."),
    ],
)
def test_mistakes(item: SilverItem, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as error:
        score_silver([item], {"1": BEATLES}, **options)
    assert str(error.value) == message


def test_pages_on_some_items_only() -> None:
    items = [SilverItem("1", [["x"]], pages=["Wings"]), SilverItem("2", [["x"]])]
    with pytest.raises(InputError, match=r"^Item 2 has no gold pages.$"):
        score_silver(items, {"1": [], "2": []})


def test_broken_conversations() -> None:
    with pytest.raises(InputError, match=r"^A conversation has no conv_id.$"):
        conversation_item({})
    with pytest.raises(InputError, match=r"^Item 1 has no questions.$"):
        conversation_item({"conv_id": 1})


@given(st.text("ab [1]", max_size=20), st.lists(st.text("ab ", max_size=9), max_size=4))
def test_groundedness_grows_with_passages(answer: str, texts: list[str]) -> None:
    passages = [PassageText("", text) for text in texts]
    values = [groundedness(answer, passages[:count]) for count in range(len(passages) + 1)]
    assert values == sorted(values)
    assert all(0 <= value <= 1 for value in values)
    assert groundedness(answer, passages[::-1]) == values[-1]
