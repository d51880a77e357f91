"""An index survives ``kill -9`` at any moment: it is in the old state or in the new one, and a rerun goes on."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from longform import Index, InputError
from longform.retrieve import verify

pytestmark = pytest.mark.slow

# Checkpoints every 2,000 rows and commits every 6,000, so that kills fall between them, and a log of what is encoded.
CHILD = """
import sys, longform.retrieve.transaction as transaction, longform.retrieve.vectors as vectors
transaction._CHECKPOINT_ROWS, transaction._COMMIT_ROWS, vectors._WINDOW = 2000, 6000, 16
from longform.models import Encoder
encode, log = Encoder.encode, sys.argv[1]
def logged(self, texts, **options):
    result = encode(self, texts, **options)
    open(log, "a").write(f"{len(texts)}\\n")
    return result
Encoder.encode = logged
sys.argv[:2] = ["longform"]
from longform.cli import main
main()
"""

WORDS = [f"{first}{last}" for first in ("ba", "ko", "li", "mu", "ze", "tro") for last in ("r", "n", "stic", "ly", "x")]


def write_rows(path: Path, first: int, count: int, salt: str) -> None:
    chance = random.Random(salt)
    with path.open("w") as file:
        for number in range(first, first + count):
            text = " ".join(chance.choices(WORDS, k=40)) + f" {salt} n{number}"
            file.write(json.dumps({"id": f"r{number}", "title": f"T{number % 7}", "text": text}) + "\n")


def start(log: Path, *arguments: str | Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", CHILD, str(log), *map(str, arguments)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def finish(log: Path, *arguments: str | Path) -> float:
    began = time.monotonic()
    child = start(log, *arguments)
    _, errors = child.communicate(timeout=300)
    assert child.returncode == 0, errors.decode()
    return time.monotonic() - began


def kill_after(seconds: float, log: Path, *arguments: str | Path) -> bool:
    """Run the command and kill it; says whether it had already finished."""
    child = start(log, *arguments)
    try:
        child.wait(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()
        return False
    assert child.returncode == 0, child.stderr.read().decode() if child.stderr else ""
    return True


def contents(index: Index) -> tuple[list[tuple[str, str]], list[list[tuple[str, float]]]]:
    """The passages in order, and some rankings."""
    passages = [(passage.id, passage.text) for passage in index]
    questions = [" ".join(random.Random(seed).choices(WORDS, k=3)) for seed in range(5)]
    hits = index.search(questions, 20, "bm25")
    return passages, [[(hit.passage.id, round(hit.score, 3)) for hit in found] for found in hits]


def test_index_killed_at_random_moments(tmp_path: Path, long_form: bool) -> None:
    rows, log = tmp_path / "rows.jsonl", tmp_path / "log"
    write_rows(rows, 0, 30_000, "old")
    whole = finish(log, "index", rows, "--passages", "-o", tmp_path / "whole.index")
    expected = contents(Index.open(tmp_path / "whole.index"))
    chance = random.Random(1)
    finished = 0
    kills = 0
    while kills < (60 if long_form else 12):
        target = tmp_path / f"killed{finished}.index"
        if kill_after(chance.uniform(0.1, 1.0) * whole, log, "index", rows, "--passages", "-o", target):
            assert contents(Index.open(target)) == expected
            finished += 1
            continue
        kills += 1
        if target.exists() and (target / "longform.json").exists():
            assert verify(target) == []
            assert contents(Index.open(target)) == expected
        elif target.exists():
            with pytest.raises(InputError, match=r"never finished|not a Longform index"):
                Index.open(target)
    finish(log, "index", rows, "--passages", "-o", tmp_path / f"killed{finished}.index")
    assert contents(Index.open(tmp_path / f"killed{finished}.index")) == expected


def test_add_killed_at_random_moments(tmp_path: Path, long_form: bool) -> None:
    old, new, log = tmp_path / "old.jsonl", tmp_path / "new.jsonl", tmp_path / "log"
    write_rows(old, 0, 10_000, "old")
    write_rows(new, 5_000, 15_000, "new")
    index = tmp_path / "my.index"
    finish(log, "index", old, "--passages", "-o", index)
    before = contents(Index.open(index))
    reader = Index.open(index)
    chance = random.Random(2)
    duration = 3.0
    for _ in range(60 if long_form else 12):
        began = time.monotonic()
        done = kill_after(chance.uniform(0.05, 1.0) * duration, log, "add", index, new, "--passages")
        assert verify(index) == []
        now = contents(Index.open(index))
        if done:
            duration = time.monotonic() - began
        if now != before:
            assert len(now[0]) == 20_000
            assert {text.split()[-2] for name, text in now[0] if int(name[1:]) >= 5_000} == {"new"}
            assert contents(reader) == before, "a reader keeps the state that it opened"
            break
    finish(log, "add", index, new, "--passages")
    assert verify(index) == []
    after = contents(Index.open(index))
    assert len(after[0]) == 20_000
    Index.open(index).compact()
    fresh = tmp_path / "fresh.index"
    Index.create(fresh, iter(Index.open(index)))
    assert contents(Index.open(index)) == contents(Index.open(fresh))


def test_encoding_goes_on_where_it_was_killed(tmp_path: Path) -> None:
    rows, log, index = tmp_path / "rows.jsonl", tmp_path / "log", tmp_path / "my.index"
    write_rows(rows, 0, 320, "dense")
    chance = random.Random(3)
    kills = 0
    log.touch()
    # A little more time after every kill, so that the slowest machine gets there.
    while not kill_after(
        chance.uniform(1.0, 4.0) + kills / 8, log, "index", rows, "--passages", "--dense", "-o", index
    ):
        kills += 1
        assert kills < 60
    encoded = sum(map(int, log.read_text().split()))
    # A window is lost at most per kill: the one that was encoded but not yet on disk.
    assert 320 <= encoded <= 320 + 16 * kills
    assert verify(index) == []
    assert [hit.passage.id for hit in Index.open(index).search("n17", 1, "bm25")] == ["r17"]
    assert len(Index.open(index).search("anything at all", 10, "dense")) == 10
