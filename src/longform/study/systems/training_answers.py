"""The answers to the training questions that are most like the question: what copying them would be worth."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from longform.data.example import Example
from longform.errors import InputError
from longform.study.dataset_spec import DatasetSpec
from longform.study.systems.nearest import WAYS, NearestQuestions
from longform.study.systems.protocol import Outcome, Said, System
from longform.study.systems.settings import Settings, at_least_one, one_of
from longform.study.systems.tools import Tools

__all__ = ["TrainingAnswer"]


@dataclass(frozen=True, kw_only=True)
class TrainingAnswer(Settings):
    """Of the answers to the ``k`` nearest training questions the longest, or the one with the largest ROUGE-L.

    Longest and best top-1 and top-7 train answer (Krishna et al., 2021, section 3.2 and Table 7); "best" looks at the
    gold answers and is a bound, not a system. ``by`` is how questions are found: by "embedding", or by "bm25".
    """

    kind: ClassVar[str] = "training-answer"
    row: ClassVar[str] = "Hurdles: longest and best top-1 and top-7 train answer"

    train: DatasetSpec | None = None
    k: int = 1
    choose: str = "longest"
    by: str = "embedding"

    def __post_init__(self) -> None:
        at_least_one(k=self.k)
        one_of("choose", self.choose, ("longest", "best"))
        one_of("by", self.by, WAYS)
        if self.train is None:
            raise InputError("it needs training questions: set train to a dataset or a file.")

    @property
    def label(self) -> str:
        return f"{self.choose}-training-answer@{self.k}"

    def open(self, tools: Tools, task: str) -> System:
        from longform.study.scores import rouge_for

        assert self.train is not None
        rouge = rouge_for(task, tools.sentences) if self.choose == "best" else None
        return _Nearby(tools.nearest(self.train, self.by), self.k, rouge)


@dataclass(frozen=True)
class _Nearby:
    nearest: NearestQuestions
    k: int
    rouge: Callable[[str, list[str]], float] | None

    def answer(self, example: Example) -> Outcome:
        started = time.perf_counter()
        near = self.nearest.find(example, self.k)
        seconds = {"search": time.perf_counter() - started}
        texts = list(dict.fromkeys(text for one in near for text in one.example.long_answers))
        note = {"training": [one.example.id for one in near], "likeness": [one.score for one in near]}
        if not texts:
            return Outcome((Said(""),), seconds=seconds, note=note)
        if self.rouge is None:
            chosen = max(texts, key=lambda text: len(text.split()))
        else:
            if not example.long_answers:
                raise InputError(
                    f"The question {example.id} has no long answer, so none can be the best: choose longest."
                )
            references, rouge = list(example.long_answers), self.rouge
            chosen = max(texts, key=lambda text: rouge(text, references))
        return Outcome((Said(chosen),), seconds=seconds, note=note)
