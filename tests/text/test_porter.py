"""The stemmer against NLTK's, and against values stored from it."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longform.text.porter import stem

ALL_SUFFIXES = """
    s es ies sses ss ed ied eed ing ings y ly alli ally ational tional ence enci ancy izer bly bli entli eli ously
    ization ation ator alism iveness fulness ousness ality ivity bility fully fulli logy logi icate ative alize icity
    ical ful ness al ance er ic able ible ant ement ment ent ion sion tion ou ism ate iti ous ive ize e ll
"""
SUFFIXES = ALL_SUFFIXES.split()

# From NLTK 3.10.4, PorterStemmer().stem: one word or more for every rule of every step.
STORED = {
    "caresses": "caress", "ponies": "poni", "ties": "tie", "dies": "die", "cats": "cat", "caress": "caress",
    "agreed": "agre", "feed": "feed", "plastered": "plaster", "bled": "bled", "motoring": "motor", "sing": "sing",
    "conflated": "conflat", "troubled": "troubl", "sized": "size", "hopping": "hop", "falling": "fall",
    "hissing": "hiss", "fizzed": "fizz", "filing": "file", "died": "die", "spied": "spi", "happy": "happi",
    "enjoy": "enjoy", "fly": "fli", "by": "by", "relational": "relat", "conditional": "condit", "rational": "ration",
    "valency": "valenc", "radically": "radic", "differently": "differ", "vietnamization": "vietnam",
    "operator": "oper", "feudalism": "feudal", "hopefulness": "hope", "sensibility": "sensibl", "geology": "geolog",
    "archaeology": "archaeolog", "triplicate": "triplic", "formative": "form", "electrical": "electr",
    "goodness": "good", "revival": "reviv", "replacement": "replac", "adoption": "adopt", "homologous": "homolog",
    "probate": "probat", "rate": "rate", "cease": "ceas", "controlling": "control", "roll": "roll", "skies": "sky",
    "dying": "die", "news": "news", "innings": "inning", "proceed": "proceed", "1990s": "1990", "RUNNING": "run",
}  # fmt: skip


@pytest.mark.parametrize(("word", "stemmed"), STORED.items())
def test_stored_values(word: str, stemmed: str) -> None:
    assert stem(word) == stemmed


@given(st.text(max_size=20))
def test_never_longer_never_fails(word: str) -> None:
    assert len(stem(word)) <= len(word.lower())


def test_long_runs_stay_linear() -> None:
    assert len(stem("y" * 200_000 + "ing")) > 100_000


def test_same_as_nltk(examples: Path) -> None:
    porter = pytest.importorskip("nltk.stem.porter").PorterStemmer()
    dice = random.Random(1)
    pages = " ".join(page.read_text(encoding="utf-8") for page in (examples / "pages").glob("*.md"))
    words = sorted(set(re.findall(r"\w+", pages)))
    made = [dice.choice(words)[: dice.randint(1, 6)] + dice.choice(SUFFIXES) + dice.choice(["", *SUFFIXES])
            for _ in range(6000)]  # fmt: skip
    odd = ["".join(dice.choices("aeiouybltsdz*é1x", k=dice.randint(1, 5))) + dice.choice(SUFFIXES) for _ in range(6000)]
    for word in [*words, *made, *odd]:
        assert stem(word) == porter.stem(word), word
