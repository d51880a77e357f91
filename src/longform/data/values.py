"""The JSON values of a dataset's file, whatever it is wrapped in, and what may be asked of each."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import orjson

from longform.corpus.sources import Source
from longform.corpus.streams import label, lines, opened, read_whole, utf8_error
from longform.corpus.training_questions import named_source
from longform.errors import InputError

__all__ = ["Value", "identifier_of", "list_of", "names_of", "read_values", "strings_of", "text_of", "whole_value"]


class Value(NamedTuple):
    """An object of a file, where it stands, and its number, from 1."""

    where: str
    number: int
    row: Any


def whole_value(path: str) -> Any:
    """The value of a file that is one JSON value; ``.gz``, ``.bz2`` and ``.xz`` as well."""
    source = named_source(path)
    data = read_whole(source).removeprefix(b"\xef\xbb\xbf")
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise InputError(
            f"{label(source)}:{error.lineno}: broken JSON at column {error.colno}: {error.msg}: fetch the file again."
        ) from None


def read_values(path: str) -> Iterator[Value]:
    """The objects of a file of JSON lines, or of a JSON list, plain or compressed; lines are read as they come.

    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "q.jsonl"
    >>> _ = file.write_text('{"id": 1}\\n\\n{"id": 2}')
    >>> [(value.number, value.row) for value in read_values(str(file))]
    [(1, {'id': 1}), (3, {'id': 2})]
    """
    source = named_source(path)
    with opened(source) as stream:
        head = stream.peek(64).removeprefix(b"\xef\xbb\xbf").lstrip()
        if not head.startswith(b"["):
            yield from _lines(source, stream)
            return
    value = whole_value(path)
    for number, row in enumerate(value if isinstance(value, list) else [value], 1):
        yield Value(f"{label(source)}, row {number}", number, row)


def _lines(source: Source, stream: io.BufferedReader) -> Iterator[Value]:
    for number, line in enumerate(lines(source, stream), 1):
        if not line.strip():
            continue
        where = f"{label(source)}:{number}"
        try:
            row = orjson.loads(line)
        except orjson.JSONDecodeError as error:
            broken = InputError(f"{where}: broken JSON at column {error.colno}: {error.msg}.")
            raise utf8_error(source, number, line) or broken from None
        yield Value(where, number, row)


def text_of(row: Any, field: str, where: str) -> str:
    """A field that must be a text with something in it."""
    if not isinstance(row, Mapping):
        raise InputError(f"{where}: not a JSON object.")
    found = row.get(field)
    if not isinstance(found, str) or not found.strip():
        raise InputError(f"{where}: there is no {field}, a text with something in it.")
    return found


def identifier_of(row: Any, field: str, where: str) -> str:
    """A field that must be an id: a string, or a whole number, of which the string is made."""
    if not isinstance(row, Mapping):
        raise InputError(f"{where}: not a JSON object.")
    found = row.get(field)
    if isinstance(found, bool) or not isinstance(found, (str, int)) or not str(found).strip():
        raise InputError(f"{where}: there is no {field}, a string or a whole number.")
    return str(found)


def list_of(row: Mapping[str, Any], field: str, where: str) -> list[Any]:
    """A field that must be a list; an empty one where it is not there."""
    found = row.get(field)
    if found is None:
        return []
    if not isinstance(found, list):
        raise InputError(f"{where}: {field} must be a list.")
    return found


def strings_of(values: Iterable[Any], field: str, where: str) -> tuple[str, ...]:
    """The texts of a list, in order, each once; empty ones are dropped."""
    found = list(values)
    if not all(isinstance(value, str) for value in found):
        raise InputError(f"{where}: {field} must be a list of strings.")
    return tuple(dict.fromkeys(value.strip() for value in found if value.strip()))


def names_of(values: Iterable[Any], field: str, where: str) -> tuple[tuple[str, ...], ...]:
    """Answers, each a list of names, or a string that is its only name; those without a name are dropped."""
    found = []
    for value in values:
        if not isinstance(value, (str, list)):
            raise InputError(f"{where}: {field} must be a list of strings, or of lists of names.")
        found.append(strings_of([value] if isinstance(value, str) else value, field, where))
    return tuple(names for names in found if names)
