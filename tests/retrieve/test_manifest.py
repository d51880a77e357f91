"""The manifest: a round trip, and one sentence for everything else that may stand in its place."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from longform import Document, FailureError, Index, InputError, LongformError
from longform.retrieve.manifest import FORMAT, MANIFEST, DenseSettings, FileRecord, Manifest, PartRecord, read_manifest

STATE = Manifest(
    generation=3,
    passages=10,
    documents=4,
    rows=12,
    words=100,
    created="2024-01-01T00:00:00+00:00",
    updated="2024-01-02T00:00:00+00:00",
    longform="0.1.0",
    parts=(PartRecord("part-000001", 5), PartRecord("part-000003", 7)),
    bm25="bm25-000003",
    deleted="deleted-000003.u64",
    dense=DenseSettings("encoder", "f" * 64, 384, "ivf", False, "dense-000003.faiss"),
    fingerprint=None,
    files={"part-000001/ids.bin": FileRecord(7, "0" * 64)},
    retired=("bm25-000002",),
)


def change(folder: Path, **fields: Any) -> None:
    """Write a manifest with other values, as another version of Longform would."""
    row = {**STATE.to_json(), **fields}
    (folder / MANIFEST).write_text(json.dumps({key: value for key, value in row.items() if value is not ...}))


def test_a_round_trip(tmp_path: Path) -> None:
    STATE.write(tmp_path)
    assert read_manifest(tmp_path) == STATE
    assert STATE.names() == {
        "part-000001",
        "part-000003",
        "bm25-000003",
        "deleted-000003.u64",
        "dense-000003.faiss",
    }


def test_a_newer_format(tmp_path: Path) -> None:
    change(tmp_path, format=FORMAT + 1, something_new=1)
    with pytest.raises(InputError) as caught:
        Index.open(tmp_path)
    assert (
        str(caught.value)
        == f"{tmp_path} has index format 2, newer than the 1 that this Longform reads: upgrade Longform."
    )
    with pytest.raises(InputError, match=r"upgrade Longform\.$"):
        Index.create(tmp_path, [Document("a", "", "Text.")], overwrite=True)


@pytest.mark.parametrize(
    "data",
    [b"", b"{", b"[]", b"null", b"7", b'"format"', b"{}", b'{"format": 1}', b"\xff\xfe", b'{"format": 1, "parts": 3}'],
)
def test_what_is_no_manifest(tmp_path: Path, data: bytes) -> None:
    (tmp_path / MANIFEST).write_bytes(data)
    with pytest.raises(FailureError) as caught:
        read_manifest(tmp_path)
    assert str(caught.value) == (
        f"{tmp_path}/{MANIFEST} is damaged: restore it from a copy, or build the index anew with --overwrite."
    )


@pytest.mark.parametrize("fields", [{"parts": 5}, {"files": []}, {"dense": "x"}, {"retired": ...}, {"colour": "red"}])
def test_fields_of_another_kind(tmp_path: Path, fields: dict[str, Any]) -> None:
    change(tmp_path, **fields)
    with pytest.raises(FailureError, match=r"is damaged"):
        read_manifest(tmp_path)


def test_any_flipped_byte_is_noticed(tmp_path: Path) -> None:
    STATE.write(tmp_path)
    data = (tmp_path / MANIFEST).read_bytes()
    for place in range(0, len(data), 3):
        flipped = bytearray(data)
        flipped[place] ^= 0x01
        (tmp_path / MANIFEST).write_bytes(flipped)
        # White space between fields may change and mean the same.
        with suppress(LongformError):
            assert read_manifest(tmp_path) == STATE


def test_wrong_places(tmp_path: Path) -> None:
    missing, file, empty = tmp_path / "missing", tmp_path / "file", tmp_path / "empty"
    file.touch()
    empty.mkdir()
    for place, sentence in {
        missing: f"{missing} does not exist: make it with `longform index DOCS -o {missing}`.",
        file: f"{file} is a file, not an index folder.",
        empty: f"{empty} is not a Longform index (it has no {MANIFEST}): name a folder that `longform index` made.",
    }.items():
        with pytest.raises(InputError) as caught:
            Index.open(place)
        assert str(caught.value) == sentence


def test_an_index_that_was_never_finished(tmp_path: Path) -> None:
    (tmp_path / "pending.json").write_text("{}")
    with pytest.raises(InputError, match=r"was never finished: run the same `longform index` command again"):
        read_manifest(tmp_path)


def test_a_manifest_that_is_a_folder(tmp_path: Path) -> None:
    (tmp_path / MANIFEST).mkdir()
    with pytest.raises(InputError, match=r"cannot be read: is a directory\.$"):
        read_manifest(tmp_path)
