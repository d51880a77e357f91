"""A full disk, and one that may not be written to: a sentence, nothing lost, nothing left behind."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from longform import Dense, Document, FailureError, Index, InputError, Question
from longform.retrieve import verify, write_run

PAGES = [Document("tea", "Tea", "A hot drink."), Document("milk", "Milk", "A white drink.")]


@pytest.fixture
def mount(tmp_path: Path) -> Iterator[Callable[[str], Path]]:
    """Mounts a small disk of its own; the test is skipped where that is not possible."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = False

    def mounting(options: str) -> Path:
        nonlocal mounted
        remount = "remount," if mounted else ""
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", remount + options, "tmpfs", str(disk)], capture_output=True, check=False
        )
        if done.returncode != 0:
            pytest.skip(f"no disk can be mounted here: {done.stderr.decode().strip()}")
        mounted = True
        return disk

    try:
        yield mounting
    except FileNotFoundError as error:
        pytest.skip(f"there is no {error.filename} here")
    finally:
        if mounted:
            subprocess.run(["umount", "--lazy", str(disk)], check=True)


def many(count: int = 60_000) -> Iterator[Document]:
    """More than fits: random words do not compress away."""
    for number in range(count):
        text = " ".join(f"{(number * 7919 + place * 104729) % 1_000_003:x}" for place in range(40))
        yield Document(f"new{number}", "", text)


FULL = r"^The disk that holds .*my\.index is full\. What the index held before is unharmed: free some space and run"


@pytest.mark.parametrize("size", ["64k", "1m", "3m"])
def test_a_disk_that_fills_up_while_indexing(mount: Callable[[str], Path], size: str) -> None:
    disk = mount(f"size={size}")
    with pytest.raises(FailureError, match=FULL):
        Index.create(disk / "my.index", many())
    assert not list(disk.iterdir())
    if size != "64k":
        assert len(Index.create(disk / "my.index", PAGES)) == 2


@pytest.mark.parametrize("size", ["128k", "1m", "3m"])
def test_a_disk_that_fills_up_while_adding(mount: Callable[[str], Path], size: str) -> None:
    disk = mount(f"size={size}")
    index = Index.create(disk / "my.index", PAGES)
    before = {path.name for path in index.folder.iterdir()}
    with pytest.raises(FailureError, match=FULL):
        index.add(many())
    assert {path.name for path in index.folder.iterdir()} == before
    assert verify(index.folder) == []
    assert [hit.passage.id for hit in Index.open(index.folder).search("drink", 2)] == ["milk#0", "tea#0"]
    mount("size=64m")
    index.add(many(100))
    assert len(index) == 102


def test_a_disk_that_fills_up_while_encoding(mount: Callable[[str], Path]) -> None:
    disk = mount("size=5m")
    index = Index.create(disk / "my.index", (Document(f"d{n}", "", f"word{n}") for n in range(150)))
    # Room for the words, but not for the vectors.
    mount(f"size={shutil.disk_usage(disk).used + 80_000}")
    with pytest.raises(FailureError, match=FULL):
        index.add(dense=Dense(method="ivf"))
    assert verify(index.folder) == []
    mount("size=5m")
    index.add(dense=Dense(method="ivf"))
    assert index.search("word7", 1, "dense")[0].passage.document == "d7"


def test_a_run_that_does_not_fit(mount: Callable[[str], Path], tmp_path: Path) -> None:
    disk = mount("size=64k")
    (disk / "run.trec").write_text("old")
    index = Index.create(tmp_path / "my.index", PAGES)
    questions = [Question(f"q{number}", "drink") for number in range(3000)]
    with pytest.raises(FailureError, match=r"run\.trec cannot be written: no space left on device\.$"):
        write_run(index, questions, str(disk / "run.trec"), "trec")
    assert [path.name for path in disk.iterdir()] == ["run.trec"]
    assert (disk / "run.trec").read_text() == "old"


def test_a_disk_that_may_not_be_written_to(mount: Callable[[str], Path]) -> None:
    disk = mount("size=5m")
    Index.create(disk / "my.index", PAGES)
    mount("ro")
    index = Index.open(disk / "my.index")
    assert [hit.passage.id for hit in index.search("hot", 1)] == ["tea#0"]
    assert verify(disk / "my.index") == []
    for change in (lambda: index.add(PAGES), lambda: index.remove(["tea"]), index.compact):
        with pytest.raises(InputError, match=r"my\.index cannot be written: read-only file system\.$"):
            change()
    with pytest.raises(InputError, match=r"new\.index cannot be made: read-only file system\.$"):
        Index.create(disk / "new.index", PAGES)
