"""The words of the control experiment: n-grams, names, numbers and nouns, and their correlation with quality."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longform.audit.correlation import spearman
from longform.audit.drawn import DRAWN, drawn_report, ngram_overlap, others_passages, telling_overlap
from longform.audit.telling import stems_of, telling_words, tokens_of
from longform.data import Example

# Sentences of examples/pages with their nouns, names and numbers, as a person tags them: a nation's adjective
# ("the Soviet probe") is none.
TAGGED = {
    "Charles X was King of France from September 1824 until August 1830.": (
        "charles x king france september 1824 august 1830"
    ),
    "He was the last French ruler from the senior branch of the House of Bourbon.": "ruler branch house bourbon",
    "Mauna Kea is a dormant volcano on the island of Hawaii and the highest point of the state of Hawaii.": (
        "mauna kea volcano island hawaii point state hawaii"
    ),
    "It rises about 4,207 metres above sea level.": "4 207 metres sea level",
    "In the Hawaiian language the name is often explained as white mountain, after the snow of winter.": (
        "language name mountain snow winter"
    ),
    "The summit is a sacred place in Hawaiian tradition.": "summit place tradition",
    "Denham sails with a crew to Skull Island, where Kong carries off Ann.": "denham crew skull island kong ann",
    "The ape is captured, shipped to New York and shown to the public, but breaks free.": "ape new york public",
    "At the end of the 1933 film Kong climbs the Empire State Building and is shot down by aeroplanes.": (
        "end 1933 film kong empire state building aeroplanes"
    ),
    "The tower was then less than two years old.": "tower two years",
    "Joseph Swan demonstrated a working incandescent lamp in England, at Newcastle upon Tyne, in early 1879.": (
        "joseph swan lamp england newcastle tyne 1879"
    ),
    "The house of Cragside in Northumberland was lit by his lamps in 1880.": (
        "house cragside northumberland lamps 1880"
    ),
    "The Soviet probe Luna 2 became the first object made by people to reach the surface of the Moon in September "
    "1959, when it struck it at high speed.": "probe luna 2 object people surface moon september 1959 speed",
    "The Soviet Union made the first soft landing on the Moon with Luna 9 on 3 February 1966.": (
        "soviet union landing moon luna 9 3 february 1966"
    ),
    "Lakes can be ranked by surface, by volume or by depth.": "lakes surface volume depth",
    "The order also depends on whether salt lakes are counted.": "order salt lakes",
    "Lake Victoria, shared by Tanzania, Uganda and Kenya, is the largest lake in Africa by surface.": (
        "lake victoria tanzania uganda kenya lake africa surface"
    ),
    "Vladimir Lenin headed the new Soviet government as chairman of the Council of People's Commissars from November "
    "1917.": "vladimir lenin government chairman council people commissars november 1917",
    "The new government quickly issued decrees on peace and on land.": "government decrees peace land",
    "A civil war between the Bolsheviks and their opponents followed and lasted for several years.": (
        "war bolsheviks opponents years"
    ),
    "Helen Sharman, a chemist, became the first British person in space in May 1991, when she visited the Soviet "
    "station Mir.": "helen sharman chemist person space may 1991 station mir",
}


def test_nouns_by_rules_are_close_to_nouns_by_a_person() -> None:
    found = wanted = both = 0
    for sentence, tagged in TAGGED.items():
        mine, theirs = telling_words(sentence), tagged.split()
        found, wanted = found + len(mine), wanted + len(theirs)
        both += sum(min(mine.count(word), theirs.count(word)) for word in set(theirs))
    # docs/audits/control.md gives these figures.
    assert both / found == pytest.approx(0.874, abs=0.0005)
    assert both / wanted == pytest.approx(0.992, abs=0.0005)


def test_a_text_without_capitals_still_tells() -> None:
    assert telling_words("ringo played the drums in rome") == ["ringo", "drums", "rome"]
    assert telling_words("") == []
    assert telling_words("It is what it was.") == []


def test_ngrams_stay_within_a_passage() -> None:
    assert ngram_overlap("red tea", ["red", "tea"], 1) == 1.0
    assert ngram_overlap("red tea", ["red", "tea"], 2) == 0.0
    assert ngram_overlap("Red, tea!", ["A red tea."], 2) == 1.0
    assert ngram_overlap("", ["red"], 1) == 0.0
    assert ngram_overlap("red", [], 1) == 0.0


def test_repeated_words_count_as_often_as_they_stand() -> None:
    assert ngram_overlap("tea tea tea milk", ["tea"], 1) == 0.75


def test_what_stands_in_the_question_is_not_drawn_from_passages() -> None:
    # Of Ringo, drums, band: Ringo is asked for, drums are there in another form, the band is nowhere.
    drawn, asked = telling_overlap("Ringo had drums and a band.", ["Ringo is a drum."], "Who was Ringo?")
    assert (drawn, asked) == (1 / 3, 1 / 3)


@given(st.text(max_size=60), st.lists(st.text(max_size=60), max_size=3), st.text(max_size=30))
def test_shares_are_shares(text: str, passages: list[str], question: str) -> None:
    for n in (1, 2):
        assert 0.0 <= ngram_overlap(text, passages, n) <= 1.0
    drawn, asked = telling_overlap(text, passages, question)
    assert 0.0 <= drawn <= 1.0
    assert 0.0 <= asked <= 1.0
    assert drawn + asked <= 1.0 + 1e-9


@given(st.text(max_size=80), st.integers(1, 3))
def test_a_text_holds_itself(text: str, n: int) -> None:
    assert ngram_overlap(text, [text], n) == (1.0 if len(tokens_of(text)) >= n else 0.0)


@given(st.text(max_size=80))
def test_telling_words_are_words_of_the_text(text: str) -> None:
    assert set(telling_words(text)) <= set(tokens_of(text)) or not text.isascii()
    assert len(stems_of(text)) <= len(tokens_of(text))


def test_several_answers_have_the_mean() -> None:
    report = drawn_report([Example("a", "Who?")], {"a": ["red", "blue"]}, {"a": ["red"]})
    assert report.scores["1-gram"] == 50.0
    assert set(report.scores) == set(DRAWN)


def test_passages_of_others_are_never_ones_own() -> None:
    def row(*names: str) -> dict[str, object]:
        return {"passages": [{"id": name, "title": "", "text": name} for name in names]}

    rows = {"1": row("a", "b"), "2": row("b", "c"), "3": row("d", "e")}
    found = others_passages(rows)
    assert set(found["1"]) <= {"c", "d", "e"}
    assert all(len(texts) == 2 for texts in found.values())
    assert others_passages(rows) == found
    assert others_passages({"3": rows["3"]})["3"] == []
    assert [others_passages(rows, seed) for seed in range(5)].count(found) < 5


def test_spearman_is_the_correlation_of_mean_ranks() -> None:
    generator = np.random.default_rng(0)
    for _ in range(20):
        first = generator.integers(0, 5, 30).astype(float)
        second = first + generator.integers(0, 6, 30)
        found = spearman(first, second, resamples=200)
        assert found is not None
        # By definition, with the ranks counted one by one.
        ranks = [[(np.sum(side < one) + np.sum(side <= one) + 1) / 2 for one in side] for side in (first, second)]
        assert found.value == pytest.approx(np.corrcoef(*ranks)[0, 1])
        assert -1 <= found.low <= found.value <= found.high <= 1


def test_spearman_says_where_there_is_none() -> None:
    assert spearman(np.ones(5), np.arange(5.0)) is None
    assert spearman(np.array([1.0]), np.array([2.0])) is None
    perfect = spearman(np.arange(9.0), np.arange(9.0) ** 3, resamples=100)
    assert perfect is not None
    assert perfect.value == pytest.approx(1.0)
