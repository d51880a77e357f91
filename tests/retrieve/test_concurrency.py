"""One writer at a time, any number of readers, in processes of their own."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from longform import Document, Index, InputError
from longform.retrieve import verify
from longform.retrieve.writing import writing

WRITER = """
import sys
from longform import Document, Index
index = Index.open(sys.argv[1])
for number in range(int(sys.argv[2])):
    index.add([Document(f"new{number % 5}", "New", f"tea version {number}. " + "milk. " * (number % 7))])
    if number % 4 == 3:
        index.compact()
    if number % 6 == 5:
        index.remove([f"new{number % 5}"])
"""

READER = """
import sys, time
from longform import Index
from longform.retrieve import verify
end, states = time.monotonic() + float(sys.argv[2]), set()
while time.monotonic() < end:
    index = Index.open(sys.argv[1])
    hits = index.search("tea", min(len(index), 30))
    assert {hit.passage.id for hit in hits} >= {f"d{n}#0" for n in range(10)}, hits
    assert len(list(index)) == len(index)
    assert [hit.passage.document for hit in index.search("stone", 1)] == ["d0"]
    states.add(index.manifest.generation)
    problems = verify(index.folder)
    assert problems == [], problems
print(len(states))
"""


def start(code: str, *arguments: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    pages = [Document(f"d{number}", "Tea", "tea" if number else "tea stone") for number in range(10)]
    return Index.create(tmp_path / "my.index", pages).folder


def test_readers_while_a_writer_publishes_again_and_again(folder: Path) -> None:
    reader = Index.open(folder)
    writer = start(WRITER, folder, 18)
    readers = [start(READER, folder, 3) for _ in range(2)]
    for process in (*readers, writer):
        output, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors
        if process is not writer:
            assert int(output) > 1, "the readers have seen several states"
    assert len(reader) == 10
    assert len(reader.search("tea", 10)) == 10
    assert verify(folder) == []
    assert Index.open(folder).manifest.generation > 18


HOLDER = """
import sys
from pathlib import Path
from longform.retrieve.writing import writing
with writing(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_second_writer_is_told_at_once(folder: Path) -> None:
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    index = Index.open(folder)
    sentence = rf"^Another process is writing to {folder}: wait until it has finished, then run this again\.$"
    began = time.monotonic()
    for change in (
        lambda: index.add([Document("x", "", "Text.")]),
        lambda: index.remove(["d1"]),
        index.compact,
        lambda: Index.create(folder, [Document("x", "", "Text.")], overwrite=True),
    ):
        with pytest.raises(InputError, match=sentence):
            change()
    assert time.monotonic() - began < 5
    assert len(index.search("tea", 10)) == 10
    # However the holder ends, the lock goes with it.
    holder.kill()
    holder.wait()
    index.remove(["d1"])
    assert len(index) == 9


def test_two_writers_of_one_process(folder: Path) -> None:
    with writing(folder), pytest.raises(InputError, match=r"^Another process is writing to"):
        Index.open(folder).remove(["d1"])
    Index.open(folder).remove(["d1"])
