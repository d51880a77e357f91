"""Learning to read from the readings of ambiguous questions and the long answers to them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from longform import InputError
from longform.train.reader_readings import readings_to_read


def item(*readings: tuple[str, list[str]], long: str, notes: list[str]) -> dict[str, Any]:
    return {
        "ambiguous_question": "Who won?",
        "qa_pairs": [{"question": question, "short_answers": names} for question, names in readings],
        "annotations": [{"long_answer": long, "knowledge": [{"content": text, "wikipage": "Cup"} for text in notes]}],
        "wikipages": [{"title": "Cup"}],
    }


@pytest.fixture
def asqa(tmp_path: Path) -> Path:
    first = item(
        ("Who won in 2010?", ["Spain", "La Roja"]),
        ("Who won in 2014?", ["Germany"]),
        ("Who won in 1066?", ["William"]),
        long="Spain won in 2010.",
        notes=["La Roja won the cup in 2010.", "The U.S. hosts. Germany won in 2014.", "It rained."],
    )
    second = item(("Who won the toss?", ["U.S."]), long="The US won the toss.", notes=["The US had luck."])
    file = tmp_path / "ASQA.json"
    file.write_text(json.dumps({"dev": {"1": first, "2": second}}))
    return file


def test_each_reading_is_read_where_its_answer_stands_and_where_only_others_do(asqa: Path) -> None:
    found = readings_to_read(asqa)
    read = [(one.question, one.context, [span.text for span in one.answers]) for one in found.examples]
    assert read == [
        ("Who won in 2010?", "Spain won in 2010.", ["Spain"]),
        ("Who won in 2010?", "La Roja won the cup in 2010.", ["La Roja"]),
        ("Who won in 2010?", "The U.S. hosts. Germany won in 2014.", []),
        ("Who won in 2014?", "The U.S. hosts. Germany won in 2014.", ["Germany"]),
        ("Who won in 2014?", "La Roja won the cup in 2010.", []),
    ]
    # William stands nowhere; "US" is the answer in other letters, so that nothing says it has none, nor where.
    assert found.skipped == 2
    assert len({one.id for one in found.examples}) == len(found.examples)
    for one in found.examples:
        assert all(one.context[span.start :].startswith(span.text) for span in one.answers)


def test_excluded_questions_are_never_read(asqa: Path) -> None:
    assert readings_to_read(asqa, exclude_ids={"1"}) == ([], 1)
    with pytest.raises(InputError, match=r"All questions of \S*ASQA\.json are excluded: none is left\."):
        readings_to_read(asqa, exclude_ids={"1", "2"})


def test_a_file_of_another_kind_is_named(tmp_path: Path) -> None:
    file = tmp_path / "other.json"
    file.write_text("{}")
    with pytest.raises(InputError, match=r"other\.json is no ASQA\.json"):
        readings_to_read(file)
