"""KILT's ROUGE-L against the PyPI package rouge 1.0.1, and against the values in KILT's own tests."""

from __future__ import annotations

import random
import re
from importlib.metadata import version
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longform.score.rouge import RougeScore
from longform.score.rouge_kilt import rouge_l_kilt

texts = st.text(st.sampled_from("abcd .\té\n"), max_size=60)


def test_stored_values() -> None:
    # From rouge 1.0.1.
    assert rouge_l_kilt("The U.S. won. It won twice.", "The U.S. won twice.").f == pytest.approx(10 / 11, abs=1e-8)
    assert rouge_l_kilt("a", "a").f == 0.999999995
    assert rouge_l_kilt("A b", "a b").f == pytest.approx(0.5, abs=1e-8)
    # Repeated words count once, and words in another order are not all found.
    assert rouge_l_kilt("a a a b", "a b b") == rouge_l_kilt("a b", "a b")
    assert rouge_l_kilt("a b", "b a").recall == 0.5


@pytest.mark.parametrize("empty", ["", ".", "...", "."])
def test_without_a_sentence(empty: str) -> None:
    assert rouge_l_kilt(empty, "a b") == rouge_l_kilt("a b", empty) == RougeScore(0.0, 0.0, 0.0)


def test_white_space_is_a_sentence_of_one_empty_word() -> None:
    assert rouge_l_kilt("a. .b", " ").precision == 1.0


@given(texts, texts)
def test_bounds(reference: str, prediction: str) -> None:
    assert all(0.0 <= value <= 1.0 for value in rouge_l_kilt(reference, prediction))


@given(texts)
def test_a_text_against_itself(text: str) -> None:
    expected = 0.0 if not text.strip(".") else 1.0
    assert rouge_l_kilt(text, text).f == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize(("count", "longest"), [(800, 12), (100, 60)])
def test_same_as_rouge(examples: Path, count: int, longest: int) -> None:
    package = pytest.importorskip("rouge")
    if version("rouge") != "1.0.1":
        pytest.skip("KILT's values are those of rouge 1.0.1")
    official = package.Rouge(metrics=["rouge-l"])
    pages = " ".join(page.read_text(encoding="utf-8") for page in sorted((examples / "pages").glob("*.md")))
    vocabulary = [*re.findall(r"\S+", pages), *["U.S.", "3.5", "Pelé", "…", ".", " . ", "\u00a0"] * 60]
    dice = random.Random(count)

    def text() -> str:
        return " ".join(dice.choices(vocabulary, k=dice.randint(0, longest)))

    for _ in range(count):
        reference, prediction = text(), text()
        try:
            wanted = official.get_scores(prediction, reference, avg=True)["rouge-l"]
        except ValueError:
            wanted = {"p": 0.0, "r": 0.0, "f": 0.0}
        ours = rouge_l_kilt(reference, prediction)
        assert tuple(ours) == pytest.approx((wanted["p"], wanted["r"], wanted["f"]), abs=1e-12), (reference, prediction)
