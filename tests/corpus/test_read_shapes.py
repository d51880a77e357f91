"""The field's own shapes: DPR, KILT and BEIR; and reading much with little memory."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import longform
from longform.corpus.read import ReadOptions, read_documents
from longform.corpus.sources import find_sources
from longform.errors import InputError
from longform.records import Document, Mark, Passage


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def read(name: str, data: str, **options: Any) -> list[Document | Passage]:
    path = Path(name)
    path.write_bytes(gzip.compress(data.encode()) if name.endswith(".gz") else data.encode())
    return list(read_documents(find_sources([name]).files[0], ReadOptions(**options)))


def message(name: str, data: str, **options: Any) -> str:
    with pytest.raises(InputError) as caught:
        read(name, data, **options)
    return str(caught.value)


DPR = 'id\ttext\ttitle\n1\t"""Aaron"" is a name, he said."\tAaron\n2\tsecond 5" half\t"Aaron ""the"" A"\n'


@pytest.mark.parametrize("name", ["psgs_w100.tsv", "psgs_w100.tsv.gz"])
@pytest.mark.parametrize("shape", ["auto", "dpr"])
def test_dpr_rows_are_passages(name: str, shape: str) -> None:
    first = '"Aaron" is a name, he said.'
    assert read(name, DPR, shape=shape) == [
        Passage("1", "1", "Aaron", first, 0, len(first)),
        Passage("2", "2", 'Aaron "the" A', 'second 5" half', 0, 14),
    ]


def test_dpr_rows_can_be_read_as_documents() -> None:
    assert isinstance(read("a.tsv", DPR, shape="rows")[0], Document)


def test_a_header_that_is_not_dprs() -> None:
    assert isinstance(read("a.tsv", "id\ttitle\ttext\n1\tT\ta\n")[0], Document)
    assert message("a.tsv", "id\ttitle\ttext\n", shape="dpr") == (
        "a.tsv:1: not DPR's header: expected id, text, title; found id, title, text."
    )


KILT = {
    "_id": "290",
    "wikipedia_id": "290",
    "wikipedia_title": "A",
    "text": [
        "A\n",
        "A is a letter.\n",
        "Section::::History.\n",
        "It is old.\n",
        "BULLET::::- Egypt\n",
        "BULLET::::- Greece\n",
        "After the list.\n",
        "Section::::History.:Typography.\n",
        "BULLET::::1. Serif",
    ],
    "categories": "ISO basic Latin letters",
}
KILT_TEXT = (
    "A is a letter.\n\nHistory\n\nIt is old.\n\n- Egypt\n- Greece\n\nAfter the list.\n\nHistory: Typography\n\n1. Serif"
)


@pytest.mark.parametrize("shape", ["auto", "kilt"])
def test_kilt_pages(shape: str) -> None:
    (page,) = read("kilt.jsonl.gz", json.dumps(KILT), shape=shape)
    assert isinstance(page, Document)
    assert (page.id, page.title, page.text) == ("290", "A", KILT_TEXT)
    assert page.marks == (
        Mark(KILT_TEXT.index("History"), "History"),
        Mark(KILT_TEXT.index("History:"), "History: Typography"),
    )


def test_kilt_pages_without_text_are_passed_over() -> None:
    assert read("a.jsonl", json.dumps({**KILT, "text": ["A\n"]})) == []


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({"wikipedia_title": "A", "text": []}, "no 'wikipedia_id'"),
        ({"wikipedia_id": 1, "text": []}, "no 'wikipedia_title'"),
        ({"wikipedia_id": 1, "wikipedia_title": "A", "text": "a"}, "'text' is not a list of paragraphs"),
        ({"wikipedia_id": 1, "wikipedia_title": "A", "text": [1]}, "'text' is not a list of paragraphs"),
    ],
)
def test_rows_that_are_not_kilt(row: dict[str, Any], expected: str) -> None:
    assert message("a.jsonl", json.dumps(row), shape="kilt") == f"a.jsonl:1: not a KILT page: {expected}."


def test_kilt_pages_are_not_passages() -> None:
    assert message("a.jsonl", json.dumps(KILT), passages=True) == (
        "a.jsonl:1: KILT rows are pages, not passages: read them as documents."
    )
    assert "is a list" in message("a.jsonl", json.dumps(KILT), shape="rows")


@pytest.mark.parametrize("shape", ["auto", "beir"])
def test_beir_rows(shape: str) -> None:
    data = json.dumps({"_id": "4983", "title": "T", "text": "a", "metadata": {"url": "u"}})
    assert read("corpus.jsonl", data, shape=shape) == [Document("4983", "T", "a")]


def test_beir_means_its_own_fields() -> None:
    data = json.dumps({"id": "no", "_id": "yes", "text": "a"})
    assert read("a.jsonl", data, shape="beir") == [Document("yes", "", "a")]
    assert read("a.jsonl", data) == [Document("no", "", "a")]
    assert message("a.jsonl", '{"id": "1", "text": "a"}', shape="beir") == (
        "a.jsonl:1: no field '_id' for the id; the row has: id, text."
    )


def test_shapes_belong_to_formats() -> None:
    assert message("a.jsonl", "", shape="dpr") == (
        "a.jsonl cannot be read in the shape 'dpr': that is for .tsv, .csv files."
    )
    assert message("a.jsonl", "", shape="mediawiki") == (
        "a.jsonl cannot be read in the shape 'mediawiki': that is for .xml files."
    )


MEASURE = """
import resource, sys
from longform.corpus.read import read_documents
from longform.corpus.sources import find_sources
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
count = characters = 0
for document in read_documents(find_sources(sys.argv[1:]).files[0]):
    count += 1
    characters += len(document.text)
print(count, characters, before, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""

PAGE = "<page><title>P%d</title><ns>%d</ns><id>%d</id><revision><text>%s</text></revision></page>\n"


@pytest.mark.skipif(sys.platform != "linux", reason="measures memory in Linux's units")
@pytest.mark.parametrize("name", ["rows.jsonl.gz", "rows.csv.gz", "dump.xml.gz"])
def test_a_large_file_is_read_in_little_memory(name: str) -> None:
    paragraph = "Saws cut wood and are sharpened by hand. " * 5000
    rows = 1000
    with gzip.open(name, "wb", compresslevel=1) as stream:
        if name.startswith("rows.csv"):
            stream.write(b"id,text\n")
        if name.startswith("dump"):
            stream.write(b"<mediawiki>")
        for number in range(rows):
            if name.startswith("rows.jsonl"):
                row = json.dumps({"id": number, "text": paragraph}) + "\n"
            elif name.startswith("rows.csv"):
                row = f'{number},"{paragraph}"\n'
            else:
                # Parsing wikitext takes long: one page in fifty is an article.
                row = PAGE % (number, number % 50, number, paragraph)
            stream.write(row.encode())
        if name.startswith("dump"):
            stream.write(b"</mediawiki>")
    source = Path(longform.__file__).parents[1]
    run = subprocess.run(
        [sys.executable, "-c", MEASURE, name],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": str(source)},
    )
    count, characters, before, peak = map(int, run.stdout.split())
    assert count == (rows // 50 if name.startswith("dump") else rows)
    assert characters >= count * 200_000
    # In kilobytes, beyond what importing the package takes.
    assert peak - before < 60_000
