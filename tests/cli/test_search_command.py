"""``longform search``: one question, many questions, and where the answers go."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ir_measures
import pytest

Run = Callable[..., Any]


@pytest.fixture(autouse=True)
def index(here: None, longform: Run) -> None:
    assert longform("index", "docs", "-o", "my.index").code == 0


def test_hits_for_people(longform: Run) -> None:
    result = longform("search", "my.index", "Which drink is hot?", "-k", 2)
    lines = result.out.splitlines()
    assert (result.code, result.err) == (0, "")
    assert lines[:3] == [lines[0], "    Tea is a hot drink. It is brewed from leaves.", "    docs/tea.txt#0"]
    assert lines[0].startswith(" 1  tea  ")
    assert lines[-1].startswith("2 of 3 passages · bm25 · ")


def test_hits_for_programs(longform: Run) -> None:
    row = json.loads(longform("search", "my.index", "white", "--json").out)
    assert (row["question"], row["mode"], row["k"]) == ("white", "bm25", 3)
    assert [(hit["rank"], hit["id"], hit["title"]) for hit in row["hits"]] == [(1, "docs/milk.md#0", "Milk")]
    assert row["hits"][0]["text"] == "Milk is white.\n\nOrigin\n\nCows give it."


@pytest.mark.parametrize("question", ["?!…", "茶は何ですか", "🍵", "ما هو الشاي", "zzz", "x" * 5000, "'\"; --", "-5"])
def test_a_question_that_finds_nothing(longform: Run, question: str) -> None:
    result = longform("search", "my.index", "--", question)
    assert (result.code, result.err) == (0, "")
    assert result.out.startswith("No passage shares a word with the question · bm25 · ")


def test_a_question_of_stop_words_is_searched_by_them(longform: Run) -> None:
    assert "docs/tea.txt#0" in longform("search", "my.index", "Is it a?").out


def test_many_questions(longform: Run) -> None:
    Path("q.jsonl").write_text('{"id": "a b", "question": "hot"}\n\n{"id": 2, "question": "drink"}\n')
    result = longform("search", "my.index", "--questions", "q.jsonl", "-k", 3, "-o", "run.trec")
    assert (result.code, result.out) == (0, "Wrote the rankings of 2 questions to run.trec.\n")
    run = [(item.query_id, item.doc_id) for item in ir_measures.read_trec_run("run.trec")]
    assert run == [("a%20b", "docs/tea.txt#0"), ("2", "docs/coffee.txt#0"), ("2", "docs/tea.txt#0")]
    longform("search", "my.index", "--questions", "q.jsonl", "-o", "run.jsonl")
    assert [json.loads(line)["id"] for line in Path("run.jsonl").read_text().splitlines()] == ["a b", "2"]


def test_questions_from_standard_input(longform: Run) -> None:
    rows = b'{"id": "a", "question": "white"}\n'
    assert longform("search", "my.index", "--questions", "-", stdin=rows).out.startswith("a Q0 docs/milk.md#0 1 ")
    row = json.loads(longform("search", "my.index", "--questions", "-", "--json", stdin=rows).out)
    assert [hit["id"] for hit in row["hits"]] == ["docs/milk.md#0"]


def test_documents_cannot_command_the_terminal(longform: Run) -> None:
    row = {"id": "evil\x1b[2J\nid", "title": "T\x1b]0;pwned\x07", "text": "red \x1b[31malert\x9b2J \x00end"}
    Path("rows.jsonl").write_text(json.dumps(row))
    longform("add", "my.index", "rows.jsonl")
    shown = longform("search", "my.index", "red", "-k", 1).out
    assert not any(ord(character) < 32 and character != "\n" for character in shown)
    assert "\x9b" not in shown
    assert "    evil[2J id#0" in shown.splitlines()


@pytest.mark.parametrize("batch", [False, True])
def test_a_reader_that_has_had_enough(spawn: Callable[..., subprocess.Popen[bytes]], batch: bool) -> None:
    Path("q.jsonl").write_text("".join(f'{{"id": {n}, "question": "drink"}}\n' for n in range(10_000)))
    process = spawn("search", "my.index", *(["--questions", "q.jsonl"] if batch else ["drink"]))
    assert process.stdout is not None
    assert process.stderr is not None
    if batch:
        process.stdout.readline()
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait(timeout=30) == 0


def test_output_that_cannot_be_written(spawn: Callable[..., subprocess.Popen[bytes]]) -> None:
    with open("/dev/full", "wb") as full:  # noqa: PTH123
        process = spawn("search", "my.index", "drink", "--json", stdout=full)
        _, err = process.communicate(timeout=30)
    assert err == b"Error: The system does not let Longform go on: no space left on device.\n"
    assert process.returncode == 1


def test_hybrid(longform: Run) -> None:
    longform("add", "my.index", "--dense")
    result = longform("search", "my.index", "warm beverage", "--json")
    row = json.loads(result.out)
    assert (row["mode"], row["hits"][0]["id"]) == ("hybrid", "docs/tea.txt#0")
    weighted = longform("search", "my.index", "warm beverage", "--fusion", "weighted", "--weight", 1, "-k", 1)
    assert "docs/tea.txt#0" in weighted.out
    assert longform("search", "my.index", "?!", "--mode", "dense", "-k", 1).code == 0
