"""Any file of JSON objects as a dataset: a map says which field holds what."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from longform.data.example import Example
from longform.data.values import Value, identifier_of, list_of, names_of, read_values, strings_of, text_of
from longform.errors import InputError

__all__ = ["FIELDS", "checked_fields", "read_rows"]

# What an example has, and the names under which it is looked for where no map says otherwise.
FIELDS: Mapping[str, tuple[str, ...]] = {
    "id": ("id", "_id", "qid", "query_id", "question_id", "sample_id"),
    "question": ("question", "query", "input", "ambiguous_question"),
    "long_answers": ("long_answers", "long_answer"),
    "short_answers": ("short_answers", "answers"),
    "pages": ("pages", "title"),
}


def checked_fields(fields: Mapping[str, str]) -> dict[str, str]:
    """The map itself, where each of its keys is something that an example has."""
    unknown = [name for name in fields if name not in FIELDS]
    if unknown:
        raise InputError(f"An example has no {unknown[0]} to fill from a field: it has {', '.join(FIELDS)}.")
    return dict(fields)


def read_rows(path: str, fields: Mapping[str, str] | None = None) -> Iterator[Example]:
    """The rows of a JSONL file or of a JSON list.

    ``fields`` maps what an example has (``id``, ``question``, ``long_answers``, ``short_answers``, ``pages``) to the
    name of the field that holds it; a dot goes into an object: ``answer.text``. A row without an id is named after
    the file and its line. Rows that :meth:`Example.to_json` made come back whole.

    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "mine.jsonl"
    >>> _ = file.write_text('{"ask": "Who sang?", "gold": {"names": ["Ringo", "Starr"]}}')
    >>> next(read_rows(str(file), {"question": "ask", "short_answers": "gold.names"}))
    Example(id='mine-1', question='Who sang?', long_answers=(), short_answers=(('Ringo',), ('Starr',)), pages=(), \
readings=(), follow_ups=(), passages=(), meta={})
    """
    wanted = checked_fields(fields or {})
    stem = Path(path).name.lstrip(".").partition(".")[0]
    for value in read_values(path):
        yield _example(value, wanted, f"{stem}-{value.number}")


def _example(value: Value, fields: Mapping[str, str], default: str) -> Example:
    where, _, row = value
    if not isinstance(row, dict):
        raise InputError(f"{where}: a row must be a JSON object.")
    if not fields and any(isinstance(row.get(name), list) for name in ("readings", "follow_ups", "passages")):
        return _own(row, where)
    found = {name: _found(row, name, fields, where) for name in FIELDS}
    identifier = default if found["id"] is None else identifier_of(found, "id", where)
    if found["question"] is None:
        names = fields.get("question") or ", ".join(FIELDS["question"])
        raise InputError(f"{where}: there is no question: name its field with question=…; looked for was {names}.")
    question = text_of(found, "question", where)
    lists = {
        name: [found[name]] if isinstance(found[name], str) else list_of(found, name, where)
        for name in ("long_answers", "short_answers", "pages")
    }
    return Example(
        identifier,
        question,
        strings_of(lists["long_answers"], "long_answers", where),
        names_of(lists["short_answers"], "short_answers", where),
        strings_of(lists["pages"], "pages", where),
    )


def _found(row: Mapping[str, Any], name: str, fields: Mapping[str, str], where: str) -> Any:
    if name not in fields:
        return next((row[known] for known in FIELDS[name] if row.get(known) is not None), None)
    value: Any = row
    for step in fields[name].split("."):
        if not isinstance(value, Mapping) or step not in value:
            raise InputError(f"{where}: there is no field {fields[name]}, which was to be the {name}.")
        value = value[step]
    return value


def _own(row: Mapping[str, Any], where: str) -> Example:
    try:
        return Example.from_json(row)
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{where}: no example as Longform writes it ({error}).") from None
