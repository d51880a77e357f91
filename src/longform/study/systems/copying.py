"""Systems that answer without reading anything: they tell what a score is worth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from longform.data.example import Example
from longform.errors import InputError
from longform.study.dataset_spec import DatasetSpec
from longform.study.systems.protocol import Outcome, Said, System
from longform.study.systems.settings import Settings, at_least_one, one_of
from longform.study.systems.tools import Tools

__all__ = ["Question", "RandomAnswer"]


@dataclass(frozen=True, kw_only=True)
class Question(Settings):
    """The question itself, several times over.

    QUESTION in ASQA (Stelmakh et al., 2022, section 5.1) has it eight times, copy_input in *Hurdles* (Krishna et al.,
    2021, section 3.3) five.
    """

    kind: ClassVar[str] = "question"
    row: ClassVar[str] = "ASQA: QUESTION; Hurdles: copy input (times = 5)"

    times: int = 8

    def __post_init__(self) -> None:
        at_least_one(times=self.times)

    @property
    def label(self) -> str:
        return f"question-x{self.times}"

    def open(self, tools: Tools, task: str) -> System:  # noqa: ARG002
        return _Repeat(self.times)


@dataclass(frozen=True)
class _Repeat:
    times: int

    def answer(self, example: Example) -> Outcome:
        return Outcome((Said(" ".join([example.question] * self.times)),))


@dataclass(frozen=True, kw_only=True)
class RandomAnswer(Settings):
    """The answer to some other, randomly drawn training question.

    Drawn from all training answers ("any"), or from the longest one of each question ("longest"), as the two files of
    *Hurdles* are. The draw depends on the seed and on the question's id alone.
    """

    kind: ClassVar[str] = "random-answer"
    row: ClassVar[str] = "Hurdles: random train answer"

    train: DatasetSpec | None = None
    choose: str = "any"

    def __post_init__(self) -> None:
        one_of("choose", self.choose, ("any", "longest"))
        if self.train is None:
            raise InputError("it needs training questions: set train to a dataset or a file.")

    def open(self, tools: Tools, task: str) -> System:  # noqa: ARG002
        assert self.train is not None
        pool: list[tuple[str, str]] = []
        for example in tools.training(self.train):
            longest = max(example.long_answers, key=lambda text: len(text.split()), default="")
            answers = example.long_answers if self.choose == "any" else (longest,) if longest else ()
            pool += [(example.id, answer) for answer in answers]
        return _Draw(tuple(pool), tools)


@dataclass(frozen=True)
class _Draw:
    pool: tuple[tuple[str, str], ...]
    tools: Tools

    def answer(self, example: Example) -> Outcome:
        chance = self.tools.chance("random-answer", example.id)
        source, text = chance.choice(self.pool)
        while source == example.id and any(other != example.id for other, _ in self.pool):
            source, text = chance.choice(self.pool)
        return Outcome((Said(text),), note={"training": [source]})
