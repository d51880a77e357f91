"""One row of JSONL, CSV or TSV as a document or passage: which field is what, and whether it may be."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from longform.corpus.options import ID_FIELDS, TEXT_FIELDS, TITLE_FIELDS, ReadOptions
from longform.corpus.sources import Source
from longform.corpus.streams import label
from longform.errors import InputError
from longform.records import Document, Passage

__all__ = ["Fields"]

_BEIR = {"id_field": "_id", "title_field": "title", "text_field": "text"}
_OWN = frozenset({"document", "start", "end", "section"})  # in passages that Longform wrote itself


class Fields:
    """Turns the rows of one source into records.

    >>> fields = Fields(Source("a.jsonl", "jsonl"), ReadOptions())
    >>> fields.record({"_id": 7, "title": "Saws", "text": "They cut."}, 1)
    Document(id='7', title='Saws', text='They cut.', marks=())
    >>> fields.record({"body": "No id."}, 2).id
    'a.jsonl:2'
    """

    def __init__(self, source: Source, options: ReadOptions) -> None:
        named = {key: getattr(options, key) for key in _BEIR}
        if options.shape == "beir":
            named = {key: named[key] or default for key, default in _BEIR.items()}
        self._label = label(source)
        self._ids, self._id_named = _candidates(named["id_field"], ID_FIELDS)
        self._titles, self._title_named = _candidates(named["title_field"], TITLE_FIELDS)
        self._texts, self._text_named = _candidates(named["text_field"], TEXT_FIELDS)
        # In BEIR collections the title is left out of rows that have none.
        self._title_named = self._title_named and options.title_field is not None
        self._passages = options.passages
        self._strings = source.format in ("csv", "tsv")

    def check_columns(self, columns: Collection[str]) -> None:
        """Refuse a table whose header lacks a column that every row needs."""
        self._text_name(columns, 1)
        self._named(columns, self._ids, self._id_named, "id", 1)
        self._named(columns, self._titles, self._title_named, "title", 1)

    def record(self, row: Mapping[str, Any], line: int) -> Document | Passage | None:
        """The row's document or passage; None when its text is empty."""
        text = row[self._text_name(row, line)]
        if type(text) is not str:
            raise self._error(line, f"the field '{self._text_name(row, line)}' is {_kind(text)}, not a string")
        if not text or text.isspace():
            return None
        key = self._id(row, line)
        title = self._title(row, line)
        if not self._passages:
            return Document(key, title, text)
        if _OWN.isdisjoint(row):
            return Passage(key, key, title, text, 0, len(text))
        return self._passage(row, line, key, title, text)

    def _passage(self, row: Mapping[str, Any], line: int, key: str, title: str, text: str) -> Passage:
        document, section = row.get("document"), row.get("section")
        if document is None or document == "":
            document = key
        elif type(document) is int:
            document = str(document)
        elif type(document) is not str:
            raise self._error(line, f"the field 'document' is {_kind(document)}, not a string")
        if section is None:
            section = ""
        elif type(section) is not str:
            raise self._error(line, f"the field 'section' is {_kind(section)}, not a string")
        start, end = self._offset(row, line, "start"), self._offset(row, line, "end")
        if (start is None) != (end is None):
            raise self._error(line, "a passage has both 'start' and 'end', or neither")
        if start is None or end is None:
            start, end = 0, len(text)
        elif start < 0 or end - start != len(text):
            raise self._error(line, f"'start' {start} and 'end' {end} do not span the text's {len(text)} characters")
        return Passage(key, document, title, text, start, end, section)

    def _offset(self, row: Mapping[str, Any], line: int, name: str) -> int | None:
        value = row.get(name)
        if self._strings and value is not None:
            if value == "":
                return None
            if value.isdecimal() and len(value) < 19:
                return int(value)
        elif value is None or type(value) is int:
            return value
        raise self._error(line, f"the field '{name}' is {_kind(value)}, not a whole number")

    def _id(self, row: Mapping[str, Any], line: int) -> str:
        name = self._named(row, self._ids, self._id_named, "id", line)
        value = None if name is None else row[name]
        if type(value) is str:
            if value and not value.isspace():
                return value
        elif type(value) is int:
            return str(value)
        elif value is not None:
            raise self._error(line, f"the field '{name}' is {_kind(value)}, not a string or whole number")
        return f"{self._label}:{line}"

    def _title(self, row: Mapping[str, Any], line: int) -> str:
        name = self._named(row, self._titles, self._title_named, "title", line)
        value = None if name is None else row[name]
        if type(value) is str:
            return value
        if value is None:
            return ""
        if type(value) in (int, float):
            return str(value)
        raise self._error(line, f"the field '{name}' is {_kind(value)}, not a string")

    def _text_name(self, row: Collection[str], line: int) -> str:
        for name in self._texts:
            if name in row:
                return name
        present = ", ".join(map(str, row)) or "none"
        if self._text_named:
            raise self._error(line, f"no field '{self._texts[0]}'; the row has: {present}")
        raise self._error(line, f"no text field; the row has: {present}. Name the right one with --text-field")

    def _named(self, row: Collection[str], names: tuple[str, ...], named: bool, role: str, line: int) -> str | None:
        for name in names:
            if name in row:
                return name
        if named:
            present = ", ".join(map(str, row)) or "none"
            raise self._error(line, f"no field '{names[0]}' for the {role}; the row has: {present}")
        return None

    def _error(self, line: int, what: str) -> InputError:
        return InputError(f"{self._label}:{line}: {what}.")


def _candidates(named: str | None, defaults: tuple[str, ...]) -> tuple[tuple[str, ...], bool]:
    return (defaults, False) if named is None else ((named,), True)


def _kind(value: object) -> str:
    kinds = {bool: "true or false", int: "a number", float: "a number", list: "a list", dict: "an object"}
    return "null" if value is None else kinds.get(type(value), f"'{value}'")
