"""``longform info``: what an index holds, and what is wrong with it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]


@pytest.fixture(autouse=True)
def index(here: None, longform: Run) -> None:
    assert longform("index", "docs", "-o", "my.index").code == 0


def test_a_whole_index(longform: Run) -> None:
    result = longform("info", "my.index")
    assert (result.code, result.err) == (0, "")
    facts = dict(line.split(None, 1) for line in result.out.splitlines())
    assert facts["passages"] == "3 of 3 documents, up to 100 words each"
    assert facts["bm25"] == "en_stem, k1 = 1.2, b = 0.75"
    assert (facts["dense"], facts["deleted"], facts["state"]) == ("no", "none", "whole, checksums right")
    assert "state     whole (sizes only)" in longform("info", "my.index", "--quick").out


def test_json(longform: Run) -> None:
    facts = json.loads(longform("info", "my.index", "--json").out)
    assert (facts["passages"], facts["documents"], facts["deleted"], facts["problems"]) == (3, 3, 0, [])
    assert facts["bm25"] == {"analyser": "en_stem", "k1": 1.2, "b": 0.75}
    assert facts["dense"] is None
    assert facts["unfinished"] is False


def test_what_is_deleted_and_what_would_help(longform: Run) -> None:
    longform("remove", "my.index", "docs/tea.txt")
    out = longform("info", "my.index").out
    assert "deleted   1 passage\n" in out
    assert "`longform compact my.index` would make it smaller and faster." in out


def test_an_unfinished_change(longform: Run) -> None:
    Path("my.index/pending.json").write_text("{}")
    result = longform("info", "my.index")
    assert result.code == 0
    assert "A change was begun and not finished" in result.out


@pytest.mark.parametrize("damage", ["truncate", "flip", "delete"])
def test_damage_is_named(longform: Run, damage: str) -> None:
    path = Path("my.index/part-000001/passages.zst")
    data = path.read_bytes()
    path.unlink()
    if damage != "delete":
        path.write_bytes(data[:-1] if damage == "truncate" else data[:-1] + bytes([data[-1] ^ 1]))
    name = "part-000001/passages.zst"
    problem = {
        "truncate": f"{name} has {len(data) - 1} bytes instead of {len(data)}.",
        "flip": f"{name} has changed: its checksum is not the recorded one.",
        "delete": f"{name} is missing.",
    }[damage]
    result = longform("info", "my.index")
    end = "Error: my.index is damaged (1 problems): restore it from a copy or build it anew.\n"
    assert (result.code, result.out, result.err) == (1, "", f"{problem}\n{end}")
    result = longform("info", "my.index", "--json")
    assert (result.code, json.loads(result.out)["problems"]) == (1, [problem])
    result = longform("search", "my.index", "drink")
    assert result.code in ({"flip": (0, 1)}.get(damage, (1,)))
    assert result.err.count("\n") == result.code


def test_half_of_an_index(longform: Run) -> None:
    shutil.rmtree("my.index/bm25-000001")
    result = longform("info", "my.index")
    assert result.code == 1
    assert result.err.endswith("restore it from a copy or build it anew.\n")
    result = longform("search", "my.index", "drink")
    assert (result.code, result.err) == (
        1,
        "Error: my.index/bm25-000001 is damaged: `longform info my.index` says more.\n",
    )
    assert longform("index", "docs", "-o", "my.index", "--overwrite").code == 0
    assert longform("info", "my.index").code == 0
