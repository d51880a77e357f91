"""Sentence splitting: hand-marked cases, the covering property, and linear time on hostile input."""

from __future__ import annotations

import doctest
import runpy
import time
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longform.text import Span, _lines, abbreviations, sentence_spans, sentences, split_sentences

# Loaded by path, so that it is found under every import mode of pytest.
CASES: dict[str, list[str]] = runpy.run_path(str(Path(__file__).with_name("sentence_cases.py")))["CASES"]

PARAMS = [
    pytest.param(marked, id=f"{theme}-{number}")
    for theme, cases in CASES.items()
    for number, marked in enumerate(cases, start=1)
]

# Letters and marks that decide boundaries, so that random text reaches the rules and not only the letters.
PIECES = st.sampled_from(
    [
        *"aAzZ019éÉ.!?…。！\"'“”‘’()[]-–—*•#=:;,/@&$ \t\n\r\u00a0\u2028\u3000\x1c\x85\U0001f600",
        *("\n\n", "...", " . .", "[1]", "U.S.", "p.m.", "Mr.", "etc.", "No.", "J.", "e.g.", "Yahoo!", "1. "),
        *("The ", "said ", "http://", "iPhone ", "word", "Word "),
    ]
)
TEXTS = st.one_of(st.text(), st.lists(PIECES, max_size=60).map("".join))


@pytest.mark.parametrize("marked", PARAMS)
def test_marked_case(marked: str) -> None:
    expected = [piece.strip() for piece in marked.split("¦")]
    assert split_sentences(marked.replace("¦", "")) == expected


def test_there_are_enough_cases_and_none_twice() -> None:
    marked = [case for cases in CASES.values() for case in cases]
    assert len(marked) >= 170
    assert len(set(marked)) == len(marked)


@pytest.mark.parametrize("text", ["", " ", "\n\n\n", "\u3000\u00a0"])
def test_blank_text_has_no_sentences(text: str) -> None:
    assert sentence_spans(text) == []


def test_spans_are_offsets_into_the_text() -> None:
    text = "  One.  Two. "
    assert sentence_spans(text) == [Span(2, 6), Span(8, 12)]


@given(TEXTS)
def test_spans_are_ordered_trimmed_and_cover_everything(text: str) -> None:
    position = 0
    for start, end in sentence_spans(text):
        assert position <= start < end <= len(text)
        assert text[position:start].strip() == ""
        assert text[start:end] == text[start:end].strip()
        position = end
    assert text[position:].strip() == ""


@given(TEXTS)
def test_split_sentences_slices_the_spans(text: str) -> None:
    assert split_sentences(text) == [text[start:end] for start, end in sentence_spans(text)]


@given(TEXTS, TEXTS)
def test_a_blank_line_always_ends_a_sentence(first: str, second: str) -> None:
    middle = len(first)
    for start, end in sentence_spans(f"{first}\n\n{second}"):
        assert end <= middle or start >= middle


MEGABYTE = 1_000_000
HOSTILE = {
    "dots": "." * MEGABYTE,
    "spaced_dots": " ." * (MEGABYTE // 2),
    "marks": "?!" * (MEGABYTE // 2),
    "double_quotes": '"' * MEGABYTE,
    "stop_and_quotes": "a." + '"' * MEGABYTE,
    "quoted_stops": '."' * (MEGABYTE // 2),
    "spaces": " " * MEGABYTE,
    "spaces_between_words": "a" + " " * MEGABYTE + "b",
    "spaces_before_newline": "a" + " " * MEGABYTE + "\nb",
    "newlines": "\n" * MEGABYTE,
    "blank_lines": "\n " * (MEGABYTE // 2),
    "short_lines": "a\n" * (MEGABYTE // 2),
    "no_spaces": "a" * MEGABYTE,
    "no_spaces_but_stops": "ended.The" * (MEGABYTE // 9),
    "no_spaces_but_abbreviations": "e.g." * (MEGABYTE // 4),
    "brackets": "(" * MEGABYTE,
    "stop_and_brackets": "a. " + "(" * MEGABYTE,
    "footnotes": "a." + "[1]" * (MEGABYTE // 3),
    "open_footnotes": "a.[1" * (MEGABYTE // 4),
    "initials": "A. " * (MEGABYTE // 3),
    "list_markers": "1. " * (MEGABYTE // 3),
    "bullets": "- " * (MEGABYTE // 2),
    "lower_case_questions": "a? " * (MEGABYTE // 3),
    "long_lines": ("a" * 10_000 + "\n") * 100,
    "quoted_marks": 'a"b? X" ' * (MEGABYTE // 8),
    "quoted_names": 'a." Xa ' * (MEGABYTE // 7),
    "stop_and_capitals": 'a." ' + "Xa " * (MEGABYTE // 3),
    "ideographic_stops": "。" * MEGABYTE,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_hostile_megabyte_takes_seconds_not_hours(text: str) -> None:
    # Quadratic work on a megabyte takes hours; ten seconds leave room for the slowest machine.
    started = time.process_time()
    sentence_spans(text)
    assert time.process_time() - started < 10


@pytest.mark.parametrize("module", [_lines, abbreviations, sentences], ids=lambda module: module.__name__)
def test_documented_examples_hold(module: ModuleType) -> None:
    results = doctest.testmod(module)
    assert results.attempted > 0
    assert results.failed == 0
