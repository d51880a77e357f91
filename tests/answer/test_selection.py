"""Which sentences an answer is made of, and in which order."""

from __future__ import annotations

import pytest
from answer_cases import hit_of, hits, patient
from hypothesis import given
from hypothesis import strategies as st

from longform.answer.candidates import Candidate, candidates_of
from longform.answer.relevance import Found
from longform.answer.selection import SelectionSettings, reading_order, select_sentences
from longform.records import Hit


def texts(candidates: list[Candidate]) -> list[str]:
    return [one.text for one in candidates]


@patient
@given(hits(), st.integers(1, 120), st.data())
def test_the_length_is_near_what_was_asked_for(given_hits: list[Hit], words: int, data: st.DataObject) -> None:
    candidates = candidates_of(given_hits)
    scores = [data.draw(st.floats(-1, 1)) for _ in candidates]
    chosen = select_sentences(candidates, scores, words, (), None, given_hits)
    assert bool(chosen) == bool(candidates)
    assert len({(one.hit, one.place) for one in chosen}) == len(chosen)
    longest = max((one.words for one in chosen), default=0)
    assert sum(one.words for one in chosen) <= max(1.25 * words, longest)
    ordered = reading_order(chosen, given_hits)
    assert sorted(ordered) == sorted(chosen)
    # Pages and passages are not torn apart.
    pages = [given_hits[one.hit].passage.title or given_hits[one.hit].passage.document for one in ordered]
    assert len([page for place, page in enumerate(pages) if place == 0 or pages[place - 1] != page]) == len(set(pages))
    for number in {one.hit for one in ordered}:
        places = [one.place for one in ordered if one.hit == number]
        assert places == sorted(places)


def test_what_repeats_is_not_said_again() -> None:
    candidates = candidates_of([hit_of("Nero ruled in Rome. In Rome ruled Nero. Galba came from Spain.")])
    assert texts(select_sentences(candidates, [0.9, 0.8, 0.1], 50)) == ["Nero ruled in Rome.", "Galba came from Spain."]


def test_a_new_answer_counts() -> None:
    candidates = candidates_of([hit_of("Nero ruled in Rome. Nero ruled for years. Galba ruled in Spain.")])
    found = [Found(0, "Nero", 0.9, 0, 4, "nero"), Found(0, "Galba", 0.9, 40, 45, "galba")]
    assert texts(select_sentences(candidates, [0.5, 0.4, 0.35], 8, found)) == [
        "Nero ruled in Rome.",
        "Galba ruled in Spain.",
    ]
    settings = SelectionSettings(answers=0.0, repeats=0.0)
    assert texts(select_sentences(candidates, [0.5, 0.4, 0.35], 8, found, settings))[1] == "Nero ruled for years."


def test_what_is_off_the_point_is_left_out() -> None:
    candidates = candidates_of([hit_of("Nero ruled in Rome. Galba came from Spain. Tea is old now.")])
    scores = [0.5, 0.45, 0.2]
    assert len(select_sentences(candidates, scores, 13)) == 2
    assert len(select_sentences(candidates, scores, 13, settings=SelectionSettings(falls=0.5))) == 3
    # That one sentence is better than all others does not end it.
    assert len(select_sentences(candidates, [0.6, 0.45, 0.45], 13)) == 3
    # Most of the words come first.
    assert len(select_sentences(candidates, scores, 40)) == 3


LEANING = "Galba was a governor in Spain. He marched on Rome with his men. Otho was a friend of Nero."


def test_a_sentence_that_leans_brings_along_what_it_leans_on() -> None:
    candidates = candidates_of([hit_of(LEANING)])
    chosen = select_sentences(candidates, [0.0, 0.9, 0.1], 14)
    assert texts(chosen) == ["Galba was a governor in Spain.", "He marched on Rome with his men."]


def test_where_there_is_no_room_for_both_another_is_preferred() -> None:
    candidates = candidates_of([hit_of(LEANING)])
    assert texts(select_sentences(candidates, [0.0, 0.2, 0.1], 7)) == ["Otho was a friend of Nero."]
    # But not one that has nothing to say.
    assert texts(select_sentences(candidates, [0.0, 0.9, 0.1], 7)) == ["He marched on Rome with his men."]


def test_what_leans_on_nothing_is_better_than_nothing() -> None:
    candidates = candidates_of([hit_of("He marched on Rome with his men.")])
    assert texts(select_sentences(candidates, [0.5], 20)) == ["He marched on Rome with his men."]


def test_no_sentence_dangles_while_others_are_left() -> None:
    text = "He was old. " + " ".join(f"Emperor {name} ruled in Rome." for name in "ABCDEFGH")
    candidates = candidates_of([hit_of(text.replace("He was old.", "He was very old then."))])
    chosen = select_sentences(candidates, [0.15] + [0.1] * 8, 30, (), SelectionSettings(most_repeated=1.0))
    assert len(chosen) > 3 and not any(one.leans for one in chosen)


def test_what_was_passed_over_comes_once_its_support_is_there() -> None:
    candidates = candidates_of([hit_of(LEANING)])
    # No room for both at first (8 words), then the support is chosen for itself.
    chosen = select_sentences(candidates, [0.3, 0.4, 0.0], 12, (), SelectionSettings(dangles=0.3))
    assert texts(chosen) == ["Galba was a governor in Spain.", "He marched on Rome with his men."]


def test_a_long_sentence_is_trimmed() -> None:
    long = "Galba marched on Rome with all of his men, and he took it in the summer of the year after the fire."
    candidates = candidates_of([hit_of(f"Nero ruled in Rome. {long}")])
    assert texts(select_sentences(candidates, [0.9, 0.5], 14)) == [
        "Nero ruled in Rome.",
        "Galba marched on Rome with all of his men.",
    ]
    # The first is taken even where no part of it fits.
    assert texts(select_sentences(candidates[1:], [0.5], 3)) == [long]


def test_pages_come_in_the_order_of_their_best_sentence() -> None:
    given_hits = [
        hit_of("Nero ruled in Rome.", "Nero", "n", 500),
        hit_of("Galba ruled in Spain.", "Galba", "g"),
        hit_of("Nero was a poet.", "Nero", "n", 0),
    ]
    chosen = [Candidate(number, 0, 0, 9, hit.passage.text) for number, hit in enumerate(given_hits)]
    assert texts(reading_order(chosen, given_hits)) == [
        "Nero was a poet.",
        "Nero ruled in Rome.",
        "Galba ruled in Spain.",
    ]
    assert texts(reading_order(chosen[1:], given_hits))[0] == "Galba ruled in Spain."


@pytest.mark.parametrize("words", [1, 5, 50])
def test_nothing_to_choose_from(words: int) -> None:
    assert select_sentences([], [], words) == []
