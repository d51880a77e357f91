"""Passages: of whole sentences, of bounded length, and together the document."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longform import Document, Mark
from longform.corpus import DEFAULT_WORDS, cut_passages
from longform.text import sentence_spans

WORDS = st.sampled_from(
    ["one", "Two", "U.S.", "3.5", "end.", "What?", "so,", "(a)", "\n\n", "\n", "«oui»", "茶。", "*"]
)
TEXT = st.one_of(st.text(max_size=300), st.lists(WORDS, max_size=80).map(" ".join))


def cut(text: str, words: int = DEFAULT_WORDS, marks: tuple[Mark, ...] = ()) -> list[str]:
    return [passage.text for passage in cut_passages(Document("d", "T", text, marks), words)]


@given(TEXT, st.integers(1, 12))
@settings(deadline=None)
def test_every_character_is_in_one_passage_at_its_offsets(text: str, words: int) -> None:
    passages = list(cut_passages(Document("d", "T", text), words))
    covered = bytearray(len(text))
    for passage in passages:
        assert passage.text == text[passage.start : passage.end]
        assert passage.text == passage.text.strip()
        assert 1 <= len(passage.text.split()) <= words
        for place in range(passage.start, passage.end):
            assert not covered[place]
            covered[place] = 1
    assert all(covered[place] or text[place].isspace() for place in range(len(text)))
    assert [passage.start for passage in passages] == sorted(passage.start for passage in passages)


@given(TEXT, st.integers(1, 12))
@settings(deadline=None)
def test_a_sentence_is_cut_only_if_it_alone_is_longer(text: str, words: int) -> None:
    passages = list(cut_passages(Document("d", "T", text), words))
    for start, end in sentence_spans(text):
        if len(text[start:end].split()) <= words:
            assert any(passage.start <= start and end <= passage.end for passage in passages), text[start:end]


@given(st.lists(st.integers(1, 9), min_size=1, max_size=20), st.integers(9, 20))
def test_passages_are_as_full_as_sentences_allow(lengths: list[int], words: int) -> None:
    text = " ".join(" ".join(["Word"] * length) + " end." for length in (n - 1 for n in lengths if n > 1))
    counts = [len(passage.split()) for passage in cut(text, words)]
    sentences = [len(text[start:end].split()) for start, end in sentence_spans(text)]
    packed: list[int] = []
    for length in sentences:
        if packed and packed[-1] + length <= words:
            packed[-1] += length
        else:
            packed.append(length)
    assert counts == packed


def test_ids_titles_and_numbers() -> None:
    passages = list(cut_passages(Document("docs/a b.txt", "Title", "One. Two. Three."), 1))
    assert [(passage.id, passage.document, passage.title) for passage in passages] == [
        (f"docs/a b.txt#{number}", "docs/a b.txt", "Title") for number in range(3)
    ]


@pytest.mark.parametrize("text", ["", " ", "\n\t\u3000\n"])
def test_no_text_no_passages(text: str) -> None:
    assert cut(text) == []


def test_a_long_sentence_is_cut_after_a_clause_where_there_is_one() -> None:
    text = "one two three four five, six seven eight nine; ten eleven twelve thirteen"
    assert cut(text, 6) == ["one two three four five,", "six seven eight nine; ten eleven", "twelve thirteen"]
    assert cut("a, b c d e f g h i j", 6) == ["a, b c d e f", "g h i j"]


def test_a_sentence_of_ten_thousand_words() -> None:
    text = " ".join(f"w{number}" for number in range(10_000)) + "."
    passages = cut(text)
    assert [len(passage.split()) for passage in passages] == [100] * 100
    assert " ".join(passages) == text


def test_five_megabytes_on_one_line() -> None:
    text = "Tea is a drink that many people like a lot, and so is milk. " * 85_000
    assert len(text) > 5_000_000
    assert {len(passage.split()) for passage in cut(text)} == {98, 84}


def page(*sections: tuple[str, str]) -> Document:
    """A document of headings and their texts, as the readers make them."""
    text, marks = "", []
    for heading, body in sections:
        marks.append(Mark(len(text), heading))
        text += f"{heading}\n\n{body}\n\n"
    return Document("d", "T", text.strip(), tuple(marks))


def test_a_heading_goes_with_the_text_below_it() -> None:
    document = page(("Early years", "He was born there. He left soon."), ("Later work", "He wrote a long book then."))
    passages = list(cut_passages(document, 11))
    assert [(passage.section, passage.text) for passage in passages] == [
        ("Early years", "Early years\n\nHe was born there. He left soon."),
        ("Later work", "Later work\n\nHe wrote a long book then."),
    ]


def test_two_headings_in_a_row_stay_together() -> None:
    document = page(("Life", "He was born there."), ("Work", ""), ("Books", "He wrote one long book."))
    assert cut(document.text, 8, document.marks) == [
        "Life\n\nHe was born there.",
        "Work\n\n\n\nBooks\n\nHe wrote one long book.",
    ]


def test_a_heading_without_room_below_stays_above() -> None:
    document = page(("Life", "He was born."), ("A heading", "Six words are in this sentence."))
    assert cut(document.text, 6, document.marks) == [
        "Life\n\nHe was born.\n\nA heading",
        "Six words are in this sentence.",
    ]


def test_the_section_is_the_one_in_which_a_passage_begins() -> None:
    text = "Before. Inside it. After it."
    marks = (Mark(8, "Middle"), Mark(19, "End"))
    passages = list(cut_passages(Document("d", "T", text, marks), 2))
    assert [passage.section for passage in passages] == ["", "Middle", "End"]
