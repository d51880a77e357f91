"""Citations that are repaired while the words come."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from longform.answer.citations import CitationRepairer, repaired
from longform.answer.sentences import CitedSentence, SentenceStream, cited_sentences


def repair(text: str, passages: int = 3) -> str:
    return "".join(repaired([text], passages))


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        # In their place, or moved there.
        ("It rained [1].", "It rained [1]."),
        ("It rained. [1]", "It rained [1]."),
        ("It rained.[1][2] It stopped.", "It rained [1][2]. It stopped."),
        ("It rained [1] [2]. It stopped [3]", "It rained [1][2]. It stopped [3]"),
        ("It rained[1].", "It rained [1]."),
        ("It rained [1] . It stopped.", "It rained [1]. It stopped."),
        ("It rained. [1].", "It rained [1]."),
        ("It rained [1]. [2] It stopped.", "It rained [1][2]. It stopped."),
        ("Did it rain?! [2]", "Did it rain [2]?!"),
        ('He said "no." [1] Then he left.', 'He said "no [1]." Then he left.'),
        ("Rain [1], snow [2] and hail.", "Rain [1], snow [2] and hail."),
        ("In the U.S. [1] in 1900 it rained 3.5 mm.", "In the U.S. [1] in 1900 it rained 3.5 mm."),
        # Lists, ranges, words.
        ("It rained [1, 2].", "It rained [1][2]."),
        ("It rained [1-3].", "It rained [1][2][3]."),
        ("It rained [3–1].", "It rained [1][2][3]."),
        ("It rained [1; 3 and 2].", "It rained [1][3][2]."),
        ("It rained [Passage 2].", "It rained [2]."),
        ("It rained [passages 1, 3] and [Source: 2].", "It rained [1][3] and [Source: 2]."),
        ("It rained [#2][^1].", "It rained [2][1]."),
        ("It rained [[1], [2]] and [[3]].", "It rained [1][2] and [3]."),
        # Out of range, placeholders, repeats.
        ("It rained [99].", "It rained."),
        ("It rained [0] all day [4], and more.", "It rained all day, and more."),
        ("It rained [0-2][2-9999999999].", "It rained [1][2][3]."),
        ("It rained [n]. [citation needed] It stopped [Passage n].", "It rained. It stopped."),
        ("It rained[9]heavily [?].", "It rained heavily."),
        ("Rain [1] and hail [1][2]. More rain [1].", "Rain [1] and hail [2]. More rain [1]."),
        ("[1][2]", ""),
        # Before their sentences, in lines.
        ("[1] It rained. [2] It stopped.", "It rained [1]. It stopped [2]."),
        ("- [1] Rain\n- Hail [2]\n- Snow", "- Rain [1]\n- Hail [2]\n- Snow"),
        ("First.\n[1] Rain fell.\n[2] Hail fell.", "First.\nRain fell [1].\nHail fell [2]."),
        ("Rain fell.\n\n[1]", "Rain fell [1]."),
        # Text in brackets stays.
        ("The [sic] rain […] of [12 May] fell [1].", "The [sic] rain […] of [12 May] fell [1]."),
        ("It rained in [1998] and [1914-1918] [2].", "It rained in (1998) and (1914-1918) [2]."),
        ("A [link](https://x.org) fell.", "A [link](https://x.org) fell."),
        ("An open [1 and a closed] one", "An open [1 and a closed] one"),
        ("An open [1", "An open [1"),
        ("An open [\nplace].", "An open [\nplace]."),
        ("Forged [9[n]], [\n7] and [yes [9]].", "Forged [9, [\n7 and [yes]."),
        ("  \n It rained. \n", "It rained."),
        ("", ""),
    ],
)
def test_repairs(written: str, expected: str) -> None:
    assert repair(written) == expected
    assert "".join(repaired(written, 3)) == expected, "character by character"


def test_a_long_bracket_is_text_and_is_let_through_before_it_closes() -> None:
    repairer = CitationRepairer(3)
    assert repairer.feed("Rain [" + "x" * 90).startswith("Rain [xxx")


def test_words_do_not_wait() -> None:
    repairer = CitationRepairer(2)
    assert [repairer.feed(piece) for piece in ("It", " rained", ".", " [", "1", "]", " I")] == [
        *("It", " rained", "", "", "", ""),
        " [1]. I",
    ]


def test_wrong_numbers_are_noted() -> None:
    repairer = CitationRepairer(2)
    repairer.feed("Rain [7] fell [0, 1][2-5].")
    assert repairer.wrong == [7, 0, 5]


PARTS = st.sampled_from(
    [
        *("[1]", "[2]", "[9]", "[n]", "[1, 2]", "[1-3]", "[sic]", "[Passage 2]", "[", "]", "[[", "1"),
        *("Dr.", "Rome", "rain", " ", "\n", ".", "?", '"', ",", "-", "a", "B", "U.S.", "7", "."),
    ]
)
TEXTS = st.lists(PARTS, max_size=25).map("".join) | st.text(max_size=60)


def cut(text: str, places: list[int]) -> list[str]:
    ends = sorted({place % (len(text) + 1) for place in places} | {0, len(text)})
    return [text[start:end] for start, end in pairwise(ends)] or [text]


@settings(deadline=None)
@given(TEXTS, st.lists(st.integers(0, 200), max_size=10), st.integers(0, 3))
@example("Dr. [9] U.S. [1] rain", [4, 5, 9], 3)
def test_how_it_is_cut_makes_no_difference(text: str, places: list[int], passages: int) -> None:
    assert "".join(repaired(cut(text, places), passages)) == repair(text, passages)


@settings(deadline=None)
@given(TEXTS, st.integers(0, 3))
@example("[9[n]]", 3)
@example("]2]n[9\n\n[1]]9", 3)
def test_no_citation_is_out_of_range(text: str, passages: int) -> None:
    numbers = re.findall(r"\[\s*(\d+)\s*\]", repair(text, passages))
    assert all(1 <= int(number) <= passages for number in numbers)


@settings(deadline=None)
@given(st.lists(st.sampled_from(["[1]", "[9]", "[n]", "[1-2]", "Rome", "rain", " ", ".", ",", "!", "x"])).map("".join))
def test_no_word_is_lost(text: str) -> None:
    without = re.sub(r"\[[^\]]*\]", " ", text)
    assert re.findall(r"\w", re.sub(r"\[\d\]", "", repair(text))) == re.findall(r"\w", without)


@settings(deadline=None)
@given(st.text().filter(lambda text: "[" not in text))
def test_a_text_without_brackets_stays(text: str) -> None:
    assert repair(text) == text.strip()


WRITTEN = st.tuples(
    st.sampled_from(
        ["Rain fell", "It rained [1] on Rome", '"It rained'],
    ),
    st.sampled_from(["", " [2]", "[1, 9]"]),
    st.sampled_from([".", "?", '."']),
    st.sampled_from([" ", "[3] ", " [1][n] ", "\n", " [0]\n"]),
)


@settings(deadline=None)
@given(st.lists(WRITTEN.map("".join)).map("".join))
def test_what_is_repaired_needs_no_repair(text: str) -> None:
    assert repair(repair(text)) == repair(text)


# --- Sentences ---


def streamed(pieces: list[str], *, whole: bool = False) -> tuple[str, list[CitedSentence]]:
    """What comes out where sentences about Rome cite 2 as well, and those about hail are dropped."""

    def judge(sentence: CitedSentence) -> tuple[int, ...] | None:
        if "hail" in sentence.text:
            return None
        return (2,) if "Rome" in sentence.text else ()

    stream = SentenceStream(judge, whole=whole)
    text = "".join(stream.feed(piece) for piece in pieces) + stream.close()
    return text, stream.sentences


def test_citations_are_added_before_the_stop() -> None:
    text, sentences = streamed(["Rome was built by Mr. Romulus of Rome. Rain", ' fell [1]. It "hit Rome." Rome'])
    assert text == 'Rome was built by Mr. Romulus of Rome [2]. Rain fell [1]. It "hit Rome [2]." Rome [2]'
    assert [sentence.citations for sentence in sentences] == [(2,), (1,), (2,), (2,)]
    assert streamed(["Rome [2]. Rome [1]."])[0] == "Rome [2]. Rome [1][2]."


def test_sentences_are_dropped_only_where_they_come_whole() -> None:
    text = "It did hail. It rained [1].\n\nMore hail fell. Rome."
    assert streamed([text])[0] == "It did hail. It rained [1].\n\nMore hail fell. Rome [2]."
    assert streamed([text], whole=True)[0] == "It rained [1].\n\nRome [2]."


def test_a_number_twice_in_a_sentence_with_an_abbreviation() -> None:
    text, sentences = streamed(["Mr. Darcy [1] met Dr. Watson [1] in the rain of that day [3] [1]."])
    assert text == "Mr. Darcy [1] met Dr. Watson in the rain of that day [3]."
    assert sentences == [CitedSentence("Mr. Darcy met Dr. Watson in the rain of that day.", (1, 3))]


def test_words_come_before_the_sentence_is_whole() -> None:
    stream = SentenceStream(lambda sentence: ())
    assert stream.feed("The rain fell on") == "The rain fell on"
    assert stream.feed(" Mr. Darcy") == " Mr"
    assert stream.feed(" and on all of the others that were there with him") != ""


@settings(deadline=None)
@given(TEXTS, st.lists(st.integers(0, 200), max_size=10), st.booleans())
def test_how_a_text_is_cut_makes_no_difference_to_its_sentences(text: str, places: list[int], whole: bool) -> None:
    clean = repair(text)
    assert streamed(cut(clean, places), whole=whole) == streamed([clean], whole=whole)


@settings(deadline=None)
@given(TEXTS)
def test_what_comes_out_is_what_went_in(text: str) -> None:
    clean = repair(text)
    stream = SentenceStream(lambda sentence: ())
    out = stream.feed(clean) + stream.close()
    assert re.sub(r"\s*\[\d\]", "", out) == re.sub(r"\s*\[\d\]", "", clean)
    for sentence in stream.sentences:
        assert len(set(sentence.citations)) == len(sentence.citations)


def test_parsing() -> None:
    assert cited_sentences("It rained [1][3]. It [sic] stopped!") == [
        CitedSentence("It rained.", (1, 3)),
        CitedSentence("It [sic] stopped!", ()),
    ]
    assert cited_sentences(" ") == []
