"""Whatever happens to any file of an index is noticed, and searching it anyway ends in a sentence, never in a trace."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from longform import Dense, Document, Index, LongformError
from longform.retrieve import is_pending, verify
from longform.retrieve.manifest import MANIFEST

PAGES = [Document(f"d{n}", f"Title {n}", f"Sentence number {n} about tea. Another one about milk.") for n in range(30)]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index with vectors, two parts, deleted rows and inverted lists: one of every kind of file."""
    index = Index.create(tmp_path_factory.mktemp("whole") / "my.index", PAGES[:20], dense=Dense(method="ivf"))
    index.add(PAGES[15:])
    index.remove(["d3"])
    return index.folder


def files(folder: Path) -> list[Path]:
    return [
        path.relative_to(folder)
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.name.endswith(".lock") and path.name != MANIFEST
    ]


def test_a_whole_index(whole: Path) -> None:
    assert verify(whole) == []
    assert verify(whole, checksums=False) == []
    assert not is_pending(whole)
    kinds = {path.suffix for path in files(whole)}
    assert {".zst", ".u64", ".bin", ".f16", ".faiss", ".json"} <= kinds


def test_progress_reaches_the_end(whole: Path) -> None:
    seen: list[tuple[int, int | None]] = []
    verify(whole, progress=lambda stage, done, total=None: seen.append((done, total)))
    assert seen[-1][0] == seen[-1][1] == sum(record.bytes for record in Index.open(whole).manifest.files.values())


def search(folder: Path) -> None:
    index = Index.open(folder)
    index.search(["tea", "milk number 7"], 20, "hybrid")
    list(index)


def assert_told(attempt: Callable[[], object]) -> None:
    """What is damaged may be used, or the damage is told in a sentence."""
    try:
        attempt()
    except LongformError as error:
        assert str(error).endswith("says more.")
        assert "\n" not in str(error)


@pytest.mark.parametrize("damage", ["truncate", "flip", "delete", "empty"])
def test_every_file_in_turn(whole: Path, tmp_path: Path, damage: str) -> None:
    folder = tmp_path / "my.index"
    shutil.copytree(whole, folder)
    manifest = Index.open(whole).manifest
    for name in files(whole):
        path, original = folder / name, (folder / name).read_bytes()
        if name.as_posix() not in manifest.files or not original:
            continue
        # A new file each time: a file that an earlier search has mapped must not shrink under it.
        path.unlink()
        if damage != "delete":
            data = bytearray(original)
            data[len(data) // 2] ^= 0x41
            path.write_bytes({"truncate": original[: len(original) // 2], "flip": bytes(data), "empty": b""}[damage])
        problems = verify(folder)
        assert problems[0].startswith(f"{name.as_posix()} "), problems
        assert problems[0].endswith(
            {
                "delete": "is missing.",
                "flip": "has changed: its checksum is not the recorded one.",
            }.get(damage, f"instead of {len(original):,}.")
        )
        assert_told(lambda: verify(folder, checksums=False))
        assert_told(lambda: search(folder))
        path.unlink(missing_ok=True)
        path.write_bytes(original)
    assert verify(folder) == []


def test_files_that_are_not_of_one_mind(tmp_path: Path) -> None:
    first = Index.create(tmp_path / "a.index", PAGES[:5])
    second = Index.create(tmp_path / "b.index", PAGES[:7])
    (first.folder / "part-000001").rename(first.folder / "away")
    shutil.copytree(second.folder / "part-000001", first.folder / "part-000001")
    assert any(problem.startswith("part-000001/") for problem in verify(first.folder))
    with pytest.raises(LongformError, match=r"part-000001 is damaged: `longform info .*a\.index` says more\.$"):
        Index.open(first.folder)


def test_an_unfinished_change_is_no_damage(tmp_path: Path) -> None:
    index = Index.create(tmp_path / "my.index", PAGES[:3])
    (index.folder / "pending.json").write_text("{}")
    (index.folder / "part-000002").mkdir()
    assert verify(index.folder) == []
    assert is_pending(index.folder)
    index.add(PAGES[3:4])
    assert (is_pending(index.folder), len(index)) == (False, 4)
