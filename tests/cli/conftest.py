"""The command line, run in this process and in its own."""

from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from longform.cli import main


class Result(NamedTuple):
    """What a command left: its exit code, and what it wrote."""

    code: int
    out: str
    err: str


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder of its own for every test, with three documents."""
    monkeypatch.chdir(tmp_path)
    Path("docs").mkdir()
    Path("docs/tea.txt").write_text("Tea is a hot drink. It is brewed from leaves.")
    Path("docs/coffee.txt").write_text("Coffee is a dark drink. It is brewed from beans.")
    Path("docs/milk.md").write_text("# Milk\n\nMilk is white.\n\n## Origin\n\nCows give it.\n")


@pytest.fixture
def longform(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Result]:
    """Runs the command in this process, from its arguments to its exit code."""

    def run(*arguments: object, stdin: bytes = b"") -> Result:
        monkeypatch.setattr(sys, "argv", ["longform", *map(str, arguments)])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        with pytest.raises(SystemExit) as caught:
            main()
        out, err = capsys.readouterr()
        assert isinstance(caught.value.code, int)
        return Result(caught.value.code, out, err)

    return run


@pytest.fixture
def spawn() -> Callable[..., subprocess.Popen[bytes]]:
    """Starts the command as a process."""

    def start(*arguments: object, **options: object) -> subprocess.Popen[bytes]:
        pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
        command = [sys.executable, "-c", "from longform.cli import main; main()", *map(str, arguments)]
        return subprocess.Popen(command, **pipes)  # type: ignore[call-overload,no-any-return]

    return start
