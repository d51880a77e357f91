"""Questions with the systems' answers side by side, as the page shows them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from longform.data.example import Example
from longform.report.choosing import choose_examples, item_values
from longform.report.gather import DatasetRuns, Entry
from longform.report.measures import is_passages, measure_of
from longform.report.shading import Piece, shaded
from longform.score.answers import any_within
from longform.score.recall import PassageText
from longform.text import normalize_answer

__all__ = ["ShownAnswer", "ShownExample", "ShownPassage", "shown_examples"]

# A page is to be opened on a phone: longer answers (bm25@100) are cut, and of many passages the first are kept.
_CHARACTERS = 2000
_PASSAGES = 10


class ShownPassage(NamedTuple):
    """A passage that some answer was made from; ``number`` is its place on the page, from 1."""

    number: int
    title: str
    text: str


class ShownAnswer(NamedTuple):
    """A system's answer in pieces; ``passages`` are the numbers of those that it was made from, in its own order.

    ``found`` are the gold short answers, each with whether the answer names it; ``cut`` is how many characters of the
    answer are not shown.
    """

    system: str
    role: str | None
    pieces: Sequence[Piece]
    cut: int
    scores: Sequence[tuple[str, str]]
    found: Sequence[tuple[str, bool]]
    passages: Sequence[int]
    has_passages: bool
    warnings: Sequence[str]


class ShownExample(NamedTuple):
    """A question with its gold and its answers."""

    example: Example
    why: str
    answers: Sequence[ShownAnswer]
    passages: Sequence[ShownPassage]


def shown_examples(
    dataset: DatasetRuns, quality: str | None, bars: Sequence[str], count: int, seed: int = 0
) -> list[ShownExample]:
    """The chosen questions; ``bars`` are the scores that stand beside each answer."""
    examples = dataset.examples
    values = {entry.system: _by_id(entry, bars) for entry in dataset.entries}
    shown = []
    for identifier, why in choose_examples(dataset, quality, count, seed).items():
        numbers: dict[tuple[str, str], int] = {}
        answers = [
            answer
            for entry in dataset.entries
            for answer in _answers(entry, examples[identifier], values[entry.system].get(identifier, []), numbers)
        ]
        passages = [ShownPassage(number, title, text) for (title, text), number in numbers.items()]
        shown.append(ShownExample(examples[identifier], why, answers, passages))
    return shown


def _by_id(entry: Entry, bars: Sequence[str]) -> dict[str, list[tuple[str, str]]]:
    names = [name for name in (*bars, "groundedness", "length") if name in entry.report.scores]
    found: dict[str, list[tuple[str, str]]] = {identifier: [] for identifier in entry.report.ids}
    for name in dict.fromkeys(names):
        values = item_values(entry, name)
        if values is None or (is_passages(name) and name != "groundedness"):
            continue
        for identifier, value in zip(entry.report.ids, values, strict=True):
            found[identifier].append((measure_of(name).heading, f"{value:.0f}" if abs(value) >= 10 else f"{value:.2g}"))
    return found


def _answers(
    entry: Entry, example: Example, scores: Sequence[tuple[str, str]], numbers: dict[tuple[str, str], int]
) -> list[ShownAnswer]:
    row: Mapping[str, Any] = entry.run.rows[example.id]
    kept = row.get("passages") or ()
    passages = [PassageText(one["title"], one["text"]) for one in kept]
    places = [numbers.setdefault((one.title, one.text), len(numbers) + 1) for one in passages[:_PASSAGES]]
    found = []
    for said in row["answers"]:
        text = said.get("cited") or said["text"]
        normal = normalize_answer(said["text"])
        pieces = shaded(text[:_CHARACTERS], passages if kept else None)
        named = [(names[0], any_within(names, normal)) for names in example.short_answers if names]
        found.append(
            ShownAnswer(
                entry.system,
                entry.role,
                pieces,
                max(0, len(text) - _CHARACTERS),
                scores,
                named,
                places,
                bool(kept),
                tuple(map(str, row.get("warnings", ()))),
            )
        )
    return found
