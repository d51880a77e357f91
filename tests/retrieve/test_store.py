"""Parts: what is written comes back, from any row; what was not flushed is cut off; damage is told as such."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longform import FailureError, Passage
from longform.retrieve.keys import key_of, keys_of
from longform.retrieve.store import PART_FILES, Entry, PartReader, PartWriter

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)


def passages(count: int, size: int = 500) -> list[Passage]:
    """Passages of about ``size`` characters, each of its own text."""
    return [
        Passage(f"d{n // 3}#{n % 3}", f"d{n // 3}", f"T{n}", f"{n} " * (size // 4), n, n + 1, f"s{n}" if n % 2 else "")
        for n in range(count)
    ]


def append(writer: PartWriter, items: list[Passage], cut: bool = True) -> None:
    writer.append([Entry(item, cut) for item in items], keys_of(item.id for item in items))


def write(folder: Path, items: list[Passage]) -> None:
    writer = PartWriter(folder)
    append(writer, items)
    writer.flush()
    writer.close()


@given(items=st.lists(st.tuples(TEXT, TEXT, TEXT, TEXT), max_size=6))
@settings(max_examples=60, deadline=None)
def test_any_text_and_any_id_come_back(tmp_path_factory: pytest.TempPathFactory, items: list[tuple[str, ...]]) -> None:
    folder = tmp_path_factory.mktemp("part")
    stored = [Passage(key, document, title, text, 0, len(text)) for key, document, title, text in items]
    write(folder, stored)
    part = PartReader(folder)
    assert list(part.passages()) == stored
    assert [part.id(row) for row in range(len(part))] == [passage.id for passage in stored]
    assert [part.passage(row) for row in range(len(part))] == stored


def test_rows_are_found_across_blocks(tmp_path: Path) -> None:
    items = passages(400)
    write(tmp_path, items)
    part = PartReader(tmp_path)
    assert len(part) == 400
    assert len(part._block_rows) > 4
    for start, stop in [(0, None), (1, 399), (399, None), (400, None), (67, 68), (5, 5), (120, 300)]:
        assert list(part.passages(start, stop)) == items[start:stop]
    assert [part.passage(row) for row in (399, 0, 200, 66, 65)] == [items[row] for row in (399, 0, 200, 66, 65)]


def test_keys_of_ids_and_documents_stand_beside_them(tmp_path: Path) -> None:
    writer = PartWriter(tmp_path)
    append(writer, passages(3))
    append(writer, [Passage("x", "y", "", "z", 0, 1)], cut=False)
    writer.flush()
    writer.close()
    part = PartReader(tmp_path)
    assert part.keys.tolist() == [key_of(name) for name in ("d0#0", "d0#1", "d0#2", "x")]
    assert part.document_keys.tolist() == [key_of(name) for name in ("d0", "d0", "d0", "y")]
    assert part.is_cut.tolist() == [True, True, True, False]


def test_an_empty_part(tmp_path: Path) -> None:
    write(tmp_path, [])
    assert (len(PartReader(tmp_path)), list(PartReader(tmp_path).passages())) == (0, [])


def test_what_came_after_the_last_flush_is_cut_off(tmp_path: Path) -> None:
    items = passages(300)
    writer = PartWriter(tmp_path)
    append(writer, items[:100])
    sizes = writer.flush()
    append(writer, items[100:250])
    writer.close()
    again = PartWriter(tmp_path, sizes)
    assert again.rows == 100
    append(again, items[100:])
    again.flush()
    again.close()
    assert list(PartReader(tmp_path).passages()) == items


@pytest.mark.parametrize("name", PART_FILES)
@pytest.mark.parametrize("damage", ["truncate", "empty", "flip"])
def test_damage_is_a_sentence_or_does_no_harm(tmp_path: Path, name: str, damage: str) -> None:
    items = passages(200)
    folder = tmp_path / "my.index" / "part-000001"
    write(folder, items)
    data = bytearray((folder / name).read_bytes())
    data[len(data) // 2] ^= 0x55
    kept = {"truncate": len(data) // 2 - 1, "empty": 0, "flip": len(data)}[damage]
    (folder / name).write_bytes(data[:kept])
    try:
        part = PartReader(folder)
        found = [(part.id(row), part.passage(row)) for row in range(len(part))]
    except FailureError as error:
        assert str(error) == f"{folder} is damaged: `longform info {folder.parent}` says more."
    else:
        assert len(found) <= 200


def test_a_missing_file_names_itself(tmp_path: Path) -> None:
    write(tmp_path, passages(2))
    (tmp_path / "keys.u64").unlink()
    with pytest.raises(FileNotFoundError, match=r"keys\.u64"):
        PartReader(tmp_path)


def test_ids_are_stored_one_after_the_other(tmp_path: Path) -> None:
    write(tmp_path, passages(4))
    assert (tmp_path / "ids.bin").read_bytes() == b"d0#0d0#1d0#2d1#0"
    assert np.fromfile(tmp_path / "ids.u64", "<u8").tolist() == [4, 8, 12, 16]


def test_many_threads_read_one_part(tmp_path: Path) -> None:
    """A decompressor that threads share gives one of them the other's bytes, or an error."""
    items = passages(600)
    write(tmp_path, items)
    reader = PartReader(tmp_path)

    def read_all(start: int) -> bool:
        return all(list(reader.passages(row, row + 40)) == items[row : row + 40] for row in range(start, 560, 40))

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(read_all, [0, 10, 20, 30] * 25))
