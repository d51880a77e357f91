"""Gold as a system: passages that the owners say hold the answer, and people's answers against each other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from longform.data.example import Example
from longform.data.having import TWO_ANSWERS, longest_reference
from longform.records import Hit, Passage
from longform.study.systems.protocol import Outcome, Said, System
from longform.study.systems.settings import Settings, one_of
from longform.study.systems.tools import Tools

if TYPE_CHECKING:
    from longform.retrieve import Index

__all__ = ["Gold", "Human", "gold_hits", "other_references"]

_POOL = 100


def other_references(example: Example) -> tuple[int, ...] | None:
    """All long answers but the longest; ``None``, which is all, where there is no other."""
    longest = longest_reference(example)
    others = tuple(place for place in range(len(example.long_answers)) if place != longest)
    return others or None


def gold_hits(example: Example, k: int, index: Index | None, *, disambiguations: bool) -> list[Hit]:
    """The first ``k`` passages that the owners give, or, with an index, that the gold answers choose from it."""
    found: list[Passage] = []
    if disambiguations:
        for reading in example.readings:
            text = f"{reading.question} {' or '.join(reading.short_answers)}."
            found.append(Passage(f"{example.id}#reading{len(found)}", example.id, "", text, 0, len(text)))
    if index is not None:
        found += _silver(example, k, index)
    else:
        longest = longest_reference(example)
        kept = [passage for passage in example.passages if passage.answer in (-1, longest)]
        found += [
            Passage(f"{example.id}#gold{place}", example.id, one.title, one.text, 0, len(one.text))
            for place, one in enumerate(kept)
        ]
    return [Hit(passage, rank, -float(rank)) for rank, passage in enumerate(found[:k], 1)]


def _silver(example: Example, k: int, index: Index) -> list[Passage]:
    from longform.corpus.training_questions import TrainingQuestion
    from longform.silver import SilverSettings, silver_rows

    longest = longest_reference(example)
    answers = (example.long_answers[longest],) if longest >= 0 else ()
    asked = TrainingQuestion(example.id, example.question, answers, example.short_answers, example.pages)
    pool = min(_POOL, len(index))
    row = next(iter(silver_rows(index, [asked], SilverSettings("silver", min(k, pool), pool, "bm25"))))
    return [index.passage(passage.id) for passage in row.silver]


@dataclass(frozen=True, kw_only=True)
class Human(Settings):
    """People's answers against each other, in all directions, averaged: HP-w/-C in ASQA's Table 3."""

    kind: ClassVar[str] = "human"
    row: ClassVar[str] = "ASQA: HP-w/-C"

    @property
    def needs(self) -> str:
        return TWO_ANSWERS

    def open(self, tools: Tools, task: str) -> System:  # noqa: ARG002
        return _Humans()


@dataclass(frozen=True)
class _Humans:
    def answer(self, example: Example) -> Outcome:
        places = range(len(example.long_answers))
        return Outcome(
            tuple(
                Said(text, tuple(other for other in places if other != place))
                for place, text in enumerate(example.long_answers)
            )
        )


@dataclass(frozen=True, kw_only=True)
class Gold(Settings):
    """One of people's answers against the others: the longest, or the one with the largest ROUGE-L against them.

    longest_gold and best_gold of *Hurdles* (section 3.3), which leaves out the questions with one answer; so must the
    dataset here.
    """

    kind: ClassVar[str] = "gold"
    row: ClassVar[str] = "Hurdles: longest gold answer, best gold answer"

    choose: str = "longest"

    def __post_init__(self) -> None:
        one_of("choose", self.choose, ("longest", "best"))

    @property
    def label(self) -> str:
        return f"{self.choose}-gold"

    @property
    def needs(self) -> str:
        return TWO_ANSWERS

    def open(self, tools: Tools, task: str) -> System:
        from longform.study.scores import rouge_for

        return _OneGold(rouge_for(task, tools.sentences) if self.choose == "best" else None)


@dataclass(frozen=True)
class _OneGold:
    rouge: Callable[[str, list[str]], float] | None

    def answer(self, example: Example) -> Outcome:
        texts = list(example.long_answers)
        chosen = longest_reference(example)
        if self.rouge is not None:
            values = [self.rouge(text, texts[:place] + texts[place + 1 :]) for place, text in enumerate(texts)]
            chosen = values.index(max(values))
        others = tuple(place for place in range(len(texts)) if place != chosen)
        return Outcome((Said(texts[chosen], others),))
