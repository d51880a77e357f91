"""Asking a folder of documents."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from longform import Document, Index
from longform.answer.folders import index_cache, index_of, is_index
from longform.errors import InputError


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LONGFORM_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "tea.txt").write_text("Tea is a hot drink. It is brewed from leaves.")
    (folder / "milk.md").write_text("# Milk\n\nMilk is white.\n")
    return folder


def passages(index: Index) -> list[str]:
    return sorted(hit.passage.id for hit in index.search("hot white drink coffee", len(index)))


def test_a_folder_is_indexed_once(docs: Path, home: Path) -> None:
    index = index_of(docs)
    assert passages(index) == ["docs/milk.md#0", "docs/tea.txt#0"]
    assert index.folder.parent == index_cache() == home / "indexes"
    assert is_index(index.folder) and not is_index(docs)
    assert index_of(str(docs)).manifest.created == index.manifest.created


def test_ids_do_not_depend_on_where_one_asks_from(docs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(docs)
    assert passages(index_of(".")) == ["docs/milk.md#0", "docs/tea.txt#0"]
    monkeypatch.chdir(docs.parent)
    (docs.parent / "link").symlink_to(docs)
    created = {index_of(path).manifest.created for path in ("docs", "./docs/", "link", docs)}
    assert len(created) == 1


def test_one_file(docs: Path) -> None:
    assert passages(index_of(docs / "tea.txt")) == ["tea.txt#0"]


@pytest.mark.parametrize("change", ["text", "time", "new", "gone"])
def test_what_changed_is_indexed_anew(docs: Path, change: str) -> None:
    before = index_of(docs)
    if change == "text":
        (docs / "tea.txt").write_text("Coffee is a hot drink.")
    elif change == "time":
        os.utime(docs / "tea.txt", ns=(1, 1))
    elif change == "new":
        (docs / "coffee.txt").write_text("Coffee is a hot drink.")
    else:
        (docs / "tea.txt").unlink()
    after = index_of(docs)
    assert after.folder == before.folder
    assert after.manifest.generation > before.manifest.generation or after.manifest.created != before.manifest.created
    texts = {hit.passage.text for hit in after.search("hot white drink coffee", len(after))}
    assert ("Coffee is a hot drink." in texts) == (change in ("text", "new"))
    assert len(after) == {"text": 2, "time": 2, "new": 3, "gone": 1}[change]
    # Who had opened the old one can still read it.
    assert any("Tea" in hit.passage.text for hit in before.search("hot tea", 1))


def test_an_index_is_taken_as_it_is(tmp_path: Path, home: Path) -> None:
    made = Index.create(tmp_path / "my.index", [Document("a", "A", "Tea is hot.")])
    assert index_of(tmp_path / "my.index").folder == made.folder
    assert not home.exists()


def test_files_that_cannot_be_read_are_told_and_left_out(docs: Path) -> None:
    (docs / "broken.pdf").write_bytes(b"no pdf")
    bad: list[InputError] = []
    assert passages(index_of(docs, on_bad=bad.append)) == ["docs/milk.md#0", "docs/tea.txt#0"]
    assert len(bad) == 1 and "broken.pdf" in str(bad[0])
    assert passages(index_of(docs)) == ["docs/milk.md#0", "docs/tea.txt#0"]


def test_places_that_hold_nothing(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no index and no folder of documents at nowhere: `longform index` makes"):
        index_of("nowhere")
    with pytest.raises(InputError, match=r"at \(an empty name\)"):
        index_of("")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=r"empty holds no readable file"):
        index_of(tmp_path / "empty")
    (tmp_path / "empty" / "a.txt").write_text("  \n")
    with pytest.raises(InputError, match=r"empty holds no text that Longform can read"):
        index_of(tmp_path / "empty")
    (tmp_path / "photo.png").write_bytes(b"")
    with pytest.raises(InputError, match=r"photo.png is of no readable type"):
        index_of(tmp_path / "photo.png")
    (tmp_path / "half").mkdir()
    (tmp_path / "half" / "pending.json").write_text("{}")
    with pytest.raises(InputError, match=r"half was never finished"):
        index_of(tmp_path / "half")


def test_a_killed_making_is_not_taken_for_whole(docs: Path) -> None:
    index = index_of(docs)
    note = index.folder.with_suffix(".json")
    note.unlink()  # As it is while an index is being made.
    (docs / "tea.txt").write_text("Coffee is a hot drink.")
    assert "Coffee is a hot drink." in {hit.passage.text for hit in index_of(docs).search("coffee", 2)}
    assert note.is_file()


SCRIPT = """
import sys, time
from longform import Index
from longform.answer.folders import index_of
make = Index.create
def create(*arguments, **options):
    print("made", flush=True)
    time.sleep(0.3)  # long enough for the other to come
    return make(*arguments, **options)
Index.create = create
print("ready", flush=True)
sys.stdin.readline()
print(len(index_of(sys.argv[1])))
"""


def test_two_at_once_make_one_index(docs: Path) -> None:
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    both = [subprocess.Popen([sys.executable, "-c", SCRIPT, str(docs)], **pipes) for _ in range(2)]  # type: ignore[call-overload]
    for one in both:
        assert one.stdout.readline() == "ready\n"
    for one in both:
        one.stdin.write("\n")
        one.stdin.flush()
    printed = [one.communicate(timeout=60)[0].split() for one in both]
    assert sorted(printed) == [["2"], ["made", "2"]]
