"""Plain text files, compression, encodings, and what breaks in them."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Callable
from pathlib import Path

import pytest

from longform.corpus import streams
from longform.corpus.read import ReadOptions, read_documents
from longform.corpus.sources import Source, find_sources
from longform.errors import InputError
from longform.records import Document, Passage


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def read(name: str, data: bytes, options: ReadOptions | None = None) -> list[Document | Passage]:
    Path(name).write_bytes(data)
    return list(read_documents(find_sources([name]).files[0], options))


def message(name: str, data: bytes, options: ReadOptions | None = None) -> str:
    with pytest.raises(InputError) as caught:
        read(name, data, options)
    return str(caught.value)


def test_the_text_is_the_file_itself() -> None:
    data = b"  One.\r\nTwo.\rThree\n\n\tFour \xc3\xa9\0.\n"
    assert read("early-years.txt", data) == [Document("early-years.txt", "early years", data.decode())]


@pytest.mark.parametrize("mark", ["utf-8-sig", "utf-16"])
def test_a_byte_order_mark_is_not_text(mark: str) -> None:
    (document,) = read("a.txt", "Zürich\r\n".encode(mark))
    assert document.text == "Zürich\r\n"


@pytest.mark.parametrize(
    ("suffix", "compress"), [(".gz", gzip.compress), (".bz2", bz2.compress), (".xz", lzma.compress)]
)
def test_compressed_text(suffix: str, compress: Callable[[bytes], bytes]) -> None:
    name = f"a_b.txt{suffix}"
    assert read(name, compress(b"One.\n")) == [Document(name, "a b", "One.\n")]


@pytest.mark.parametrize("data", [b"", b" \n\t\r\n", b"\xef\xbb\xbf"])
def test_no_text_no_document(data: bytes) -> None:
    assert read("a.txt", data) == []


def test_bad_utf8_names_line_and_byte() -> None:
    assert message("a.txt", b"one\ntwo \xff\n") == ("a.txt:2: not UTF-8 at byte 8 of the file; save the file as UTF-8.")
    assert message("a.txt", b"\xef\xbb\xbfone\n\xff") == (
        "a.txt:2: not UTF-8 at byte 7 of the file; save the file as UTF-8."
    )
    assert message("a.txt", b"\xff\xfea\0\0\xd8") == "a.txt is not valid UTF-16 at byte 4."


def test_bad_files_are_reported_and_skipped() -> None:
    seen: list[InputError] = []
    Path("a.txt").write_bytes(b"\xff")
    source = find_sources(["a.txt"]).files[0]
    assert list(read_documents(source, ReadOptions(skip_bad=True), seen.append)) == []
    assert str(seen[0]).startswith("a.txt:1: not UTF-8 at byte 0")
    assert list(read_documents(source, ReadOptions(skip_bad=True))) == []


@pytest.mark.parametrize(("suffix", "compress"), [("gz", gzip.compress), ("bz2", bz2.compress), ("xz", lzma.compress)])
def test_broken_compression(suffix: str, compress: Callable[[bytes], bytes]) -> None:
    name = f"a.txt.{suffix}"
    whole = compress(b"".join(b"line %d\n" % (number * 7919) for number in range(1000)))
    assert message(name, whole[: len(whole) // 2]) == f"{name} is cut off: the {suffix} data end too early."
    assert message(name, b"no such thing").startswith(f"{name} is not valid {suffix} data: ")
    flipped = bytearray(whole)
    flipped[len(whole) // 2] ^= 0xFF
    assert message(name, bytes(flipped)).startswith(f"{name} is not valid {suffix} data: ")


def test_a_file_that_vanished() -> None:
    source = Source("a.txt", "text", file=Path("a.txt"))
    with pytest.raises(InputError, match=r"^a\.txt cannot be read: no such file or directory\.$"):
        list(read_documents(source))


def test_a_file_too_large_for_one_document(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "MAX_WHOLE", 1 << 20)
    assert message("a.txt.gz", gzip.compress(b"x" * ((1 << 20) + 1))) == (
        "a.txt.gz is larger than 1 MB, too much for one document: split it, or give its parts as rows of a .jsonl file."
    )


def test_options_that_do_not_fit_are_refused_at_once() -> None:
    Path("a.txt").write_text("x")
    source = find_sources(["a.txt"]).files[0]
    with pytest.raises(InputError) as caught:
        read_documents(source, ReadOptions(passages=True, skip_bad=True))
    assert str(caught.value) == ("a.txt cannot be read as passages: only rows of .jsonl, .json, .csv and .tsv can.")
    with pytest.raises(InputError) as caught:
        read_documents(source, ReadOptions(shape="kilt"))
    assert str(caught.value) == "a.txt cannot be read in the shape 'kilt': that is for .jsonl, .json files."
    with pytest.raises(InputError) as caught:
        ReadOptions(shape="trec")
    assert str(caught.value) == ("Unknown shape 'trec': choose from auto, rows, dpr, kilt, beir, mediawiki.")
