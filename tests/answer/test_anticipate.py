"""Questions that may come next: out of what is there, and answered by it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from longform import Hit, Index, read
from longform.answer.anticipate import follow_ups
from longform.records import Answer, AnswerSentence, Passage
from longform.text import content_tokens


@pytest.fixture(scope="module")
def index(examples: Path, tmp_path_factory: pytest.TempPathFactory) -> Index:
    return Index.create(tmp_path_factory.mktemp("next") / "my.index", read(str(examples / "pages")))


def answer_of(question: str, hits: list[Hit], sentences: int = 1) -> Answer:
    """An answer of the first sentences of the best passages."""
    cited = tuple(
        AnswerSentence(hit.passage.text.split(". ")[0] + ".", (number,), 1.0, True)
        for number, hit in enumerate(hits[:sentences], 1)
    )
    text = " ".join(sentence.text for sentence in cited)
    return Answer(question, text, cited, tuple(hits[:sentences]), "extractive", 1.0)


def from_pages(*pages: tuple[str, str]) -> list[Hit]:
    return [
        Hit(Passage(f"{title}#0", title, title, text, 0, len(text)), rank, 1.0)
        for rank, (title, text) in enumerate(pages, 1)
    ]


def test_a_page_that_the_answer_mentions(index: Index) -> None:
    question = "Who was the last king of France?"
    hits = [hit for hit in index.search(question, 20) if hit.passage.title == "Louis Philippe I"][:1]
    found = follow_ups(answer_of(question, hits), hits, index)
    assert found
    assert not any("Louis Philippe I?" in one for one in found)  # Its own page is what the answer was about.


def test_people_and_things_are_asked_for_as_such() -> None:
    hits = from_pages(
        ("Paris", "Charles X and the July Revolution are remembered there, and Marie Curie is."),
        ("Charles X", "Charles X was a king. He died in exile."),
        ("Marie Curie", "Marie Curie is known for radium. She came from Warsaw."),
        ("July Revolution", "The July Revolution was a rising. It took three days."),
        ("Tea", "Tea is a drink."),
    )
    answer = answer_of("What is remembered in Paris?", hits)
    assert set(follow_ups(answer, hits, most=9)) == {
        "Who was Charles X?",
        "Who is Marie Curie?",
        "What was the July Revolution?",
    }


def test_what_may_be_either_is_asked_for_as_neither() -> None:
    hits = from_pages(("Paris", "Charles X left it."), ("Charles X", "Charles X was a king."))
    assert follow_ups(answer_of("Who left Paris?", hits), hits) == ["What is known about Charles X?"]


def test_a_page_that_does_not_say_what_it_is_about() -> None:
    hits = from_pages(
        ("Paris", "It has the Eiffel Tower (1889)."), ("Eiffel Tower (1889)", "Iron was used for all of it.")
    )
    assert follow_ups(answer_of("What has Paris?", hits), hits) == [
        "What does the collection say about “Eiffel Tower (1889)”?"
    ]


@pytest.mark.parametrize(
    ("section", "question"),
    [
        ("Death", "How did Charles X die?"),
        ("Early life", "What is known about the early life of Charles X?"),
        ("Before the throne", "What does “Charles X” say under “Before the throne”?"),
        ("Louis Philippe", "Who was Louis Philippe?"),
        ("Algiers", "What does “Charles X” say about Algiers?"),
        ("Exile", "What is known about the exile of Charles X?"),
        ("Hunts", "What about the hunts of Charles X?"),
    ],
)
def test_sections_that_were_not_used(section: str, question: str) -> None:
    first = Passage("c#0", "c", "Charles X", "Charles X was a king.", 0, 21, "")
    text = "In exile he spoke of Algiers and his hunts. Louis Philippe followed. He died later."
    second = Passage("c#1", "c", "Charles X", text, 22, 22 + len(text), section)
    hits = [Hit(first, 1, 1.0), Hit(second, 2, 0.5)]
    assert follow_ups(answer_of("Who was it?", hits), hits, most=1) == [question]


def test_what_was_asked_is_not_offered() -> None:
    hits = from_pages(("Paris", "Charles X left it."), ("Charles X", "Charles X was a king. He left France."))
    assert follow_ups(answer_of("Who left Paris?", hits), hits) == ["Who was Charles X?"]
    assert follow_ups(answer_of("Who was Charles X?", hits), hits) == []
    assert follow_ups(answer_of("Who left Paris?", hits), hits, asked=["Who was Charles X?"]) == []


def test_nothing_comes_of_no_answer() -> None:
    hits = from_pages(("Paris", "Charles X left it."), ("Charles X", "Charles X was a king."))
    none = Answer("Who?", "The collection does not answer this question.", (), tuple(hits), "extractive", 0.0, False)
    assert follow_ups(none, hits) == []
    assert follow_ups(answer_of("Who left Paris?", hits), hits, most=0) == []


def test_over_the_examples(index: Index, examples: Path) -> None:
    """Every question offered is new, ends as one, and finds in its search a page that has its words."""
    offered = 0
    for line in (examples / "questions.jsonl").read_text(encoding="utf-8").splitlines():
        question = json.loads(line)["question"]
        hits = index.search(question, 10)
        found = follow_ups(answer_of(question, hits, 4), hits, index)
        offered += len(found)
        assert len(found) <= 3
        assert len({frozenset(content_tokens(one)) for one in (*found, question)}) == len(found) + 1
        for one in found:
            assert one.endswith("?") and one[0].isupper() and "  " not in one
            words = content_tokens(one) - content_tokens(
                "what who does say about under known early life collection else"
            )
            best = [content_tokens(f"{hit.passage.title} {hit.passage.text}") for hit in index.search(one, 5)]
            assert any(words & text for text in best)
    assert offered >= 60  # Of 48 questions.
