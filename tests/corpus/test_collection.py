"""A collection: in order, the same each time, from any position, and known by its fingerprint."""

from __future__ import annotations

import io
import json
import os
import sys
from pathlib import Path

import pytest

from longform import Document, InputError, ReadOptions, read
from longform.retrieve.build import Resumable


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("docs").mkdir()
    Path("docs/a.txt").write_text("A.")
    Path("docs/b.jsonl").write_text("".join(json.dumps({"id": n, "text": f"t{n}"}) + "\n" for n in range(5)))
    Path("docs/c.txt").write_text("C.")
    Path("docs/empty.txt").write_text("")
    Path("docs/photo.png").write_bytes(b"png")


def fingerprint(*arguments: str, **options: object) -> str | None:
    return read(*arguments, options=ReadOptions(**options)).fingerprint  # type: ignore[arg-type]


def test_it_can_be_read_again_and_again() -> None:
    collection = read("docs")
    first = [item.id for item in collection]
    assert first == ["docs/a.txt", "0", "1", "2", "3", "4", "docs/c.txt"]
    assert [item.id for item in collection] == first
    assert dict(collection.skipped) == {".png": 1}
    assert isinstance(collection, Resumable)


def test_reading_goes_on_after_any_position() -> None:
    collection = read("docs")
    items = list(collection.items((0, 0)))
    assert [position for position, _ in items] == [(0, 1), *((1, n) for n in range(1, 6)), (2, 1)]
    for number, (position, _) in enumerate(items):
        assert list(collection.items(position)) == items[number + 1 :]


def test_a_position_counts_good_rows_only() -> None:
    Path("docs/b.jsonl").write_text('{"id": 1, "text": "x"}\nbroken\n{"id": 2, "text": "y"}\n{"id": 3, "text": "z"}\n')
    seen: list[InputError] = []
    collection = read("docs/b.jsonl", options=ReadOptions(skip_bad=True), on_bad=seen.append)
    assert [item.id for _, item in collection.items((0, 2))] == ["3"]
    assert [str(error) for error in seen] == [
        "docs/b.jsonl:2: broken JSON at column 1: unexpected character, expected a JSON value."
    ]


def test_the_fingerprint_tells_other_inputs_apart() -> None:
    before = fingerprint("docs")
    assert before == fingerprint("docs")
    assert before == fingerprint("docs", skip_bad=True)
    assert before == fingerprint("docs", "docs/a.txt"), "a file given twice counts once"
    others = [
        fingerprint("docs/a.txt"),
        fingerprint("docs/c.txt", "docs/a.txt"),
        fingerprint("docs/a.txt", "docs/c.txt"),
        fingerprint("docs", text_field="body"),
        fingerprint("docs/b.jsonl"),
        fingerprint("docs/b.jsonl", passages=True),
    ]
    os.utime("docs/a.txt", ns=(1, 1))
    others.append(fingerprint("docs"))
    Path("docs/d.md").write_text("# D")
    others.append(fingerprint("docs"))
    assert len({before, *others}) == len(others) + 1
    assert None not in others


def test_standard_input_has_no_fingerprint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b'{"id": "x", "text": "y"}')))
    collection = read("-", "docs/a.txt")
    assert collection.fingerprint is None
    assert list(collection) == [Document("x", "", "y"), Document("docs/a.txt", "a", "A.")]


def test_standard_input_that_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(InputError, match=r"^Standard input is closed: pipe JSONL into it, or name files\.$"):
        list(read("-"))


def test_nothing_to_read() -> None:
    with pytest.raises(InputError, match=r"^Nothing to read: name files, folders, globs, or - for JSONL on standard"):
        read()


def test_an_unfinished_index_among_documents_is_passed_over() -> None:
    before = fingerprint("docs")
    Path("docs/my.index/part-000001").mkdir(parents=True)
    Path("docs/my.index/pending.json").write_text("{}")
    Path("docs/my.index/part-000001/meta.json").write_text("{}")
    assert fingerprint("docs") == before
    with pytest.raises(InputError, match=r"docs/my\.index is a Longform index and no folder of documents"):
        read("docs/my.index")
