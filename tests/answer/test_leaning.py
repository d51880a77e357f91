"""What a sentence with a pronoun needs before it."""

from __future__ import annotations

from answer_cases import hit_of, hits, patient
from hypothesis import given

from longform.answer.candidates import candidates_of
from longform.answer.leaning import leaned_on, support_of
from longform.records import Hit


def test_the_sentence_before_it() -> None:
    candidates = candidates_of([hit_of("Nero ruled in Rome. He was a poor poet. His house was of gold.")])
    assert leaned_on(candidates) == [None, 0, 1]


def test_the_last_sentence_of_the_passage_before() -> None:
    first = hit_of("Nero ruled in Rome. Galba ruled after him.")
    second = hit_of("He was very old then.", start=first.passage.end + 1)
    assert leaned_on(candidates_of([second, first]), [second, first]) == [2, None, None]
    far = hit_of("He was very old then.", start=first.passage.end + 90)
    assert leaned_on(candidates_of([far, first]), [far, first]) == [None, None, None]
    other = hit_of("He was very old then.", document="e", start=first.passage.end + 1)
    assert leaned_on(candidates_of([other, first]), [other, first]) == [None, None, None]


def test_below_a_heading_the_first_sentence_of_the_page() -> None:
    first = hit_of("Nero ruled in Rome. Galba ruled after him.")
    second = hit_of("Early life\n\nHe was born in Antium. He grew up there.", start=first.passage.end + 2)
    assert leaned_on(candidates_of([first, second]), [first, second]) == [None, None, 0, 2]
    assert leaned_on(candidates_of([second]), [second]) == [None, 0]


def test_rows_that_are_passages_do_not_follow_each_other() -> None:
    rows = [
        Hit(hit.passage, 1, 1.0) for hit in (hit_of("Nero ruled in Rome.", document="1"), hit_of("He was old then."))
    ]
    assert leaned_on(candidates_of(rows), rows) == [None, None]


@patient
@given(hits())
def test_support_ends_where_a_sentence_stands_alone(given_hits: list[Hit]) -> None:
    candidates = candidates_of(given_hits)
    on = leaned_on(candidates, given_hits)
    assert all(other is None or (other != place and candidates[place].leans) for place, other in enumerate(on))
    for place, one in enumerate(candidates):
        support = support_of(place, on, candidates, set())
        if not one.leans:
            assert support == []
        elif support is not None:
            assert support and not candidates[support[0]].leans
            assert [on[later] for later in (*support[1:], place)] == support
            assert support_of(place, on, candidates, {support[-1]}) == []
