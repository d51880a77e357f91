"""Records as JSON: what an answer carries, under which names."""

from __future__ import annotations

import json

import pytest

from longform.records import Answer, AnswerItem, AnswerSentence, Evidence, Hit, Passage

PASSAGE = Passage("a#1", "a", "A", "One. Two.", 10, 19, "Early years")
HIT = Hit(PASSAGE, 1, 0.5, {"bm25": 0.5})


def test_a_passage_there_and_back() -> None:
    assert Passage.from_json(json.loads(json.dumps(PASSAGE.to_json()))) == PASSAGE
    plain = Passage("a#1", "a", "A", "One.", 0, 4)
    assert "section" not in plain.to_json()
    assert Passage.from_json(plain.to_json()) == plain


def test_a_hit_is_flat() -> None:
    assert HIT.to_json() == {
        "rank": 1,
        "score": 0.5,
        "scores": {"bm25": 0.5},
        "id": "a#1",
        "document": "a",
        "title": "A",
        "text": "One. Two.",
        "start": 10,
        "end": 19,
        "section": "Early years",
    }


def test_an_answer() -> None:
    sentence = AnswerSentence("One or three.", (1,), 0.5, False, (Evidence(1, 0, 4),), ((7, 12),))
    answer = Answer("Q?", "One or three [1].", (sentence,), (HIT,), "m", 0.5, warnings=("w",), seconds={"search": 0.1})
    assert answer.to_json() == {
        "question": "Q?",
        "answer": "One or three [1].",
        "answered": True,
        "complete": True,
        "model": "m",
        "groundedness": 0.5,
        "sentences": [
            {
                "text": "One or three.",
                "citations": [1],
                "groundedness": 0.5,
                "supported": False,
                "evidence": [{"passage": 1, "start": 0, "end": 4}],
                "ungrounded": [[7, 12]],
            }
        ],
        "passages": [HIT.to_json()],
        "warnings": ["w"],
        "seconds": {"search": 0.1},
    }
    json.dumps(answer.to_json())


def test_what_most_answers_do_not_have() -> None:
    item = AnswerItem("Rome", ("Roma",), 1.5, (Evidence(1, 0, 4),))
    answer = Answer("Q?", "", (), (HIT,), "m", 0.0, False, False, items=(item,), follow_ups=("Why?",), id="q1")
    row = answer.to_json()
    assert next(iter(row)) == "id" and row["id"] == "q1"
    assert (row["answered"], row["complete"], row["follow_ups"]) == (False, False, ["Why?"])
    assert row["items"] == [
        {
            "text": "Rome",
            "aliases": ["Roma"],
            "support": 1.5,
            "evidence": [{"passage": 1, "start": 0, "end": 4}],
        }
    ]


@pytest.mark.parametrize(("record", "field"), [(HIT, "score"), (PASSAGE, "text"), (Evidence(1, 0, 4), "start")])
def test_records_do_not_change(record: object, field: str) -> None:
    with pytest.raises(AttributeError):
        setattr(record, field, 1)
