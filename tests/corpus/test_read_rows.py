"""Rows of JSONL, JSON, CSV and TSV: fields, ids, passages, and every way a row can be wrong."""

from __future__ import annotations

import gzip
import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from longform.corpus import streams, tables
from longform.corpus.read import ReadOptions, read_documents
from longform.corpus.sources import find_sources
from longform.errors import InputError
from longform.records import Document, Passage


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def read(name: str, data: str | bytes, **options: Any) -> list[Document | Passage]:
    Path(name).write_bytes(data.encode() if isinstance(data, str) else data)
    return list(read_documents(find_sources([name]).files[0], ReadOptions(**options)))


def message(name: str, data: str | bytes, **options: Any) -> str:
    with pytest.raises(InputError) as caught:
        read(name, data, **options)
    return str(caught.value)


def skipping(name: str, data: str | bytes, **options: Any) -> tuple[list[str], list[str]]:
    """The ids read and the messages reported when bad rows are skipped."""
    seen: list[InputError] = []
    Path(name).write_bytes(data.encode() if isinstance(data, str) else data)
    source = find_sources([name]).files[0]
    rows = list(read_documents(source, ReadOptions(skip_bad=True, **options), seen.append))
    return [row.id for row in rows], [str(error) for error in seen]


def rows(*objects: object) -> str:
    return "".join(json.dumps(row) + "\n" for row in objects)


@pytest.mark.parametrize("name", ["a.jsonl", "a.ndjson", "a.json"])
def test_a_row_on_each_line(name: str) -> None:
    data = rows({"id": "x", "title": "T", "text": " A\nb "}, {"id": 7, "text": "c\0"}) + "\n  \n"
    assert read(name, data) == [Document("x", "T", " A\nb "), Document("7", "", "c\0")]


def test_a_byte_order_mark_and_windows_line_ends() -> None:
    assert read("a.jsonl", b'\xef\xbb\xbf{"text": "a"}\r\n\r\n{"text": "b"}') == [
        Document("a.jsonl:1", "", "a"),
        Document("a.jsonl:3", "", "b"),
    ]


@pytest.mark.parametrize("field", ["id", "_id", "docid", "doc_id", "wikipedia_id", "pid"])
def test_default_fields_of_the_id(field: str) -> None:
    assert read("a.jsonl", rows({field: "x", "text": "a"}))[0].id == "x"


@pytest.mark.parametrize("field", ["title", "wikipedia_title", "name"])
def test_default_fields_of_the_title(field: str) -> None:
    assert read("a.jsonl", rows({field: "T", "text": "a"}))[0].title == "T"


@pytest.mark.parametrize("field", ["text", "contents", "content", "body", "passage", "abstract"])
def test_default_fields_of_the_text(field: str) -> None:
    assert read("a.jsonl", rows({"z": "no", field: "a"}))[0].text == "a"


def test_the_first_default_wins() -> None:
    assert read("a.jsonl", rows({"abstract": "b", "text": "a", "pid": 2, "id": 1})) == [Document("1", "", "a")]


def test_named_fields() -> None:
    row = {"id": "no", "title": "no", "text": "no", "key": 3, "head": "H", "summary": "S"}
    named = {"id_field": "key", "title_field": "head", "text_field": "summary"}
    assert read("a.jsonl", rows(row), **named) == [Document("3", "H", "S")]
    for field, role in named.items():
        broken = {key: value for key, value in row.items() if key != role}
        assert f"a.jsonl:1: no field '{role}'" in message("a.jsonl", rows(broken), **named), field


@pytest.mark.parametrize("row", [{}, {"id": None}, {"id": ""}, {"id": " "}])
def test_rows_without_an_id_get_their_line(row: dict[str, Any]) -> None:
    assert read("a.jsonl", "\n" + rows({**row, "text": "a"}))[0].id == "a.jsonl:2"


