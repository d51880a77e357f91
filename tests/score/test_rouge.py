"""ROUGE against the rouge-score package on generated texts, stored values, and what must hold of any score."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longform.score import rouge
from longform.score.rouge import RougeScore, RougeText, rouge_l, rouge_lsum, rouge_n, rouge_words

texts = st.text(st.sampled_from("abcdef é.,'-\nİK12"), max_size=60)
TYPES = ("rouge1", "rouge2", "rougeL", "rougeLsum")


def all_types(reference: str | RougeText, prediction: str | RougeText, stemmer: bool | None) -> list[RougeScore]:
    return [
        rouge_n(reference, prediction, 1, stemmer=stemmer),
        rouge_n(reference, prediction, 2, stemmer=stemmer),
        rouge_l(reference, prediction, stemmer=stemmer),
        rouge_lsum(reference, prediction, stemmer=stemmer),
    ]


def generated(examples: Path, count: int, longest: int, seed: int) -> list[tuple[str, str]]:
    """Pairs of texts with the words of real pages in their real proportions, and odd characters among them."""
    pages = " ".join(page.read_text(encoding="utf-8") for page in sorted((examples / "pages").glob("*.md")))
    vocabulary = re.findall(r"\S+", pages)
    dice = random.Random(seed)
    odd = ["Pelé", "naïve", "1,000", "3.5%", "U.S.", "—", "…", "“quoted”", "İzmir", "\u212aelvin", "\ud800", "ﬁn", "٣"]

    def text() -> str:
        lines = []
        for _ in range(dice.randint(0, 6)):
            line = dice.choices(vocabulary, k=dice.randint(0, max(1, longest // 4)))
            if dice.random() < 0.3:
                line.insert(dice.randint(0, len(line)), dice.choice(odd))
            lines.append(" ".join(line))
        return "\n".join(lines)

    return [(text(), text()) for _ in range(count)]


def test_stored_values() -> None:
    # From rouge-score 0.1.2 with stemming.
    reference = "The players with the highest goals differ.\nJosef Bican scored an estimated 805 goals."
    prediction = "Josef Bican, estimated to have scored 805 goals, is highest.\nThe goals of players differ."
    expected = [
        (11 / 15, 11 / 14, 22 / 29),
        (2 / 14, 2 / 13, 4 / 27),
        (5 / 15, 5 / 14, 10 / 29),
        (9 / 15, 9 / 14, 18 / 29),
    ]
    for score, wanted in zip(all_types(reference, prediction, True), expected, strict=True):
        assert tuple(score) == pytest.approx(wanted, abs=1e-12)


def test_words() -> None:
    assert rouge_words("O'Neil-Smith’s Pelé, 1,000") == ["o", "neil", "smith", "s", "pel", "1", "000"]
    assert rouge_words("") == []


@given(texts, texts, st.booleans())
def test_bounds_and_symmetry(one: str, other: str, stemmer: bool) -> None:
    forwards, backwards = all_types(one, other, stemmer), all_types(other, one, stemmer)
    assert all(0.0 <= value <= 1.0 for score in forwards for value in score)
    # Not of rougeLsum, whose union belongs to the sentences of the reference.
    for ours, theirs in zip(forwards[:3], backwards[:3], strict=True):
        assert ours.f == pytest.approx(theirs.f, abs=1e-15)
        assert (ours.precision, ours.recall) == (theirs.recall, theirs.precision)


@given(texts)
def test_a_text_against_itself(text: str) -> None:
    words = rouge_words(text)
    expected = [len(words) > 0, len(words) > 1, len(words) > 0, len(words) > 0]
    assert [score.f for score in all_types(text, text, False)] == [float(known) for known in expected]


@given(texts, texts, st.booleans())
def test_prepared_texts_score_the_same(one: str, other: str, stemmer: bool) -> None:
    first, second = RougeText(one, stemmer=stemmer), RougeText(other, stemmer=stemmer)
    expected = all_types(one, other, stemmer)
    assert all_types(first, second, None) == all_types(first, other, None) == all_types(one, second, None) == expected


def test_stemmers_must_agree() -> None:
    with pytest.raises(ValueError, match="stemmed"):
        rouge_l(RougeText("a", stemmer=True), RougeText("a"))
    with pytest.raises(ValueError, match="stemmed"):
        rouge_l(RougeText("a", stemmer=True), "a", stemmer=False)
    with pytest.raises(ValueError, match="one word or more"):
        rouge_n("a", "a", 0)


def test_stems_are_kept_within_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rouge, "_MOST_STEMS", 3)
    assert rouge_words("walking running jumping hopping walking", stemmer=True) == [
        "walk",
        "run",
        "jump",
        "hop",
        "walk",
    ]


@pytest.mark.parametrize("stemmer", [False, True])
@pytest.mark.parametrize(("count", "longest"), [(600, 20), (150, 80)])
def test_same_as_rouge_score(examples: Path, stemmer: bool, count: int, longest: int) -> None:
    official = pytest.importorskip("rouge_score.rouge_scorer").RougeScorer(list(TYPES), use_stemmer=stemmer)
    for reference, prediction in generated(examples, count, longest, seed=count):
        scores = official.score(reference, prediction)
        for ours, name in zip(all_types(reference, prediction, stemmer), TYPES, strict=True):
            assert tuple(ours) == pytest.approx(tuple(scores[name]), abs=1e-12), (name, reference, prediction)
