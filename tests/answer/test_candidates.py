"""The sentences that an answer may be made of."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from answer_cases import hit_of, hits, patient
from hypothesis import given
from hypothesis import strategies as st

from longform.answer.candidates import LEAST_WORDS, MOST_WORDS, Candidate, candidates_of, trimmed
from longform.records import Hit
from longform.text import content_tokens

NOTE = re.compile(r"\[\s*(?:[a-z ]*\d[\d,; –-]*|[a-z]|[a-z]+ needed|who\?|when\?)\s*\]")


def squeezed(text: str) -> str:
    """Without white space and notes, in small letters."""
    return "".join(NOTE.sub("", " ".join(text.split())).split()).casefold()


def found(text: str, title: str = "") -> list[str]:
    return [one.text for one in candidates_of([hit_of(text, title)])]


@patient
@given(hits())
def test_a_candidate_is_what_stands_at_its_place(given_hits: list[Hit]) -> None:
    candidates = candidates_of(given_hits)
    for one in candidates:
        passage = given_hits[one.hit].passage
        assert 0 <= one.start < one.end <= len(passage.text)
        assert squeezed(one.text) == squeezed(passage.text[one.start : one.end])
        assert content_tokens(one.text) <= content_tokens(f"{passage.title} {passage.text}")
        assert LEAST_WORDS <= one.words <= MOST_WORDS
        assert one.text == " ".join(one.text.split())
    assert len({one.text.casefold() for one in candidates}) == len(candidates)
    places = [(one.hit, one.place) for one in candidates]
    assert places == sorted(set(places))
    # What lies within candidates never overlaps: no word is said twice.
    for first, second in pairwise(candidates):
        assert first.hit != second.hit or first.end <= second.start


@patient
@given(hits())
def test_no_candidate_holds_what_reads_as_a_citation(given_hits: list[Hit]) -> None:
    assert not any(re.search(r"\[\s*\d+\s*\]", one.text) for one in candidates_of(given_hits))


@pytest.mark.parametrize("gap", ["\n", "\n\n", "\r\n\r\n"])
@pytest.mark.parametrize(
    "heading", ["Early life", "Who was king in August 1830", "In film and on television", "Kings:"]
)
def test_headings_are_no_sentences(heading: str, gap: str) -> None:
    text = f"Charles X was king.{gap}{heading}{gap}He was born at Versailles."
    candidates = candidates_of([hit_of(text)])
    assert [(one.text, one.place, one.heads) for one in candidates] == [
        ("Charles X was king.", 0, False),
        ("He was born at Versailles.", 1, True),
    ]


def test_a_heading_at_the_beginning_takes_no_place() -> None:
    (one,) = candidates_of([hit_of("Reign and later years\n\nHe came to the throne in 1824.")])
    assert (one.place, one.heads, one.leans) == (0, True, True)


def test_items_of_a_list_lose_their_marks() -> None:
    text = "Steps to take now:\n\n- Press the red button\n- Wait for the light\n\n1. Turn it all off"
    assert found(text) == ["Press the red button", "Wait for the light", "Turn it all off"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("However, he left the town.", "He left the town."),
        ("But he left the town.", "He left the town."),
        ("In addition, trains run there daily.", "Trains run there daily."),
        ("Andes are mountains in America.", "Andes are mountains in America."),
        ("It ended in May 1945.[1]", "It ended in May 1945."),
        ("It ended[2] in May [3, 4] 1945 [citation needed].", "It ended in May 1945."),
        ("The king [sic] left the town.", "The king [sic] left the town."),
    ],
)
def test_what_is_left_out(text: str, expected: str) -> None:
    assert found(text) == [expected]


def test_the_title_before_a_sentence_is_left_out() -> None:
    assert found("Rome Rome is an old town.", "Rome") == ["Rome is an old town."]
    assert found("Rome Street is an old street.", "Rome") == ["Rome Street is an old street."]


@pytest.mark.parametrize(
    ("text", "leans"),
    [
        ("He was the last king.", True),
        ("This was the last king.", True),
        ("The latter was the last king.", True),
        ("In September 1917 he proclaimed a republic.", True),
        ("When he died, Louis became king.", True),
        ("However, it was never built there.", True),
        ("In Rome he was proclaimed emperor.", False),
        ("After Nero died he became emperor.", False),
        ("Henry was the last king.", False),
        ("Thessaly is a region of Greece.", False),
    ],
)
def test_what_leans(text: str, leans: bool) -> None:
    assert [one.leans for one in candidates_of([hit_of(text)])] == [leans]


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("Tea is a hot drink.", True),
        ('He said "it is a hot drink."', True),
        ("Tea is a hot drink that", False),
        ("is a hot drink of leaves.", False),
        ("茶 是 一种 热饮。", True),
    ],
)
def test_what_is_whole(text: str, whole: bool) -> None:
    assert [one.whole for one in candidates_of([hit_of(text)])] == [whole]


def test_what_has_no_sentence() -> None:
    assert candidates_of([]) == []
    assert candidates_of([hit_of(text) for text in ("", " \n ", "Tea.", "\x00\x1b", "| a | b |\n| c | d |")]) == []
    assert found("word " * (MOST_WORDS + 1)) == []
    assert len(found("word " * MOST_WORDS)) == 1
    assert found("Kings: name | born | died | house | in all.") == []
    assert found("罗马帝国的皇帝是谁？") == ["罗马帝国的皇帝是谁？"]


def test_a_sentence_that_repeats_is_taken_once() -> None:
    one, two = candidates_of([hit_of("Tea is a drink."), hit_of("TEA is a drink. Milk is another one.")])
    assert (one.hit, two.hit, two.text, two.place) == (0, 1, "Milk is another one.", 1)


def of(text: str) -> Candidate:
    return Candidate(0, 0, 0, len(text), text)


CLAUSES = [
    "the king of the northern lands left his town",
    "he took (with his men",
    "a few) and went",
    'she said "no',
    'never" to him',
    "[a note",
    "of it]",
    "“the best",
    "of all” they said",
    "which was old",
    "Paris",
]


@patient
@given(
    st.lists(st.tuples(st.sampled_from(CLAUSES), st.sampled_from([", and ", ", which ", "; ", " – ", ", ", " "])))
    .map(lambda parts: "".join(text + gap for text, gap in parts).strip())
    .filter(bool),
    st.integers(1, 60),
)
def test_what_is_trimmed_is_a_beginning_and_leaves_nothing_open(text: str, words: int) -> None:
    candidate = of(f"{text}.")
    short = trimmed(candidate, words)
    if short is None or short == candidate:
        assert (short is None) == (candidate.words > words)
        return
    assert 8 <= short.words <= words
    assert candidate.text.startswith(short.text[:-1])
    assert short.whole and (short.start, short.end) == (candidate.start, candidate.end)
    for opens, closes in ("()", "[]", "“”"):
        assert short.text.count(opens) == short.text.count(closes)
    assert short.text.count('"') % 2 == 0


@pytest.mark.parametrize(
    "text",
    [
        # An aside in the middle: what precedes it is no sentence.
        "The old king of the lands to the north, who was very ill at that time, died in his bed in May.",
        "The old king of the lands to the north – a very ill man at that time – died in his bed in May.",
        # The end of a list.
        "He went to see the towns of the land: Rome, Paris, Bonn, and Prague in a single year of his long life.",
        "He went with all of his men (and there were many, and more came, and more) to the town in the north.",
    ],
)
def test_a_sentence_that_has_no_end_within_is_not_trimmed(text: str) -> None:
    assert trimmed(of(text), 12) is None


def test_the_longest_clause_that_fits_stays() -> None:
    text = "The king left his old town in the north; he took his men, and he went to the coast, which was far away."
    assert [short.text if (short := trimmed(of(text), words)) else None for words in (7, 9, 13, 19, 99)] == [
        None,
        "The king left his old town in the north.",
        "The king left his old town in the north; he took his men.",
        "The king left his old town in the north; he took his men, and he went to the coast.",
        text,
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("execution of Victor Feguer. Iowa ended it in 1965.", ["Iowa ended it in 1965."]),
        ("Division from 1969 to 1993, and 1994. The Astros won in 2017.", ["The Astros won in 2017."]),
        ("The Astros won in 2017. At the end of the season,", ["The Astros won in 2017."]),
        ("The Astros won in 2017. In the end Altuve was named the best,", None),
        ("Wait for the green light.", None),
        ("Dreh den Schalter nach rechts.", None),
    ],
)
def test_what_a_cut_left_over_is_no_sentence(text: str, expected: list[str] | None) -> None:
    assert " ".join(found(text)) == (text if expected is None else " ".join(expected))


def test_a_table_that_lost_its_lines_is_no_sentence() -> None:
    assert found("The cast changed twice. Actor Role " + "Tom Kenny SpongeBob Clancy Brown Mr. Krabs " * 5) == [
        "The cast changed twice."
    ]


def test_a_time_that_counts_from_another_leans() -> None:
    text = "Nero came in May. Galba left the next day. Otho left in 69 and came two years later. Then that year ended."
    assert [one.leans for one in candidates_of([hit_of(text)])] == [False, True, True, True]


def test_a_page_that_begins_with_its_title_and_the_whole_name() -> None:
    text = "Jimmy Greaves James Peter Greaves (born 1940) is a footballer."
    assert found(text, "Jimmy Greaves") == ["James Peter Greaves (born 1940) is a footballer."]
    assert found("Rome Street is in the town of Rome.", "Rome") == ["Rome Street is in the town of Rome."]
