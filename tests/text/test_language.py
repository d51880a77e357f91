"""Which language a question is in."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longform.text.language import foreign_language


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("Was ist die Hauptstadt von Georgien?", "German"),
        ("Wo liegt Bonn?", "German"),
        ("Wie heißt der höchste Berg?", "German"),
        ("Qui a inventé le téléphone ?", "French"),
        ("Qu'est-ce que l'électricité ?", "French"),
        ("¿Quién fue el rey de Francia en 1830?", "Spanish"),
        ("Chi ha inventato il telefono?", "Italian"),
        ("Quem foi o rei de Portugal em 1830?", "Portuguese"),
        ("Wat is de hoofdstad van Georgië?", "Dutch"),
        ("谁是法国国王？", "Chinese"),
        ("フランスの王は誰ですか", "Japanese"),
        ("프랑스의 왕은 누구입니까", "Korean"),
        ("Ποιος ήταν βασιλιάς;", "Greek"),
        ("من كان ملك فرنسا", "a language written in Arabic letters"),
        ("საქართველოს დედაქალაქი", "a language that is not written in Latin letters"),
    ],
)
def test_other_languages(question: str, language: str) -> None:
    assert foreign_language(question) == language


@pytest.mark.parametrize(
    "question",
    ["", "1830?", "Bonn", "Who sang La Vie en rose?", "why is la la land called la la land", "What does Ω mean?"],
)
def test_english_and_no_telling(question: str) -> None:
    assert foreign_language(question) is None


def test_the_questions_of_the_examples_are_english(examples: Path) -> None:
    lines = (examples / "questions.jsonl").read_text().splitlines()
    assert {foreign_language(json.loads(line)["question"]) for line in lines} == {None}


def test_training_questions_are_english(shared: Path) -> None:
    with gzip.open(shared / "data/train/questions.jsonl.gz") as file:
        asked = [json.loads(line)["question"] for line in file]
    assert [question for question in asked if foreign_language(question)] == []


@given(st.text())
def test_any_text(text: str) -> None:
    assert foreign_language(text) != ""
