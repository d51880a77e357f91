"""ASQA: ambiguous questions with long answers (Stelmakh et al., EMNLP 2022, section 3)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from longform.data.example import Example, GoldPassage, Reading
from longform.data.values import list_of, strings_of, text_of, whole_value
from longform.errors import InputError

__all__ = ["is_asqa", "only_split", "read_asqa"]

# What stands in ``qa_pairs[].context`` where AmbigQA had no paragraph for the answer.
_NO_CONTEXT = "No context provided"


def is_asqa(value: Any) -> bool:
    """Whether it is ``{split: {id: {"ambiguous_question": …}}}``."""
    if not isinstance(value, dict) or not value or not all(isinstance(items, dict) for items in value.values()):
        return False
    return any(
        isinstance(item, dict) and "ambiguous_question" in item for split in value.values() for item in split.values()
    )


def only_split(value: Mapping[str, Any]) -> str:
    """The split that is meant where none is named: the only one, else dev."""
    return next(iter(value)) if len(value) == 1 else "dev"


def read_asqa(path: str, split: str | None) -> Iterator[Example]:
    """The questions of one split of an ``ASQA.json``."""
    value = whole_value(path)
    if not is_asqa(value):
        raise InputError(f"{path} is no ASQA.json, which is {{split: {{id: {{'ambiguous_question': …}}}}}}.")
    split = split or only_split(value)
    if split not in value:
        raise InputError(f"{path} has no split {split}; its splits are: {', '.join(value)}.")
    for identifier, item in value[split].items():
        yield _example(identifier, item, f"{path}, question {identifier}")


def _example(identifier: str, item: Any, where: str) -> Example:
    question = text_of(item, "ambiguous_question", where)
    passages: list[GoldPassage] = []
    readings = []
    for pair in list_of(item, "qa_pairs", where):
        short = strings_of(list_of(pair, "short_answers", where), "short_answers", where)
        if not short:
            raise InputError(f"{where}: one of its qa_pairs has no short_answers.")
        readings.append(Reading(text_of(pair, "question", where), short))
        context = str(pair.get("context") or "")
        if context and context != _NO_CONTEXT:
            passages.append(GoldPassage(str(pair.get("wikipage") or ""), context))
    long = []
    for place, note in enumerate(list_of(item, "annotations", where)):
        long.append(text_of(note, "long_answer", where))
        # Some pieces of knowledge are empty in the official file.
        passages += [
            GoldPassage(str(piece.get("wikipage") or ""), str(piece["content"]), place)
            for piece in list_of(note, "knowledge", where)
            if isinstance(piece, Mapping) and str(piece.get("content") or "").strip()
        ]
    pages = [_title(page, where) for page in list_of(item, "wikipages", where)]
    return Example(
        identifier,
        question,
        tuple(long),
        tuple(reading.short_answers for reading in readings),
        tuple(dict.fromkeys(pages)),
        tuple(readings),
        passages=tuple(dict.fromkeys(passages)),
    )


def _title(page: Any, where: str) -> str:
    return text_of(page if isinstance(page, Mapping) else {}, "title", where)
