"""Any file of JSON objects as a dataset: a map says which field holds what."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from longform.data.example import Example, FollowUp, GoldPassage, Reading
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
    "passages": ("passages",),
    "readings": ("readings",),
    "follow_ups": ("follow_ups",),
}


def checked_fields(fields: Mapping[str, str]) -> dict[str, str]:
    """The map itself, where each of its keys is something that an example has."""
    unknown = [name for name in fields if name not in FIELDS]
    if unknown:
        raise InputError(f"An example has no {unknown[0]} to fill from a field: it has {', '.join(FIELDS)}.")
    return dict(fields)


def read_rows(path: str, fields: Mapping[str, str] | None = None) -> Iterator[Example]:
    """The rows of a JSONL file or of a JSON list.

    ``fields`` maps what an example has (:data:`FIELDS`) to the name of the field that holds it; a dot goes into an
    object: ``answer.text``. A row without an id is named after the file and its line. Gold passages are texts, or
    objects with ``text`` and at choice ``title`` and ``answer``, the place of the long answer that they were noted
    for. Rows that :meth:`Example.to_json` made come back whole.

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
    found = {name: _found(row, name, fields, where) for name in FIELDS}
    identifier = default if found["id"] is None else identifier_of(found, "id", where)
    if found["question"] is None:
        names = fields.get("question") or ", ".join(FIELDS["question"])
        raise InputError(f"{where}: there is no question: name its field with question=…; looked for was {names}.")
    question = text_of(found, "question", where)
    lists = {
        name: [found[name]] if isinstance(found[name], str) else list_of(found, name, where)
        for name in FIELDS
        if name not in ("id", "question")
    }
    long_answers = strings_of(lists["long_answers"], "long_answers", where)
    meta = row.get("meta")
    return Example(
        identifier,
        question,
        long_answers,
        names_of(lists["short_answers"], "short_answers", where),
        strings_of(lists["pages"], "pages", where),
        tuple(_reading(one, where) for one in lists["readings"]),
        tuple(_follow_up(one, f"{identifier}-{place}", where) for place, one in enumerate(lists["follow_ups"], 1)),
        tuple(_passage(one, lists["long_answers"], long_answers, where) for one in lists["passages"]),
        meta if isinstance(meta, dict) else {},
    )


def _reading(value: Any, where: str) -> Reading:
    inside = f"{where}, a reading"
    question = text_of(value, "question", inside)
    return Reading(question, strings_of(list_of(value, "short_answers", inside), "short_answers", inside))


def _follow_up(value: Any, default: str, where: str) -> FollowUp:
    inside = f"{where}, a follow-up"
    question = text_of(value, "question", inside)
    identifier = default if value.get("id") is None else identifier_of(value, "id", inside)
    return FollowUp(identifier, question, names_of(list_of(value, "short_answers", inside), "short_answers", inside))


def _passage(value: Any, answers: Sequence[str], kept: Sequence[str], where: str) -> GoldPassage:
    inside = f"{where}, a gold passage"
    if isinstance(value, str):
        value = {"text": value}
    text = text_of(value, "text", inside)
    title, answer = value.get("title") or "", value.get("answer", -1)
    if not isinstance(title, str):
        raise InputError(f"{inside}: its title must be a string.")
    if isinstance(answer, bool) or not isinstance(answer, int) or not -1 <= answer < len(answers):
        raise InputError(f"{inside}: its answer is the place of a long answer, from 0, or -1 for all, not {answer!r}.")
    # Of answers that are the same one is kept.
    noted = answers[answer].strip() if answer >= 0 else ""
    return GoldPassage(title, text, kept.index(noted) if noted else -1)


def _found(row: Mapping[str, Any], name: str, fields: Mapping[str, str], where: str) -> Any:
    if name not in fields:
        return next((row[known] for known in FIELDS[name] if row.get(known) is not None), None)
    value: Any = row
    for step in fields[name].split("."):
        if not isinstance(value, Mapping) or step not in value:
            raise InputError(f"{where}: there is no field {fields[name]}, which was to be the {name}.")
        value = value[step]
    return value
