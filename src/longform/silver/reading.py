"""Read silver files, and say where one is broken."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import orjson

from longform.corpus.streams import label, lines, opened, utf8_error
from longform.corpus.training_questions import named_source
from longform.errors import InputError
from longform.silver.records import FORMAT, SilverFile, SilverPassage, SilverRow

__all__ = ["parse_row", "read_silver"]

_FAMILY = FORMAT.partition("/")[0]


def read_silver(path: str) -> SilverFile:
    """A silver file (``.gz`` as well; ``-`` for standard input), every line checked.

    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "silver.jsonl"
    >>> header = '{"format": "longform-silver/1", "index": "my.index", "method": "silver"}'
    >>> row = '{"id": "1", "question": "Who?", "pool": ["a#0"], "silver": [], "answers_found": 0, "answers": 1}'
    >>> _ = file.write_text(header + chr(10) + row)
    >>> read_silver(str(file)).rows[0].pool
    ('a#0',)
    """
    source = named_source(path)
    header: Mapping[str, Any] | None = None
    rows: dict[str, SilverRow] = {}
    with opened(source) as stream:
        for number, line in enumerate(lines(source, stream), 1):
            if not line.strip():
                continue
            where = f"{label(source)}:{number}"
            try:
                value = orjson.loads(line)
            except orjson.JSONDecodeError as error:
                if header is None:
                    raise _foreign(label(source)) from None
                broken = InputError(f"{where}: broken JSON at column {error.colno}: {error.msg}.")
                raise utf8_error(source, number, line) or broken from None
            if header is None:
                header = _header(value, label(source))
                continue
            row = parse_row(value, where)
            if row.id in rows:
                raise InputError(f"{where}: the question id {row.id!r} occurs twice.")
            rows[row.id] = row
    if header is None:
        raise InputError(f"{label(source)} is empty: `longform silver` writes silver files.")
    return SilverFile(header, tuple(rows.values()))


def _foreign(name: str) -> InputError:
    return InputError(f"{name} is not a silver file (its first line has no format): `longform silver` writes them.")


def _header(value: Any, name: str) -> Mapping[str, Any]:
    found = value.get("format") if isinstance(value, dict) else None
    if not isinstance(found, str) or found.partition("/")[0] != _FAMILY:
        raise _foreign(name)
    if found != FORMAT:
        raise InputError(f"{name} has format {found}, and this Longform reads {FORMAT}: upgrade it, or make it anew.")
    header: Mapping[str, Any] = value
    return header


def parse_row(value: Any, where: str) -> SilverRow:
    """A line of a silver file as a record; ``where`` stands before what is wrong with it."""
    fields = _Fields(value, where, "a row")
    pool = fields.texts("pool")
    row = SilverRow(
        fields.get("id", str),
        fields.get("question", str),
        pool,
        tuple(_passages(fields, where)),
        fields.get("answers_found", int),
        fields.get("answers", int),
        fields.texts("long_answers", optional=True),
        tuple(fields.lists("short_answers")),
    )
    missing = next((passage.id for passage in row.silver if passage.id not in set(pool)), None)
    if missing is not None:
        raise InputError(f"{where}: the silver passage {missing!r} is not in the pool.")
    return row


def _passages(fields: _Fields, where: str) -> Iterator[SilverPassage]:
    for value in fields.get("silver", list):
        inner = _Fields(value, where, "a silver passage")
        yield SilverPassage(
            inner.get("id", str),
            inner.get("title", str),
            inner.get("text", str),
            inner.get("rank", int),
            float(inner.get("score", (int, float))),
            inner.get("method", str),
            inner.texts("answers"),
            inner.texts("words"),
            inner.get("why", str),
        )


class _Fields:
    """The fields of a JSON object, each checked as it is taken."""

    def __init__(self, value: Any, where: str, what: str) -> None:
        if not isinstance(value, dict):
            raise InputError(f"{where}: {what} must be a JSON object.")
        self._value, self._where, self._what = value, where, what

    def get(self, name: str, kind: type | tuple[type, ...]) -> Any:
        found = self._value.get(name)
        if not isinstance(found, kind) or isinstance(found, bool):
            state = "has no" if found is None else "has an unusable"
            raise InputError(f"{self._where}: {self._what} {state} {name}.")
        return found

    def texts(self, name: str, *, optional: bool = False) -> tuple[str, ...]:
        if optional and name not in self._value:
            return ()
        found = self.get(name, list)
        if not all(isinstance(text, str) for text in found):
            raise InputError(f"{self._where}: {self._what} has an unusable {name}.")
        return tuple(found)

    def lists(self, name: str) -> Iterator[tuple[str, ...]]:
        for inner in self.get(name, list) if name in self._value else ():
            if not isinstance(inner, list) or not all(isinstance(text, str) for text in inner):
                raise InputError(f"{self._where}: {self._what} has an unusable {name}.")
            yield tuple(inner)
