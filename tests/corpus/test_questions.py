"""Files of questions, and every way a line can be wrong."""

from __future__ import annotations

import gzip
import io
import sys
from pathlib import Path

import pytest

from longform import InputError, Question, read_questions


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def ask(data: str | bytes, name: str = "q.jsonl") -> list[Question]:
    Path(name).write_bytes(data.encode() if isinstance(data, str) else data)
    return read_questions(name)


def test_a_question_on_each_line() -> None:
    data = '\ufeff{"id": "a b", "question": "Who?"}\r\n\r\n  \n{"id": 7, "question": " Was \\n it? ", "more": [1]}'
    assert ask(data) == [Question("a b", "Who?"), Question("7", " Was \n it? ")]


@pytest.mark.parametrize("field", ["id", "_id", "qid", "query_id", "question_id"])
def test_fields_of_the_id(field: str) -> None:
    assert ask(f'{{"{field}": "x", "question": "Who?"}}') == [Question("x", "Who?")]


@pytest.mark.parametrize("field", ["question", "query", "text", "ambiguous_question"])
def test_fields_of_the_question(field: str) -> None:
    assert ask(f'{{"id": "x", "{field}": "Who?"}}') == [Question("x", "Who?")]


@pytest.mark.parametrize("name", ["q.jsonl", "q.txt", "questions", "q.v1.json", "a[1].jsonl", "-q.jsonl"])
def test_any_name_will_do(name: str) -> None:
    assert ask('{"id": "x", "question": "Who?"}', name) == [Question("x", "Who?")]


def test_compressed_and_piped(monkeypatch: pytest.MonkeyPatch) -> None:
    line = b'{"id": "x", "question": "Who?"}\n'
    assert ask(gzip.compress(line), "q.jsonl.gz") == [Question("x", "Who?")]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(line)))
    assert read_questions("-") == [Question("x", "Who?")]


GOOD = '{"id": "x", "question": "Who?"}\n'
NO_ID = "the question has no id (one of the fields id, _id, qid, query_id, question_id)."
NO_QUESTION = "there is no question (one of the fields question, query, text, ambiguous_question)."


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (GOOD + "\n" + GOOD, "q.jsonl:3: the question id 'x' occurs twice."),
        (GOOD + '{"question": "Who?"}', f"q.jsonl:2: {NO_ID}"),
        ('{"id": "", "question": "Who?"}', f"q.jsonl:1: {NO_ID}"),
        ('{"id": null, "question": "Who?"}', f"q.jsonl:1: {NO_ID}"),
        ('{"id": true, "question": "Who?"}', f"q.jsonl:1: {NO_ID}"),
        ('{"id": 1.5, "question": "Who?"}', f"q.jsonl:1: {NO_ID}"),
        (GOOD + '{"id": "y"}', f"q.jsonl:2: {NO_QUESTION}"),
        ('{"id": "y", "question": ["Who?"]}', f"q.jsonl:1: {NO_QUESTION}"),
        ('{"id": "y", "question": " \\n"}', "q.jsonl:1: the question is empty."),
        ('["Who?"]', "q.jsonl:1: a question must be a JSON object such as {'id': '1', 'question': '…'}."),
        ("null", "q.jsonl:1: a question must be a JSON object such as {'id': '1', 'question': '…'}."),
        (GOOD + '{"id": ', "q.jsonl:2: broken JSON at column 8: unexpected end of data."),
        ("Who?", "q.jsonl:1: broken JSON at column 1: unexpected character, expected a JSON value."),
        (GOOD.encode() + b'{"id": "\xff"}', "q.jsonl:2: not UTF-8 at byte 8 of the line; save the file as UTF-8."),
        ("", "q.jsonl holds no questions."),
        ("\n \n", "q.jsonl holds no questions."),
    ],
)
def test_wrong_files(data: str | bytes, sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        ask(data)
    assert str(caught.value) == sentence


def test_wrong_places() -> None:
    Path("docs").mkdir()
    Path("q.jsonl.gz").write_bytes(b"not gzip")
    for name, sentence in {
        "missing.jsonl": "missing.jsonl does not exist.",
        "*.jsonl": "*.jsonl does not exist.",
        "docs": "docs is a folder: name a file of questions, one JSON object a line.",
        "q.jsonl.gz": "q.jsonl.gz is not valid gz data: not a gzipped file (b'no').",
    }.items():
        with pytest.raises(InputError) as caught:
            read_questions(name)
        assert str(caught.value) == sentence
