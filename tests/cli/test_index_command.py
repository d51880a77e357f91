"""``longform index``: what it makes, what it says, and that doing it again does no harm."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from longform import Index
from longform.retrieve import verify

Run = Callable[..., Any]


def test_it_makes_an_index(longform: Run) -> None:
    result = longform("index", "docs", "-o", "my.index")
    assert result.code == 0
    assert result.err == ""
    assert result.out.startswith("Indexed my.index: it holds 3 passages of 3 documents (")
    assert [passage.id for passage in Index.open("my.index")] == [
        "docs/coffee.txt#0",
        "docs/milk.md#0",
        "docs/tea.txt#0",
    ]
    assert verify(Path("my.index")) == []


def test_json(longform: Run) -> None:
    row = json.loads(longform("index", "docs/tea.txt", "-o", "my.index", "--json").out)
    assert (row["index"], row["passages"], row["documents"], row["dense"]) == ("my.index", 1, 1, False)


def test_words(longform: Run) -> None:
    longform("index", "docs", "-o", "my.index", "--words", 5)
    assert len(Index.open("my.index")) == 6


def test_passages_are_kept_whole(longform: Run) -> None:
    Path("rows.jsonl").write_text('{"id": "x", "title": "T", "text": "One. Two. Three."}\n')
    longform("index", "rows.jsonl", "--passages", "--words", 1, "-o", "my.index")
    assert [passage.id for passage in Index.open("my.index")] == ["x"]


def test_standard_input(longform: Run) -> None:
    rows = b'{"id": "x y", "text": "One."}\n{"text": "No title, no id."}\n'
    assert longform("index", "-", "-o", "my.index", stdin=rows).code == 0
    assert [passage.document for passage in Index.open("my.index")] == ["x y", "stdin:2"]


def test_running_it_again_does_nothing_and_other_inputs_are_refused(longform: Run) -> None:
    longform("index", "docs", "-o", "my.index")
    state = Path("my.index/longform.json").read_bytes()
    assert longform("index", "docs", "-o", "my.index").code == 0
    assert Path("my.index/longform.json").read_bytes() == state
    assert longform("index", "docs/tea.txt", "-o", "my.index").code == 2
    assert Path("my.index/longform.json").read_bytes() == state
    assert longform("index", "docs/tea.txt", "-o", "my.index", "--overwrite").code == 0
    assert len(Index.open("my.index")) == 1


def test_an_index_among_its_documents(longform: Run) -> None:
    assert longform("index", ".", "-o", "docs/my.index").code == 0
    assert longform("index", ".", "-o", "docs/my.index").code == 0
    assert len(Index.open("docs/my.index")) == 3


def test_skip_bad_counts_and_goes_on(longform: Run) -> None:
    lines = ['{"id": "a", "text": "One."}', "{broken", '{"id": "a", "text": "Again."}', '{"id": "b"}', "7"]
    Path("rows.jsonl").write_text("\n".join(lines))
    Path("docs/bad.txt").write_bytes(b"caf\xe9")
    Path("docs/scan.pdf").write_bytes(b"no PDF")
    Path("docs/photo.png").touch()
    result = longform("index", "rows.jsonl", "docs", "-o", "my.index", "--skip-bad")
    assert result.code == 0
    assert "Skipped: rows.jsonl:2: broken JSON at column 2: " in result.err
    assert "Skipped: The id 'a' occurs twice: every document needs an id of its own." in result.err
    assert "Skipped 6 rows or files that could not be read." in result.err
    assert "Left out 1 files of types that Longform does not read: .png × 1." in result.err
    assert len(Index.open("my.index")) == 4


def test_only_the_first_bad_rows_are_shown(longform: Run) -> None:
    Path("rows.jsonl").write_text('{"text": "One."}\n' + "x\n" * 500)
    errors = longform("index", "rows.jsonl", "-o", "my.index", "--skip-bad").err.splitlines()
    assert len(errors) == 12
    assert errors[-2:] == [
        "Skipped: … and more; the number of them comes at the end.",
        "Skipped 500 rows or files that could not be read.",
    ]


def test_a_place_with_an_odd_name(longform: Run) -> None:
    assert longform("index", "docs", "-o", "a b/çé 茶.index").code == 0
    assert longform("search", "a b/çé 茶.index", "hot").code == 0


def test_with_vectors_again_and_again(longform: Run) -> None:
    for _ in range(2):
        result = longform("index", "docs", "-o", "my.index", "--dense")
        assert result.code == 0
        assert "3 documents, with vectors (" in result.out
    assert Index.open("my.index").manifest.generation == 1


def big(path: str, rows: int = 200_000) -> None:
    text = " ".join(f"w{number}" for number in range(40))
    Path(path).write_text("".join(f'{{"id": {n}, "text": "{text} n{n}"}}\n' for n in range(rows)))


@pytest.mark.parametrize("command", ["index", "add"])
def test_interrupted(longform: Run, spawn: Callable[..., subprocess.Popen[bytes]], command: str) -> None:
    big("rows.jsonl")
    longform("index", "docs", "-o", "old.index")
    target = ["-o", "new.index", "rows.jsonl"] if command == "index" else ["old.index", "rows.jsonl"]
    process = spawn(command, *target, "--passages")
    pending = Path("new.index" if command == "index" else "old.index", "pending.json")
    deadline = time.monotonic() + 20
    while not pending.exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err) == (130, b"", b"\nInterrupted.\n")
    assert verify(Path("old.index")) == []
    assert len(Index.open("old.index")) == 3
    assert not Path("new.index").exists()
    assert not Path("old.index/pending.json").exists()


def test_two_at_once(longform: Run, spawn: Callable[..., subprocess.Popen[bytes]]) -> None:
    big("rows.jsonl", 100_000)
    processes = [spawn("index", "rows.jsonl", "--passages", "-o", "my.index") for _ in range(2)]
    ended = [process.communicate(timeout=60) for process in processes]
    codes = sorted(process.returncode for process in processes)
    assert codes in ([0, 2], [0, 0]), ended
    if codes == [0, 2]:
        message = next(err for process, (_, err) in zip(processes, ended, strict=True) if process.returncode == 2)
        assert b"Another process is writing to my.index: wait until it has finished" in message
    assert len(Index.open("my.index")) == 100_000
    assert verify(Path("my.index")) == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_not_be_written_to(longform: Run) -> None:
    longform("index", "docs", "-o", "my.index")
    for path in (*Path("my.index").rglob("*"), Path("my.index")):
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        assert longform("search", "my.index", "hot").code == 0
        result = longform("add", "my.index", "docs")
        assert (result.code, result.err) == (2, "Error: my.index cannot be written: permission denied.\n")
    finally:
        for path in (Path("my.index"), *Path("my.index").rglob("*")):
            path.chmod(0o755 if path.is_dir() else 0o644)
