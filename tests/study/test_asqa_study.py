"""The ASQA study on the examples: every row is answered once and scored, and bad input is one sentence."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from longform import Index, InputError, read
from longform.cli.study.asqa import command
from longform.study.kept import keep_all

EXAMPLES = Path(__file__).parents[2] / "examples"
IDS = ["ruler-france-1830", "king-kong-director", "pope-1978"]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("asqa")
    Index.create(folder / "examples.index", read(str(EXAMPLES / "pages")))
    (folder / "ids.json").write_text(json.dumps(IDS))
    with (folder / "other.jsonl").open("w") as file:
        for identifier in IDS:
            passage = {"title": "France", "text": "Charles X was king until August 1830. Louis Philippe I came next."}
            row = {"id": identifier, "answer": "It was Charles X, then a Martian [1].", "passages": [passage]}
            file.write(json.dumps(row) + "\n")
    return folder


def arguments(place: Path, *more: str) -> list[str]:
    return [
        str(place / "examples.index"),
        *("--gold", str(EXAMPLES / "questions.json"), "--ids", str(place / "ids.json")),
        *("--work", str(place / "work"), "-o", str(place / "asqa.md")),
        *more,
    ]


def test_every_row_is_answered_once_and_scored(place: Path) -> None:
    wanted = arguments(place, "--stored", f"other={place / 'other.jsonl'}", "--given", "other", "--note", "A remark.")
    result = CliRunner().invoke(command, wanted, catch_exceptions=False)
    assert result.output == f"Wrote 7 rows for 3 questions to {place / 'asqa.md'}.\n"
    page = (place / "asqa.md").read_text()
    names = [line.split("**")[1] for line in page.splitlines() if line.startswith("| **")]
    assert names == [
        "question",
        "BM25@1",
        "re-ranked@1",
        "extractive, bm25",
        "extractive, oracle passages",
        "extractive, passages of other",
        "other",
    ]
    assert "- A remark." in page and "with stems and our own sentence splitter against" in page
    rows = {line.split("**")[1]: line.split("|")[2:8] for line in page.splitlines() if line.startswith("| **")}
    grounded = {name: cells[5].split()[0] for name, cells in rows.items()}
    assert grounded["extractive, bm25"] == "1.00"
    assert grounded["question"] == "0.00"
    assert 0 < float(grounded["other"]) < 1
    kept = {path.name: path.stat().st_mtime_ns for path in (place / "work" / "answers").iterdir()}
    assert CliRunner().invoke(command, wanted, catch_exceptions=False).exit_code == 0
    assert (place / "asqa.md").read_text() == page
    sizes = {path.name: path.stat().st_size for path in (place / "work" / "answers").iterdir()}
    assert kept.keys() == sizes.keys()


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--stored", "other"), "--stored takes NAME=…, such as gpt=answers.jsonl, not 'other'"),
        (("--given", "other"), "--given other is no name that --stored gave"),
        (("--stored", "other=nowhere.jsonl"), "nowhere.jsonl cannot be read: no such file or directory"),
        (("--writer", "="), "--writer takes NAME=…"),
    ],
)
def test_what_cannot_be_meant_is_said(place: Path, more: tuple[str, ...], message: str) -> None:
    with pytest.raises(InputError, match=message):
        CliRunner().invoke(command, arguments(place, *more), catch_exceptions=False)


def test_stored_answers_must_be_whole(place: Path, tmp_path: Path) -> None:
    file = tmp_path / "some.jsonl"
    file.write_text('{"id": "pope-1978", "answer": "Paul VI."}\n')
    with pytest.raises(InputError, match=r"some\.jsonl has no answer to the question king-kong-director"):
        CliRunner().invoke(command, arguments(place, "--stored", f"x={file}"), catch_exceptions=False)
    file.write_text('{"id": "pope-1978"}\n')
    with pytest.raises(InputError, match=r"some\.jsonl, line 1, is no stored answer: it needs id, answer"):
        CliRunner().invoke(command, arguments(place, "--stored", f"x={file}"), catch_exceptions=False)


def test_ids_that_the_gold_does_not_have(place: Path, tmp_path: Path) -> None:
    (tmp_path / "ids.json").write_text('["nobody"]')
    wanted = arguments(place, "--ids", str(tmp_path / "ids.json"))
    with pytest.raises(InputError, match="has none of the questions that"):
        CliRunner().invoke(command, wanted, catch_exceptions=False)


def test_what_was_made_with_something_else_is_made_anew(tmp_path: Path) -> None:
    path = tmp_path / "kept.jsonl"
    assert keep_all(path, {"model": 1}, {"a": 1}, lambda _, value: value) == {"a": 1}
    assert keep_all(path, {"model": 2}, {"a": 1}, lambda _, value: value + 1) == {"a": 2}
    path.write_bytes(b"not JSON\n")
    assert keep_all(path, {"model": 2}, {"a": 1}, lambda _, value: value + 2) == {"a": 3}