@pytest.mark.parametrize(("title", "expected"), [(None, ""), (12, "12"), (1.5, "1.5"), ("", "")])
def test_titles_that_are_no_strings(title: object, expected: str) -> None:
    assert read("a.jsonl", rows({"title": title, "text": "a"}))[0].title == expected


def test_rows_without_text_are_passed_over() -> None:
    data = rows({"id": 1, "title": "T", "text": ""}, {"id": 2, "text": " \n"}, {"id": 3, "text": "a"})
    assert skipping("a.jsonl", data) == (["3"], [])
    assert [row.id for row in read("a.jsonl", data)] == ["3"]
    assert read("a.jsonl", "") == []


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({"id": 1, "txt": "a"}, "no text field; the row has: id, txt. Name the right one with --text-field."),
        ({}, "no text field; the row has: none. Name the right one with --text-field."),
        ({"text": None}, "the field 'text' is null, not a string."),
        ({"text": 5}, "the field 'text' is a number, not a string."),
        ({"text": ["a"]}, "the field 'text' is a list, not a string."),
        ({"text": {"a": 1}}, "the field 'text' is an object, not a string."),
        ({"text": True}, "the field 'text' is true or false, not a string."),
        ({"text": "a", "id": 1.5}, "the field 'id' is a number, not a string or whole number."),
        ({"text": "a", "id": True}, "the field 'id' is true or false, not a string or whole number."),
        ({"text": "a", "title": ["T"]}, "the field 'title' is a list, not a string."),
        ([1], "not a JSON object; every row is one."),
        ("a", "not a JSON object; every row is one."),
        (None, "not a JSON object; every row is one."),
    ],
)
def test_wrong_rows(row: object, expected: str) -> None:
    assert message("a.jsonl", rows({"text": "a"}, row)) == f"a.jsonl:2: {expected}"
    good = {"id": "z", "text": "a"}
    assert skipping("a.jsonl", rows(good, row, good)) == (["z", "z"], [f"a.jsonl:2: {expected}"])


def test_broken_json_names_line_and_column() -> None:
    data = '{"text": "a"}\n{"text": "a"\n'
    assert message("a.jsonl", data).startswith("a.jsonl:2: broken JSON at column ")
    assert message("a.jsonl", '{"text": nope}').startswith("a.jsonl:1: broken JSON at column 10: ")
    ids, seen = skipping("a.jsonl", '{\n{"id": "x", "text": "a"}\n{"text": "\\ud800"}\n')
    assert ids == ["x"]
    assert [line.split(": ")[0] for line in seen] == ["a.jsonl:1", "a.jsonl:3"]


def test_bad_utf8_names_the_line() -> None:
    expected = "a.jsonl:2: not UTF-8 at byte 10 of the line; save the file as UTF-8."
    data = b'{"id": "x", "text": "a"}\n{"text": "\xff"}\n{"id": "y", "text": "b"}\n'
    assert message("a.jsonl", data) == expected
    assert skipping("a.jsonl", data) == (["x", "y"], [expected])


def test_a_file_without_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "MAX_LINE", 1 << 20)
    data = '{"text": "a"}\n{"text": "' + "x" * (1 << 20)
    assert message("a.jsonl", data) == ("a.jsonl has a line longer than 1 MB: it must hold one row per line.")


