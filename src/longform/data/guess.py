"""Which dataset a file is of, by its first row."""

from __future__ import annotations

from typing import Any

from longform.corpus.streams import opened
from longform.corpus.training_questions import named_source
from longform.data.asqa import is_asqa
from longform.data.values import read_values, whole_value
from longform.errors import InputError

__all__ = ["guess_source", "shape_of"]


def guess_source(path: str) -> str:
    """The name of the dataset whose shape a file has; ``rows`` where it is none of them."""
    with opened(named_source(path)) as stream:
        head = stream.peek(256).removeprefix(b"\xef\xbb\xbf").lstrip()
    if not head:
        raise InputError(f"{path} is empty.")
    if not head.startswith(b"[") and _is_one_object(path, head):
        return "asqa"
    for value in read_values(path):
        return shape_of(value.row)
    raise InputError(f"{path} holds no questions.")


def _is_one_object(path: str, head: bytes) -> bool:
    """Whether the file is an ASQA.json: only then may it be read as a whole, which rows of 20 GB may not."""
    start = head[:200].replace(b" ", b"").replace(b"\n", b"").replace(b"\r", b"").replace(b"\t", b"")
    names = (b'{"dev":{', b'{"train":{', b'{"test":{')
    return start.startswith(names) and is_asqa(whole_value(path))


def shape_of(row: Any) -> str:
    """The dataset that a row is of, by the fields that only its rows have.

    >>> shape_of({"qid": "1", "question_text": "?", "answer_list": []}), shape_of({"question": "?"})
    ('qampari', 'rows')
    """
    if not isinstance(row, dict):
        return "rows"
    marks = {
        "convmix": ("questions", "conv_id"),
        "qampari": ("qid", "answer_list"),
        "nq": ("example_id", "document_tokens"),
        "nq-simplified": ("example_id", "document_text"),
        "eli5-kilt": ("input", "output"),
        "eli5-alce": ("question", "answer", "claims"),
        "ambignq": ("id", "question", "annotations"),
    }
    for name, fields in marks.items():
        if all(field in row for field in fields):
            return name
    return "nq-open" if set(row) == {"question", "answer"} and isinstance(row["answer"], list) else "rows"
