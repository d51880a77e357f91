"""Read questions with their answers, long and short: what retrieval learns from."""

from __future__ import annotations

import io
from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import orjson

from longform.corpus.sources import COMPRESSIONS, STDIN, Source
from longform.corpus.streams import decode_text, label, lines, read_whole, utf8_error
from longform.errors import InputError

__all__ = ["TrainingQuestion", "named_source", "read_ids", "read_training_questions"]

_ID_FIELDS = ("id", "_id", "qid", "query_id", "question_id", "sample_id")
_QUESTION_FIELDS = ("question", "query", "ambiguous_question")
_ASQA_QUESTION = "ambiguous_question"


@dataclass(frozen=True, slots=True)
class TrainingQuestion:
    """A question with its long answers, its direct answers (each a tuple of names), and the pages they stand on."""

    id: str
    question: str
    long_answers: tuple[str, ...] = ()
    short_answers: tuple[tuple[str, ...], ...] = ()
    pages: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The question as a JSON object; :func:`read_training_questions` reads such lines."""
        return asdict(self)


def read_training_questions(
    path: str, *, split: str | None = None, exclude_ids: Collection[str] = ()
) -> list[TrainingQuestion]:
    """The questions of a file, in order, without those whose ids are in ``exclude_ids``.

    The file is JSONL (``.gz`` as well; ``-`` for standard input), a JSON list of such rows, or an ``ASQA.json``, of
    which ``split`` chooses one split; without it all are read. A row has ``question``; ``long_answer`` or
    ``long_answers``; ``short_answers``, each a list of names, or a string that is the only name; ``pages`` or
    ``title``; and ``id``, without which it is named after the file and its line. One of the two kinds of answers may
    be missing.

    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "qa.jsonl"
    >>> _ = file.write_text('{"question": "Who sang?", "long_answer": "Ringo sang.", "short_answers": ["Ringo"]}')
    >>> question = read_training_questions(str(file))[0]
    >>> question.id, question.long_answers, question.short_answers
    ('qa-1', ('Ringo sang.',), (('Ringo',),))
    """
    source = named_source(path)
    questions: dict[str, TrainingQuestion] = {}
    for where, number, row in _rows(source, split):
        question = _question(row, where, f"{_stem(source)}-{number}")
        if question.id in questions:
            raise InputError(f"{where}: the question id {question.id!r} occurs twice.")
        questions[question.id] = question
    if not questions:
        raise InputError(f"{label(source)} holds no questions.")
    kept = [question for identifier, question in questions.items() if identifier not in exclude_ids]
    if not kept:
        raise InputError(f"All {len(questions):,} questions of {label(source)} are excluded: none is left.")
    return kept


def read_ids(path: str) -> frozenset[str]:
    """The ids in a file: a JSON list of them, or one on each line.

    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "ids.json"
    >>> _ = file.write_text('["a", 7]')
    >>> sorted(read_ids(str(file)))
    ['7', 'a']
    """
    source = named_source(path)
    text = decode_text(source, read_whole(source))
    if not text.lstrip().startswith("["):
        found = frozenset(line.strip() for line in text.splitlines() if line.strip())
    else:
        values = _whole(source, text.encode())
        if not all(isinstance(value, (str, int)) and not isinstance(value, bool) for value in values):
            raise InputError(f"{label(source)} must be a list of ids: strings or whole numbers.")
        found = frozenset(map(str, values))
    if not found:
        raise InputError(f"{label(source)} holds no ids.")
    return found


def named_source(path: str) -> Source:
    """A file of rows by its name, whatever its type; ``-`` is standard input."""
    if path == STDIN:
        return Source(STDIN, "jsonl")
    file = Path(path)
    if file.is_dir():
        raise InputError(f"{path} is a folder: name a file.")
    if not file.exists():
        raise InputError(f"{path} does not exist.")
    return Source(path, "jsonl", COMPRESSIONS.get(file.suffix.lower(), ""), file=file)


def _stem(source: Source) -> str:
    return "stdin" if source.path == STDIN else Path(source.path).name.lstrip(".").partition(".")[0]


def _rows(source: Source, split: str | None) -> Iterator[tuple[str, int, Any]]:
    """Every row with where it stands and its number."""
    data = read_whole(source).removeprefix(b"\xef\xbb\xbf")
    value = _one_value(source, data)
    if _is_asqa(value):
        yield from _asqa_rows(source, value, split)
        return
    if split is not None:
        raise InputError(f"{label(source)} has no splits, so --split {split} cannot choose one: leave it out.")
    if isinstance(value, list):
        for number, row in enumerate(value, 1):
            yield f"{label(source)}, row {number}", number, row
        return
    if value is not None:
        yield f"{label(source)}:1", 1, value
        return
    for number, line in enumerate(lines(source, io.BufferedReader(io.BytesIO(data))), 1):
        if not line.strip():
            continue
        where = f"{label(source)}:{number}"
        try:
            yield where, number, orjson.loads(line)
        except orjson.JSONDecodeError as error:
            broken = InputError(f"{where}: broken JSON at column {error.colno}: {error.msg}.")
            raise utf8_error(source, number, line) or broken from None


def _one_value(source: Source, data: bytes) -> Any:
    """The value of a file that is one JSON list or object; None for lines."""
    head = data.lstrip()
    first, _, rest = head.partition(b"\n")
    # Pretty-printed JSON leaves the opening brace alone on its line.
    if head.startswith(b"[") or first.strip() == b"{":
        return _whole(source, data)
    if rest.strip():
        return None
    try:
        return orjson.loads(first)
    except orjson.JSONDecodeError:
        return None


def _whole(source: Source, data: bytes) -> Any:
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError as error:
        decode_text(source, data)  # says so when it is the encoding that is broken
        where = f"{label(source)}:{error.lineno}"
        raise InputError(f"{where}: broken JSON at column {error.colno}: {error.msg}.") from None


def _is_asqa(value: Any) -> bool:
    """Whether it is ``{split: {id: {"ambiguous_question": …}}}``."""
    if not isinstance(value, dict) or not value or not all(isinstance(items, dict) for items in value.values()):
        return False
    items = [item for split in value.values() for item in split.values()]
    return any(isinstance(item, dict) and _ASQA_QUESTION in item for item in items)


def _asqa_rows(source: Source, value: dict[str, Any], split: str | None) -> Iterator[tuple[str, int, Any]]:
    if split is not None and split not in value:
        raise InputError(f"{label(source)} has no split {split!r}; its splits are: {', '.join(value)}.")
    chosen = value if split is None else {split: value[split]}
    number = 0
    for items in chosen.values():
        for identifier, item in items.items():
            number += 1
            where = f"{label(source)}, question {identifier}"
            if not isinstance(item, dict):
                raise InputError(f"{where}: not a JSON object.")
            yield (
                where,
                number,
                {
                    "id": identifier,
                    "question": item.get(_ASQA_QUESTION),
                    "long_answers": _each(item, "annotations", "long_answer", where),
                    "short_answers": _each(item, "qa_pairs", "short_answers", where),
                    "pages": _each(item, "wikipages", "title", where),
                },
            )


def _each(item: Mapping[str, Any], name: str, field: str, where: str) -> list[Any]:
    """One field of every object in a list; a missing list is an empty one."""
    found = item.get(name) or []
    if not isinstance(found, list) or not all(isinstance(inner, dict) and field in inner for inner in found):
        raise InputError(f"{where}: {name} must be a list of objects with {field}.")
    return [inner[field] for inner in found]


def _question(row: Any, where: str, default_id: str) -> TrainingQuestion:
    if not isinstance(row, dict):
        raise InputError(
            f"{where}: a row must be a JSON object such as "
            '{"question": "…", "long_answer": "…", "short_answers": [["…"]]}.'
        )
    identifier = next((row[name] for name in _ID_FIELDS if name in row), default_id)
    if isinstance(identifier, bool) or not isinstance(identifier, (str, int)) or identifier == "":
        raise InputError(f"{where}: the id must be a string or a whole number.")
    text = next((row[name] for name in _QUESTION_FIELDS if name in row), None)
    if not isinstance(text, str):
        raise InputError(f"{where}: there is no question (one of the fields {', '.join(_QUESTION_FIELDS)}).")
    if not text.strip():
        raise InputError(f"{where}: the question is empty.")
    long = _texts(row, ("long_answers", "long_answer"), where)
    names = [_names(answer, where) for answer in _list(row, "short_answers", where)]
    short = tuple(aliases for aliases in names if aliases)
    if not long and not short:
        raise InputError(f"{where}: the question has no answer: give it a long_answer, long_answers or short_answers.")
    return TrainingQuestion(str(identifier), text, long, short, _texts(row, ("pages", "title"), where))


def _texts(row: Mapping[str, Any], names: tuple[str, ...], where: str) -> tuple[str, ...]:
    """The strings of the first field that is there: one, or a list of them; empty ones are dropped."""
    name = next((name for name in names if row.get(name) is not None), names[0])
    values = [row[name]] if isinstance(row.get(name), str) else _list(row, name, where)
    if not all(isinstance(value, str) for value in values):
        raise InputError(f"{where}: {name} must be a string or a list of strings.")
    return tuple(value.strip() for value in values if value.strip())


def _list(row: Mapping[str, Any], name: str, where: str) -> list[Any]:
    found = row.get(name)
    if found is None:
        return []
    if not isinstance(found, list):
        raise InputError(f"{where}: {name} must be a list.")
    return found


def _names(answer: Any, where: str) -> tuple[str, ...]:
    names = [answer] if isinstance(answer, str) else answer
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise InputError(f"{where}: short_answers must be a list of strings, or of lists of names.")
    return tuple(name.strip() for name in names if name.strip())
