"""``longform add``, ``remove`` and ``compact``: what changes and what is said of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from longform import Index

Run = Callable[..., Any]


@pytest.fixture(autouse=True)
def index(here: None, longform: Run) -> None:
    assert longform("index", "docs", "-o", "my.index", "--words", 5).code == 0


def ids() -> list[str]:
    return [passage.id for passage in Index.open("my.index")]


def test_a_document_that_has_become_shorter(longform: Run) -> None:
    Path("docs/tea.txt").write_text("Tea is gone.")
    result = longform("add", "my.index", "docs/tea.txt")
    assert result.code == 0
    assert result.out.startswith("Added to my.index: it holds 5 passages of 3 documents (")
    assert [name for name in ids() if "tea" in name] == ["docs/tea.txt#0"]
    assert "No passage" in longform("search", "my.index", "leaves").out


def test_adding_twice_changes_nothing(longform: Run) -> None:
    before = sorted(ids())
    for _ in range(2):
        assert longform("add", "my.index", "docs").code == 0
        assert sorted(ids()) == before


def test_adding_from_standard_input(longform: Run) -> None:
    assert longform("add", "my.index", "-", stdin=b'{"id": "new", "text": "Something new."}').code == 0
    assert ids()[-1] == "new#0"


def test_removing(longform: Run) -> None:
    result = longform("remove", "my.index", "docs/tea.txt", "docs/milk.md#0")
    assert (result.code, result.out) == (0, "Removed 3 passages from my.index: it holds 3 now.\n")
    assert ids() == ["docs/coffee.txt#0", "docs/coffee.txt#1", "docs/milk.md#1"]
    row = json.loads(longform("remove", "my.index", "docs/milk.md", "--json").out)
    assert row == {"index": "my.index", "removed": 1, "passages": 2}


def test_removing_all_and_beginning_again(longform: Run) -> None:
    longform("remove", "my.index", "docs/tea.txt", "docs/milk.md", "docs/coffee.txt")
    result = longform("search", "my.index", "tea")
    assert (result.code, result.err) == (
        2,
        "Error: my.index holds no passages: `longform add my.index DOCS` adds some.\n",
    )
    assert longform("compact", "my.index").code == 0
    assert longform("info", "my.index").code == 0
    assert longform("add", "my.index", "docs").code == 0
    assert len(ids()) == 6


def test_compacting(longform: Run) -> None:
    longform("remove", "my.index", "docs/tea.txt")
    result = longform("compact", "my.index")
    assert result.out.startswith("Compacted my.index: it holds 4 passages of 2 documents (")
    assert Index.open("my.index").manifest.rows == 4
    row = json.loads(longform("compact", "my.index", "--json").out)
    assert (row["passages"], row["documents"]) == (4, 2)


def test_a_mistake_loses_nothing(longform: Run) -> None:
    before = ids()
    Path("rows.jsonl").write_text('{"id": "docs/tea.txt", "text": "Replaced."}\n{broken\n')
    assert longform("add", "my.index", "rows.jsonl").code == 2
    assert longform("remove", "my.index", "docs/tea.txt", "nope").code == 2
    assert ids() == before
    assert longform("info", "my.index").code == 0
