"""From an index and a question to an answer."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from answer_cases import FirstName, Overlap

from longform import Document, Index
from longform.answer.extractive import NOT_ANSWERED, ExtractiveAnswerer
from longform.answer.pipeline import MOST_CHARACTERS, Pipeline, checked_question
from longform.errors import InputError
from longform.records import Answer, Hit
from longform.rerank.reranker import CrossEncoderReranker

PAGES = [
    Document("nero", "Nero", "Nero ruled Rome until 68. He was a poor poet."),
    Document("galba", "Galba", "Galba ruled Rome after Nero died in 68."),
    Document("tea", "Tea", "Tea is a hot drink of leaves."),
]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    return Index.create(tmp_path_factory.mktemp("p") / "my.index", PAGES)


@pytest.fixture
def pipeline(index: Index) -> Pipeline:
    return Pipeline(index, ExtractiveAnswerer(Overlap(), FirstName(), always=True), CrossEncoderReranker(Overlap()))


class Counting:
    """A re-ranker that notes what it was given."""

    def __init__(self) -> None:
        self.seen: list[tuple[int, int | None]] = []

    def rerank(self, question: str, hits: Sequence[Hit], k: int | None = None) -> list[Hit]:
        self.seen.append((len(hits), k))
        return list(hits[:k])


def test_an_answer_with_its_stages(pipeline: Pipeline) -> None:
    *pieces, answer = pipeline.stream("Who ruled Rome in 68?", "q1")
    assert isinstance(answer, Answer)
    assert "".join(map(str, pieces)) == answer.text
    assert "Nero ruled Rome until 68 [" in answer.text and "Galba ruled Rome after Nero died in 68 [" in answer.text
    assert list(answer.seconds) == ["search", "rerank", "answer"]
    assert (answer.id, answer.warnings, answer.answered, answer.model) == ("q1", (), True, "extractive")
    again = pipeline.answer("  Who ruled Rome in 68? ", "q1")
    assert (again.text, again.question) == (answer.text, "Who ruled Rome in 68?")


def test_what_was_found_before_is_not_searched_again(pipeline: Pipeline) -> None:
    searched = pipeline.search("Who ruled Rome in 68?")
    *_, answer = pipeline.stream("Who ruled Rome in 68?", "", searched)
    assert isinstance(answer, Answer)
    assert answer.seconds["search"] == searched.seconds["search"]


def test_how_many_passages_each_stage_gets(index: Index) -> None:
    reranker = Counting()
    answerer = ExtractiveAnswerer(Overlap(), passages=2, always=True)
    Pipeline(index, answerer, reranker, pool=1).search("Rome Nero leaves")
    Pipeline(index, answerer, reranker, pool=100).search("Rome Nero leaves")
    assert reranker.seen == [(2, 2), (3, 2)]
    assert len(Pipeline(index, answerer).search("Rome Nero leaves").hits) == 2
    assert list(Pipeline(index, answerer).search("Rome").seconds) == ["search"]


def test_nothing_is_found(pipeline: Pipeline) -> None:
    answer = pipeline.answer("zzz?")
    assert (answer.text, answer.answered, answer.passages) == (NOT_ANSWERED, False, ())


def test_an_index_that_is_empty(tmp_path: Path, pipeline: Pipeline) -> None:
    index = Index.create(tmp_path / "my.index", PAGES[:1])
    index.remove(["nero"])
    assert len(index) == 0
    answer = Pipeline(index, pipeline.answerer, pipeline.reranker).answer("Who ruled Rome?")
    assert (answer.text, answer.answered) == (NOT_ANSWERED, False)


@pytest.mark.parametrize("question", ["", "  ", "\n\t"])
def test_an_empty_question(pipeline: Pipeline, question: str) -> None:
    for ask in (pipeline.search, pipeline.answer):
        with pytest.raises(InputError, match=r"^The question is empty\.$"):
            ask(question)


def test_a_question_that_is_a_document(pipeline: Pipeline) -> None:
    assert checked_question("x" * MOST_CHARACTERS)
    with pytest.raises(InputError) as caught:
        pipeline.answer("x" * 10_001)
    assert str(caught.value) == "The question has 10,001 characters, but at most 10,000 are read: ask shorter."
    assert "Nero ruled Rome" in pipeline.answer("Who ruled Rome? " * 600).text


def test_half_characters_are_replaced(pipeline: Pipeline) -> None:
    answer = pipeline.answer("Who ruled Rome \udcff\x00\x1b[2J?")
    assert answer.question == "Who ruled Rome ?\x00\x1b[2J?"
    assert "Nero ruled Rome" in answer.text


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("Wer war der Kaiser von Rome im Jahr 68?", "German"),
        ("Кто правил в Rome?", "a language written in Cyrillic letters"),
    ],
)
def test_a_question_in_another_language_is_answered_with_a_warning(
    pipeline: Pipeline, question: str, language: str
) -> None:
    answer = pipeline.answer(question)
    assert answer.answered and "Rome" in answer.text
    assert answer.warnings == (f"The question seems to be in {language}; the shipped models know English.",)
