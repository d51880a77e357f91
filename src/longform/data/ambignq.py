"""AmbigNQ: the readings of Natural Questions' questions (Min et al., "AmbigQA", EMNLP 2020)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from longform.data.example import Example, Reading
from longform.data.values import identifier_of, list_of, read_values, strings_of, text_of
from longform.errors import InputError

__all__ = ["read_ambignq"]

Names = tuple[str, ...]


def read_ambignq(path: str, split: str | None) -> Iterator[Example]:  # noqa: ARG001
    """The questions of ``train_light.json`` or ``dev_light.json``; of the full files the same, and the pages viewed.

    A question of the dev set has several annotations. Where one of them has readings, the first with the most of them
    is taken; else all names that annotators gave are names of the one answer. ``meta["annotations"]`` keeps them all.
    """
    for where, _, row in read_values(path):
        identifier = identifier_of(row, "id", where)
        notes = list_of(row, "annotations", where)
        several = [_readings(note, where) for note in notes if _kind(note, where) == "multipleQAs"]
        single = [
            name
            for note in notes
            if _kind(note, where) == "singleAnswer"
            for name in strings_of(list_of(note, "answer", where), "answer", where)
        ]
        readings = max(several, key=len, default=())
        names: tuple[Names, ...] = tuple(reading.short_answers for reading in readings)
        if not readings and single:
            names = (tuple(dict.fromkeys(single)),)
        pages = strings_of(list_of(row, "viewed_doc_titles", where), "viewed_doc_titles", where)
        yield Example(
            identifier, text_of(row, "question", where), (), names, pages, readings, meta={"annotations": notes}
        )


def _kind(note: Any, where: str) -> str:
    kind = note.get("type") if isinstance(note, Mapping) else None
    if kind not in ("singleAnswer", "multipleQAs"):
        raise InputError(f"{where}: an annotation is neither a singleAnswer nor multipleQAs.")
    return str(kind)


def _readings(note: Mapping[str, Any], where: str) -> tuple[Reading, ...]:
    return tuple(
        Reading(text_of(pair, "question", where), strings_of(list_of(pair, "answer", where), "answer", where))
        for pair in list_of(note, "qaPairs", where)
    )
