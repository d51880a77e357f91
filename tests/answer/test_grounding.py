"""Which words of an answer stand in its passages, and whether that supports it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longform import Hit, Passage
from longform.answer.grounding import Grounding, total_groundedness
from longform.answer.sentences import CitedSentence
from longform.records import Evidence
from longform.text import content_tokens


def hit(text: str, title: str = "") -> Hit:
    return Hit(Passage("p#0", "p", title, text, 0, len(text)), 1, 1.0)


HITS = [
    hit("Charles X ruled France until 2 August 1830. He left for Britain.", "Charles X"),
    hit("Louis Philippe I became king of the French on 9 August 1830.", "July Monarchy"),
    hit("Bread is baked from flour.", "Bread"),
]


def test_a_sentence_that_is_all_there() -> None:
    found = Grounding(HITS).judged(CitedSentence("Charles X ruled until August 1830.", (1,)))
    assert (found.groundedness, found.supported, found.ungrounded) == (1.0, True, ())
    assert found.evidence == (Evidence(1, 0, 43),)
    assert HITS[0].passage.text[0:43] == "Charles X ruled France until 2 August 1830."


def test_words_that_are_not_there_are_marked() -> None:
    text = "Charles X ruled Poland and France."
    found = Grounding(HITS).judged(CitedSentence(text, (1,)))
    assert [text[start:end] for start, end in found.ungrounded] == ["Poland"]
    assert found.groundedness == pytest.approx(4 / 5)
    assert found.supported


def test_titles_count_but_are_no_evidence() -> None:
    found = Grounding(HITS).judged(CitedSentence("The July Monarchy.", (2,)))
    assert (found.groundedness, found.evidence) == (1.0, ())


def test_citing_the_wrong_passage() -> None:
    found = Grounding(HITS).judged(CitedSentence("Charles X ruled until August 1830.", (3,)))
    assert (found.groundedness, found.supported, found.evidence) == (0.0, False, ())
    assert len(found.ungrounded) == 5


def test_a_wrong_number_is_not_supported_however_much_else_is_there() -> None:
    found = Grounding(HITS).judged(CitedSentence("Charles X ruled France until 2 August 1831.", (1,)))
    assert found.groundedness > 0.8
    assert not found.supported


def test_an_uncited_sentence_is_compared_with_everything() -> None:
    found = Grounding(HITS).judged(CitedSentence("Bread and Charles.", ()))
    assert (found.groundedness, found.citations, found.evidence) == (1.0, (), ())


def test_nothing_to_ground() -> None:
    found = Grounding(HITS).judged(CitedSentence("So it was.", (1,)))
    assert content_tokens("So it was.") == {"was"}
    assert Grounding(HITS).judged(CitedSentence("It is.", (1,))).groundedness < 1
    assert found.supported is False
    empty = Grounding(HITS).judged(CitedSentence("…", (1,)))
    assert (empty.groundedness, empty.supported) == (1.0, True)


def test_a_letter_whose_lower_case_is_two() -> None:
    found = Grounding([hit("İstanbul is old.")]).judged(CitedSentence("İstanbul is old.", (1,)))
    assert (found.groundedness, found.ungrounded) == (1.0, ())


def test_citations_for_a_sentence_without() -> None:
    grounding = Grounding(HITS)
    assert grounding.citations_for("Bread is baked from flour.") == (3,)
    assert grounding.citations_for("Charles X ruled France, then Louis Philippe became king.") == (1, 2)
    assert grounding.citations_for("Dinosaurs roamed Patagonia.") == ()
    assert grounding.citations_for("…") == ()
    assert Grounding([]).citations_for("Bread.") == ()


def test_with_a_judge_of_entailment() -> None:
    asked: list[tuple[str, str]] = []

    def entails(pairs: Sequence[tuple[str, str]]) -> list[bool]:
        asked.extend(pairs)
        return ["Bread" in premise for premise, _ in pairs]

    grounding = Grounding(HITS, entails=entails)
    assert grounding.citations_for("Loaves come out of ovens.") == (3,)
    assert asked[0] == (f"Charles X\n{HITS[0].passage.text}", "Loaves come out of ovens.")
    assert grounding.judged(CitedSentence("Loaves.", (1, 3))).supported
    assert not grounding.judged(CitedSentence("Charles X ruled France.", (1,))).supported
    assert not Grounding([], entails=entails).judged(CitedSentence("Bread.", ())).supported


def test_the_groundedness_of_a_whole_answer_goes_by_words() -> None:
    grounding = Grounding(HITS)
    parts = [grounding.judged(CitedSentence(text, (3,))) for text in ("Bread flour baked.", "Dinosaurs.")]
    assert total_groundedness(parts) == 3 / 4
    assert total_groundedness([]) == 0.0


@settings(deadline=None)
@given(st.text(alphabet="abc 12.X"), st.text(alphabet="abc 12.X"))
def test_shares_and_places(sentence: str, passage: str) -> None:
    found = Grounding([hit(passage)]).judged(CitedSentence(sentence, (1,)))
    assert 0 <= found.groundedness <= 1
    assert (found.groundedness == 1) == (not found.ungrounded)
    for start, end in found.ungrounded:
        assert sentence[start:end].lower() not in content_tokens(passage)
    for place in found.evidence:
        assert content_tokens(passage[place.start : place.end]) & content_tokens(sentence)
