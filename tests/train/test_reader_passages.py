"""Learning to read from questions and short answers alone, over the passages of an index."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from longform import Document, Index, InputError
from longform.corpus.training_questions import TrainingQuestion
from longform.train.reader import train_reader
from longform.train.reader_passages import passages_to_read


@pytest.fixture
def index(tmp_path: Path) -> Index:
    pages = [
        Document("d1", "Rivers of Europe", "The Danube and the Volga are rivers of Europe."),
        Document("d2", "Volga", "It is the longest of the rivers of Europe."),
        Document("d3", "Europe", "Europe has many rivers and lakes."),
        Document("d4", "Ships", "The river ships of the U.S.S.R. came from Europe."),
    ]
    return Index.create(tmp_path / "my.index", pages)


def test_the_passage_with_the_most_answers_is_read_and_one_without_any(index: Index) -> None:
    question = TrainingQuestion("q", "Which rivers of Europe are long?", (), (("Volga", "Wolga"), ("Danube",)))
    found = passages_to_read(index, [question])
    with_answers, without = found.examples
    assert found.skipped == 0
    assert [span.text for span in with_answers.answers] == ["Volga", "Danube"]
    for span in with_answers.answers:
        assert with_answers.context[span.start :].startswith(span.text)
    # The page "Volga" has the answer in its title, which the reader reads too.
    assert without.answers == ()
    assert "Volga" not in without.context


def test_an_answer_that_is_spelt_otherwise_is_no_passage_without_it(index: Index) -> None:
    question = TrainingQuestion("q", "Which ships came from Europe?", (), (("USSR", "river ships"),))
    drawn = {
        example.context
        for seed in range(20)
        for example in passages_to_read(index, [question], seed=seed).examples
        if not example.answers
    }
    assert drawn
    assert not any("U.S.S.R." in context for context in drawn)


def test_questions_without_a_passage_that_answers_are_left_out(index: Index) -> None:
    questions = [TrainingQuestion("a", "Which rivers?", (), (("Nile",),)), TrainingQuestion("b", "Which rivers?")]
    assert passages_to_read(index, questions) == ([], 2)
    index.remove(["d1", "d2", "d3", "d4"])
    assert passages_to_read(index, questions) == ([], 2)


def test_the_draw_depends_on_the_seed_and_the_question_alone(index: Index) -> None:
    questions = [TrainingQuestion(str(n), "Which rivers of Europe?", (), (("Danube",),)) for n in range(8)]
    forward, backward = passages_to_read(index, questions), passages_to_read(index, questions[::-1])
    assert sorted(forward.examples) == sorted(backward.examples)
    assert len({example.context for example in forward.examples if not example.answers}) > 1


def test_questions_and_index_go_together(tmp_path: Path, index: Index) -> None:
    pytest.importorskip("torch")
    file = tmp_path / "qa.jsonl"
    file.write_text(json.dumps({"question": "Which rivers?", "short_answers": [["Danube"]]}))
    for asked, where in (([file], None), ([], index)):
        with pytest.raises(InputError, match="go together"):
            train_reader(["squad.json"], tmp_path / "out", asked=asked, index=where)