def test_rows_before_the_cut_are_read() -> None:
    whole = gzip.compress("".join(rows({"id": n, "text": f"{n * 7919} a"}) for n in range(20000)).encode())
    ids, seen = skipping("a.jsonl.gz", whole[: len(whole) // 2])
    assert seen == ["a.jsonl.gz is cut off: the gz data end too early."]
    assert 5000 < len(ids) < 20000
    assert ids == [str(n) for n in range(len(ids))]
    assert message("a.jsonl.gz", whole[:-4]) == seen[0]


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    stdin = io.TextIOWrapper(io.BytesIO(rows({"text": "a"}, {"id": "x", "text": "b"}).encode()))
    monkeypatch.setattr(sys, "stdin", stdin)
    found = list(read_documents(find_sources(["-"]).files[0]))
    assert [document.id for document in found] == ["stdin:1", "x"]
    assert not stdin.closed


def test_a_json_list() -> None:
    good = [{"id": "x", "text": "a"}, {"text": "b"}, 5]
    for indent in (None, 2):
        data = json.dumps(good, indent=indent)
        assert skipping("a.json", data) == (
            ["x", "a.json:2"],
            ["a.json:3: not a JSON object; every row is one."],
        )
    assert message("a.json", "[\n{}").startswith("a.json:2: broken JSON at column ")
    assert message("a.json", b'[\n"\xff"]').startswith("a.json:2: not UTF-8 at byte 3 of the file")
    assert "not a JSON object" in message("a.jsonl", "[]")


def test_one_json_object_over_many_lines() -> None:
    assert read("a.json", json.dumps({"id": "x", "text": "a"}, indent=2)) == [Document("x", "", "a")]


def test_csv_and_tsv() -> None:
    expected = [Document("1", "T, t", 'say "a"\nb'), Document("a.csv:4", "", "c\0")]
    data = '\ufeffid,title,text,more\r\n1,"T, t","say ""a""\nb",x\r\n,,c\0,\r\n\r\n'
    assert read("a.csv", data) == expected
    tsv = 'id\ttitle\ttext\n1\tT, t\t"say ""a""\nb"\n'
    assert read("a.tsv", tsv) == expected[:1]
    assert read("a.csv", "id;text\n1;a,b\n") == [Document("1", "", "a,b")]
    assert read("a.csv", "") == read("a.csv", "id,text\n") == read("a.csv", "id,text\n1, \n") == []


def test_a_cell_longer_than_the_csv_module_likes() -> None:
    assert len(read("a.csv", "text\n" + "x" * 200_000)[0].text) == 200_000


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ("id,text\n1,a\n2,b,c\n", "a.csv:3: 3 columns where the header has 2."),
        ('id,text\n1,"a\nb"\n2\n', "a.csv:4: 1 columns where the header has 2."),
        ('id,text\n1,a\n2,"b\n3,c\n', "a.csv:3: a quote in this row is never closed."),
        ("id,text,id\n", "a.csv:1: the header names 'id' twice."),
        (
            "id,summary\n1,a\n",
            "a.csv:1: no text field; the row has: id, summary. Name the right one with --text-field.",
        ),
        (b"id,text\n1,\xff\n", "a.csv:2: not UTF-8 at byte 2 of the line; save the file as UTF-8."),
        (b"id,te\xff\n1,a\n", "a.csv:1: not UTF-8 at byte 5 of the line; save the file as UTF-8."),
    ],
)
def test_wrong_tables(data: str | bytes, expected: str) -> None:
    assert message("a.csv", data) == expected
    _, seen = skipping("a.csv", data)
    assert seen == [expected]


def test_tables_go_on_after_a_bad_row() -> None:
    ids, seen = skipping("a.csv", b"id,text\n1,a\n2\n3,\xff\n4,d\n5,e\rx\n6,f\n")
    assert ids == ["1", "4", "6"]
    assert [line.split(":")[1] for line in seen] == ["3", "4", "6"]


def test_a_quote_left_open_does_not_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "_MAX_CELL", 1 << 20)
    data = 'id,text\n1,"a\n' + "x,y\n" * (1 << 19)
    assert message("a.csv", data) == "a.csv:2: a cell is longer than 1 MB; a quote may be left open."


