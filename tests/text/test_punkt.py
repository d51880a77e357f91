"""NLTK's sentence splitter without NLTK: the rules on a small set of data, and parity with the real one."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path

import pytest

from longform.errors import InputError
from longform.text.punkt import Punkt, find_punkt, load_punkt

BELOW = Path("tokenizers", "punkt_tab", "english")
ALL_PIECES = """
    Mr mr U.S u.s p.m a A J I Smith the The He he 1 19 3.5 -4 1,000 No no etc e.g i.e Inc co-op x-Mr Ph.D st St vs et al
    é É ² _ Ⅳ ß now In Bach J.S said jan sept N.Y calif
"""
PIECES = ALL_PIECES.split()
MARKS = [
    *[".", ".", ".", ". ", ". ", "? ", "! ", "...", ". . .", "..", ". . ", "; ", ", ", ": ", "--", " -- ", "-", "'"],
    *['"', "”", "“", "’", "‘", "«", "»", ")", "(", "]", "[", "}", "{", "*", "@", "&", "#", "`", "\n", "\n\n", "\t"],
    *[
        "\r\n",
        "\u00a0",
        "\u2028",
        "\x0b",
        "\x85",
        " ",
        " ",
        " ",
        " ",
        "  ",
        "?!",
        "!!",
        '?"',
        ".)",
        ".' ",
        '." ',
        ".” ",
    ],
]


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A folder as NLTK_DATA names it, with a handful of entries."""
    folder = tmp_path / BELOW
    folder.mkdir(parents=True)
    (folder / "abbrev_types.txt").write_text("mr\nu.s\np.m", encoding="utf-8")
    (folder / "collocations.tab").write_text("##number##\tbattalion\nj\tbach", encoding="utf-8")
    (folder / "sent_starters.txt").write_text("according\nhowever", encoding="utf-8")
    (folder / "ortho_context.tab").write_text("the\t126\nhe\t114\nnobody\t34", encoding="utf-8")
    return tmp_path


def test_rules(small: Path) -> None:
    punkt = Punkt(small / BELOW)
    assert punkt.split("Mr. Smith left at 5 p.m. on Monday. Nobody saw him.") == [
        "Mr. Smith left at 5 p.m. on Monday.",
        "Nobody saw him.",
    ]
    # An abbreviation ends a sentence before a word that is else in lower case, and before a frequent starter.
    assert punkt.split("It left the U.S. Nobody saw. U.S. However small.") == [
        "It left the U.S.",
        "Nobody saw.",
        "U.S.",
        "However small.",
    ]
    assert punkt.split("The 3. Battalion and J. S. Bach came.") == ["The 3. Battalion and J. S. Bach came."]
    assert punkt.split('"Stop!" (He ran.) Then?') == ['"Stop!"', "(He ran.)", "Then?"]
    assert punkt.split("Very bad!!! I promise...") == ["Very bad!!!", "I promise..."]
    assert punkt.split("") == punkt.split(" \n ") == []


def test_curly_quotes(small: Path) -> None:
    text = "It is called “frame toby.” the episode aired."
    assert Punkt(small / BELOW).split(text) == ["It is called “frame toby.”", "the episode aired."]
    assert Punkt(small / BELOW, curly_quotes=False).split(text) == [text]


def test_where_the_data_is_found(small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NLTK_DATA", os.pathsep.join([str(tmp_path / "elsewhere"), str(small)]))
    assert find_punkt() == find_punkt(small) == find_punkt(small / BELOW) == small / BELOW
    assert load_punkt() is load_punkt(small)


def test_missing_data_says_where_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NLTK_DATA", str(tmp_path))
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "home")
    with pytest.raises(InputError, match=r"punkt_tab\.zip") as caught:
        load_punkt()
    assert str(tmp_path / BELOW) in str(caught.value)
    with pytest.raises(InputError, match="nowhere"):
        load_punkt(tmp_path / "nowhere")


def test_broken_data_is_named(small: Path) -> None:
    (small / BELOW / "ortho_context.tab").write_text("the\tmany", encoding="utf-8")
    with pytest.raises(InputError, match="english cannot be read"):
        Punkt(small / BELOW)


@pytest.mark.shared
class TestParity:
    """With the real data, against the installed NLTK."""

    @pytest.fixture
    def pair(self, shared: Path):
        nltk = pytest.importorskip("nltk")
        root = shared / "nltk_data"
        if not (root / BELOW).is_dir():
            pytest.skip(f"no punkt_tab data in {root}")
        if str(root) not in nltk.data.path:
            nltk.data.path.insert(0, str(root))
        new = len(nltk.sent_tokenize("He said “frame toby.” the next came.")) == 2
        return load_punkt(root, curly_quotes=new), nltk.sent_tokenize

    def test_made_up_texts(self, pair) -> None:
        punkt, sent_tokenize = pair
        dice = random.Random(2)
        for _ in range(2500):
            kinds = (dice.choice((PIECES, MARKS)) for _ in range(dice.randint(0, 40)))
            text = "".join(dice.choice(kind) for kind in kinds)
            for variant in (text, text.lower()):
                assert punkt.split(variant) == sent_tokenize(variant), repr(variant)

    def test_asqa_answers(self, pair, shared: Path) -> None:
        punkt, sent_tokenize = pair
        gold = json.loads((shared / "data" / "asqa" / "ASQA.json").read_text(encoding="utf-8"))["dev"]
        for item in gold.values():
            for annotation in item["annotations"]:
                for text in (annotation["long_answer"], annotation["long_answer"].lower()):
                    assert punkt.split(text) == sent_tokenize(text), repr(text)
