"""``longform data`` and ``longform data describe``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from longform import InputError
from longform.cli.data import command


def run(*arguments: str) -> Result:
    return CliRunner().invoke(command, arguments, catch_exceptions=False)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, examples: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LONGFORM_DATA", raising=False)
    Path("data/asqa").mkdir(parents=True)
    Path("data/asqa/ASQA.json").write_bytes((examples / "questions.json").read_bytes())


def test_the_list_says_what_is_here() -> None:
    shown = run().output
    assert "dev: data/asqa/ASQA.json" in shown
    assert "train: data/asqa/ASQA.json" not in shown, "the file holds dev alone"
    assert "not here; published at https://convinse.mpi-inf.mpg.de/" in shown
    rows = json.loads(run("--json").output)
    assert rows[0]["here"] == {"dev": ["data/asqa/ASQA.json"]}


def test_describe_by_name_and_by_file() -> None:
    shown = run("describe", "asqa").output
    assert "sha256 " in shown
    assert "The file holds 48 questions; the split as published holds 948." in shown
    facts = json.loads(run("describe", "data/asqa/ASQA.json", "--json").output)
    assert (facts["dataset"], facts["counts"]["questions"], facts["task"]) == ("asqa", 48, "asqa")


def test_describe_rows_with_fields_and_ids() -> None:
    Path("mine.jsonl").write_text('{"id": "a", "ask": "Who?"}\n{"id": "b", "ask": "Why?"}\n')
    Path("ids.json").write_text('["b"]')
    shown = json.loads(run("describe", "mine.jsonl", "--field", "question=ask", "--ids", "ids.json", "--json").output)
    assert (shown["counts"]["questions"], shown["all"]) == (1, 2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("describe", "mine.jsonl", "--field", "question"), "--field takes WHAT=FIELD"),
        (("describe", "asqa", "--file", "x.json", "--field", "question=ask"), "--field maps the fields of JSON rows"),
        (("describe", "qampari"), "its owners publish it at"),
    ],
)
def test_mistakes(arguments: tuple[str, ...], message: str) -> None:
    with pytest.raises(InputError, match=message):
        run(*arguments)
