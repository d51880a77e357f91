"""Read questions for batch work: one JSON object a line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson

from longform.corpus.sources import COMPRESSIONS, STDIN, Source
from longform.corpus.streams import label, lines, opened, utf8_error
from longform.errors import InputError
from longform.records import Question

__all__ = ["read_questions"]

_ID_FIELDS = ("id", "_id", "qid", "query_id", "question_id")
_QUESTION_FIELDS = ("question", "query", "text", "ambiguous_question")


def read_questions(path: str) -> list[Question]:
    """The questions of a JSONL file (``.gz`` as well; ``-`` for standard input), in order.

    A row is ``{"id": …, "question": …}``; the names of BEIR (``_id``, ``text``) and others are known too.

    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "q.jsonl"
    >>> _ = file.write_text('{"id": 1, "question": "Who ruled France in 1830?"}')
    >>> read_questions(str(file))
    [Question(id='1', question='Who ruled France in 1830?')]
    """
    questions: dict[str, Question] = {}
    source = _source(path)
    with opened(source) as stream:
        for number, line in enumerate(lines(source, stream), 1):
            if not line.strip():
                continue
            where = f"{label(source)}:{number}"
            try:
                question = _question(orjson.loads(line), where)
            except orjson.JSONDecodeError as error:
                broken = InputError(f"{where}: broken JSON at column {error.colno}: {error.msg}.")
                raise utf8_error(source, number, line) or broken from None
            if question.id in questions:
                raise InputError(f"{where}: the question id {question.id!r} occurs twice.")
            questions[question.id] = question
    if not questions:
        raise InputError(f"{label(source)} holds no questions.")
    return list(questions.values())


def _source(path: str) -> Source:
    if path == STDIN:
        return Source(STDIN, "jsonl")
    file = Path(path)
    if file.is_dir():
        raise InputError(f"{path} is a folder: name a file of questions, one JSON object a line.")
    if not file.exists():
        raise InputError(f"{path} does not exist.")
    return Source(path, "jsonl", COMPRESSIONS.get(file.suffix.lower(), ""), file=file)


def _question(row: Any, where: str) -> Question:
    if not isinstance(row, dict):
        raise InputError(f"{where}: a question must be a JSON object such as {{'id': '1', 'question': '…'}}.")
    identifier = next((row[name] for name in _ID_FIELDS if name in row), None)
    if isinstance(identifier, bool) or not isinstance(identifier, (str, int)) or identifier == "":
        raise InputError(f"{where}: the question has no id (one of the fields {', '.join(_ID_FIELDS)}).")
    text = next((row[name] for name in _QUESTION_FIELDS if name in row), None)
    if not isinstance(text, str):
        raise InputError(f"{where}: there is no question (one of the fields {', '.join(_QUESTION_FIELDS)}).")
    if not text.strip():
        raise InputError(f"{where}: the question is empty.")
    return Question(str(identifier), text)
