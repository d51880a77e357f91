"""Questions with their answers and passages, as a Fusion-in-Decoder reader learns from them."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from longform.answer.aliases import name_pattern
from longform.errors import InputError
from longform.score.rows import json_rows

__all__ = [
    "NONE",
    "SEPARATOR",
    "FidExample",
    "FidPassage",
    "fid_input",
    "fid_target",
    "index_search",
    "read_fid",
    "split_fid",
]

# Stands in T5's vocabulary and, unlike commas and semicolons, in next to no name.
SEPARATOR = " | "
# What is written where no passage answers.
NONE = "not relevant"


@dataclass(frozen=True, slots=True)
class FidPassage:
    """A passage as it is read."""

    title: str
    text: str


@dataclass(frozen=True, slots=True)
class FidExample:
    """A question, its answers, each by all its names, and its passages, the best first."""

    id: str
    question: str
    answers: tuple[tuple[str, ...], ...]
    passages: tuple[FidPassage, ...]


Search = Callable[[str], Sequence[FidPassage]]


def fid_input(question: str, passage: FidPassage) -> str:
    """What the encoder reads of one passage (Izacard and Grave, EACL 2021, section 3).

    >>> fid_input("Who sang?", FidPassage("Anna", "She sang."))
    'question: Who sang? title: Anna context: She sang.'
    """
    return f"question: {question} title: {passage.title} context: {passage.text}"


def fid_target(example: FidExample, passages: int) -> str:
    """What the decoder shall write: the answers that stand in the passages that are read, in the order of these.

    An answer that none of them holds is left out: it would teach to answer from memory. Of several names of an answer,
    that is written which stands first.

    >>> fid_target(FidExample("1", "Who sang?", (("Bert",), ("Anna", "Ann"), ("Carl",)),
    ...                       (FidPassage("", "Ann sang."), FidPassage("", "Bert and Anna sang."))), 2)
    'Ann | Bert'
    """
    places = []
    for names in example.answers:
        found = [
            (number, match.start(), name)
            for name in names
            for number, passage in enumerate(example.passages[:passages])
            if (match := name_pattern(name).search(f"{passage.title} {passage.text}"))
        ]
        if found:
            places.append(min(found))
    return SEPARATOR.join(name for _, _, name in sorted(places)) or NONE


def index_search(folder: str | Path, k: int) -> Search:
    """A search in an index for the ``k`` best passages of a question."""
    from longform.retrieve import Index

    index = Index.open(folder)

    def search(question: str) -> list[FidPassage]:
        hits = index.search(question, min(k, len(index)))
        return [FidPassage(hit.passage.title, hit.passage.text) for hit in hits]

    return search


def read_fid(path: str | Path, search: Search | None = None) -> list[FidExample]:
    """Examples from JSONL: ``question``, ``answers`` and ``ctxs`` (or ``passages``) with ``title`` and ``text``.

    ``answers`` are strings, or lists of the names of one answer; QAMPARI's own ``question_text`` and ``answer_list``
    are taken too. ``search`` finds the passages of rows that have none.
    """
    examples: dict[str, FidExample] = {}
    for place, row in enumerate(json_rows(path), 1):
        where = f"{path}, row {place}"
        question = row.get("question", row.get("question_text"))
        if not isinstance(question, str) or not question.strip():
            raise InputError(f"{where} has no question.")
        item = str(row.get("id", row.get("qid", place)))
        if item in examples:
            raise InputError(f"{where}: the id {item} stands twice.")
        found = row.get("ctxs", row.get("passages"))
        if found is None and search is None:
            raise InputError(f"{where} has no passages: add `ctxs` to it, or name an index to search with --index.")
        passages = tuple(search(question)) if found is None and search is not None else _passages(found, where)
        examples[item] = FidExample(item, question.strip(), _answers(row, where), passages)
    if len(examples) < 2:
        raise InputError(f"{path} has {len(examples)} questions: at least 2 are needed, to learn from and to report.")
    return list(examples.values())


def _passages(found: Any, where: str) -> tuple[FidPassage, ...]:
    if not isinstance(found, list) or not all(
        isinstance(one, Mapping) and isinstance(one.get("text"), str) for one in found
    ):
        raise InputError(f"{where}: passages must be a list of objects with `title` and `text`.")
    if not found:
        raise InputError(f"{where} has an empty list of passages.")
    return tuple(FidPassage(str(one.get("title") or ""), one["text"]) for one in found)


def _answers(row: Mapping[str, Any], where: str) -> tuple[tuple[str, ...], ...]:
    if "answer_list" in row:
        return tuple(tuple(map(str, answer["aliases"])) for answer in row["answer_list"])
    answers = []
    for answer in row["answers"] if isinstance(row.get("answers"), list) else [None]:
        names = [answer] if isinstance(answer, str) else answer
        if (
            not isinstance(names, list)
            or not names
            or not all(isinstance(name, str) and name.strip() for name in names)
        ):
            raise InputError(f"{where}: answers must be a list of strings, or of lists of names.")
        answers.append(tuple(name.strip() for name in names))
    return tuple(answers)


def split_fid(
    examples: Sequence[FidExample], held_out: float, limit: int | None, seed: int
) -> tuple[list[FidExample], list[FidExample]]:
    """Questions to learn from, and questions to report, at least one of each."""
    drawn = list(examples)
    random.Random(seed).shuffle(drawn)
    drawn = drawn[:limit]
    held = min(max(round(held_out * len(drawn)), 1), len(drawn) - 1)
    return drawn[held:], drawn[:held]
