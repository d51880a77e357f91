"""A search from the command line must not wait for what it does not need."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

HEAVY = [
    "torch",
    "onnxruntime",
    "faiss",
    "pypdf",
    "rich",
    "mwparserfromhell",
    "tokenizers",
    "selectolax",
    "markdown_it",
]

CODE = """
import atexit, sys
heavy = sys.argv.pop(1).split(",")
def tell():
    print("LOADED", [name for name in heavy if name in sys.modules], file=sys.stderr)
atexit.register(tell)
from longform.cli import main
main()
"""


def loaded(*arguments: str) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-c", CODE, ",".join(HEAVY), *arguments], capture_output=True, text=True, check=False
    )
    return done.returncode, done.stderr.rsplit("LOADED ", 1)[1].strip()


@pytest.mark.parametrize("arguments", [["--version"], ["--help"], ["search", "--help"]])
def test_help_needs_nothing(arguments: list[str]) -> None:
    assert loaded(*arguments) == (0, "[]")


def test_a_search_needs_nothing_heavy(longform: Callable[..., Any]) -> None:
    longform("index", "docs", "-o", "my.index")
    assert loaded("search", "my.index", "hot drink") == (0, "[]")
    assert loaded("info", "my.index") == (0, "[]")


def test_plain_text_is_indexed_without_the_other_readers() -> None:
    assert loaded("index", "docs/tea.txt", "-o", "my.index") == (0, "[]")