def test_a_cut_table(tmp_path: Path) -> None:
    whole = gzip.compress(b"id,text\n" + b"".join(b"%d,a%d\n" % (n, n * 7919) for n in range(20000)))
    ids, seen = skipping("a.csv.gz", whole[: len(whole) // 2])
    assert seen == ["a.csv.gz is cut off: the gz data end too early."]
    assert len(ids) > 5000


def test_named_columns_must_be_there() -> None:
    assert message("a.csv", "id,text\n", id_field="key") == (
        "a.csv:1: no field 'key' for the id; the row has: id, text."
    )
    assert message("a.csv", "id,text\n", text_field="body") == "a.csv:1: no field 'body'; the row has: id, text."


def test_passages_are_kept_whole() -> None:
    data = rows({"id": 7, "title": "T", "text": " a "}, {"text": "b"})
    assert read("a.jsonl", data, passages=True) == [
        Passage("7", "7", "T", " a ", 0, 3),
        Passage("a.jsonl:2", "a.jsonl:2", "", "b", 0, 1),
    ]
    assert read("a.csv", "id,text\n7,a\n", passages=True) == [Passage("7", "7", "", "a", 0, 1)]


def test_passages_of_our_own_come_back() -> None:
    passage = Passage("d#1", "d", "T", "abc", 10, 13, "Early years")
    assert read("a.jsonl", rows(passage.to_json()), passages=True) == [passage]
    table = "id\tdocument\ttitle\ttext\tstart\tend\tsection\nd#1\td\tT\tabc\t10\t13\tEarly years\n"
    assert read("a.tsv", table, passages=True) == [passage]
    unset = "id,document,text,start,end\n1,,abc,,\n"
    assert read("a.csv", unset, passages=True) == [Passage("1", "1", "", "abc", 0, 3)]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"document": 5.5}, "the field 'document' is a number, not a string."),
        ({"section": 5}, "the field 'section' is a number, not a string."),
        ({"start": "0", "end": 3}, "the field 'start' is '0', not a whole number."),
        ({"start": 0, "end": True}, "the field 'end' is true or false, not a whole number."),
        ({"start": 0}, "a passage has both 'start' and 'end', or neither."),
        ({"start": 0, "end": 4}, "'start' 0 and 'end' 4 do not span the text's 3 characters."),
        ({"start": -1, "end": 2}, "'start' -1 and 'end' 2 do not span the text's 3 characters."),
    ],
)
def test_wrong_passages(fields: dict[str, Any], expected: str) -> None:
    row = {"id": "x", "text": "abc", **fields}
    assert message("a.jsonl", rows(row), passages=True) == f"a.jsonl:1: {expected}"
    assert read("a.jsonl", rows(row)) == [Document("x", "", "abc")]


def test_wrong_offsets_in_a_table() -> None:
    assert message("a.csv", "id,text,start,end\n1,a,x,1\n", passages=True) == (
        "a.csv:2: the field 'start' is 'x', not a whole number."
    )


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.text(), st.text(min_size=1)).filter(lambda row: not row[1].isspace())))
def test_any_text_comes_back_as_it_was(pairs: list[tuple[str, str]]) -> None:
    data = rows(*({"id": number, "title": title, "text": text} for number, (title, text) in enumerate(pairs)))
    expected = [Document(str(number), title, text) for number, (title, text) in enumerate(pairs)]
    assert read("a.jsonl", data) == expected


def test_a_header_with_a_carriage_return(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b"id,text\r1,Tea.\r")
    with pytest.raises(
        InputError, match=r"a\.csv:1: a carriage return stands inside a row; save the file with ordinary"
    ):
        list(read_documents(find_sources([str(tmp_path / "a.csv")]).files[0]))


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=200), st.sampled_from(["a.jsonl", "a.json", "a.csv", "a.tsv", "a.csv.gz", "a.xml"]))
def test_no_bytes_whatever_raise_anything_but_an_input_error(data: bytes, name: str) -> None:
    for bytes_ in (data, b"id,text\n" + data, b'{"text": "' + data + b'"}'):
        seen = skipping(name, bytes_)[1]
        assert all(line.startswith(name) for line in seen)
