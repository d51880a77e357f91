"""The system that knows everything by heart, or does not."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import ClassVar

from longform.answer.prompts import STYLES, quoted
from longform.data.example import Example
from longform.errors import InputError
from longform.models.language.protocol import BrokenStreamError, LanguageModel, Message
from longform.score.citations import remove_citations
from longform.study.systems.protocol import Outcome, Said, System
from longform.study.systems.settings import Settings, at_least_one, one_of
from longform.study.systems.tools import Tools

__all__ = ["ClosedBook"]


@dataclass(frozen=True, kw_only=True)
class ClosedBook(Settings):
    """Closed book: a language model that is given the question and nothing else, as T5-C is."""

    kind: ClassVar[str] = "closed-book"
    row: ClassVar[str] = "ASQA: T5-C"

    model: str | None = None
    words: int = 65
    prompt: str = "instruct"

    def __post_init__(self) -> None:
        at_least_one(words=self.words)
        one_of("prompt", self.prompt, STYLES)
        if self.model is None:
            raise InputError("it needs a language model: set model, to gguf:FILE for one.")

    def open(self, tools: Tools, task: str) -> System:  # noqa: ARG002
        assert self.model is not None
        return _ByHeart(tools.language_model(self.model), self.words, self.prompt, tools.seed)


_ASKED = (
    "Write one paragraph of about {words} words that answers the question. If the question can be understood in "
    "several ways, answer every one of them and say how they differ. Write nothing but the paragraph."
)


@dataclass(frozen=True)
class _ByHeart:
    model: LanguageModel
    words: int
    prompt: str
    seed: int

    def answer(self, example: Example) -> Outcome:
        question = " ".join(quoted(example.question).split())
        asked = (
            f"question: {question} answer:"
            if self.prompt == "asqa"
            else f"Question: {question}\n\n{_ASKED.format(words=self.words)}"
        )
        started = time.perf_counter()
        pieces, warnings = [], []
        try:
            # As LanguageModelAnswerer allows: an answer may be twice as long as it was asked for.
            limit = self.words * 3 + 64
            for piece in self.model.generate([Message("user", asked)], max_tokens=limit, seed=self.seed):
                pieces.append(piece)  # noqa: PERF402
        except BrokenStreamError as error:
            warnings.append(f"The answer is not complete. {error}")
        seconds = {"answer": time.perf_counter() - started}
        text = remove_citations("".join(pieces).strip())
        return Outcome((Said(text),), model=self.model.name, warnings=tuple(warnings), seconds=seconds)
