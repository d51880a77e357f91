"""The language model's view: how likely the long answer is after a prompt that holds the passage."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from longform.corpus.training_questions import TrainingQuestion
from longform.errors import FailureError
from longform.records import Passage
from longform.silver.pool import Pool

__all__ = ["LanguageModel", "PerplexityMatch", "asqa_prompt"]


class LanguageModel(Protocol):
    """Any language model that tells how likely texts are; :class:`longform.train.likelihood.CausalModel` is one."""

    @property
    def name(self) -> str: ...

    def log_likelihoods(self, prompts: Sequence[str], continuations: Sequence[str]) -> list[float]:
        """For every prompt the natural logarithm of the probability that its continuation follows it."""
        ...


def asqa_prompt(question: str, passages: Sequence[Passage]) -> str:
    """The prompt of the ASQA paper: the question and the passages, each with the title of its page.

    Stelmakh et al., EMNLP 2022, appendix B and Figure 4. The last word, which an encoder–decoder does not need, tells
    a model of running text that the answer follows.

    >>> asqa_prompt("Who sang?", [Passage("a#0", "a", "Help!", "Ringo sang.", 0, 11)])
    'question: Who sang? context: info: Ringo sang. wikipage: Help! answer:'
    """
    context = " | ".join(f"info: {_line(passage.text)} wikipage: {_line(passage.title)}" for passage in passages)
    return f"question: {_line(question)} context: {context} answer:"


class PerplexityMatch:
    """The log-likelihood of the long answer given the prompt with the passage and k−1 others, per word; equation 3.

    Equation 3 prints the negative sum, of which less is better; here more is better, as in every other match. The
    division by the number of the answer's words changes nothing for one long answer, and lets several be compared.
    The k−1 others are drawn from the pool once for a question, by ``seed`` and its id, and stand before the passage: so
    candidates are compared in the same company, and all their prompts but k−1 begin alike, which a model needs to read
    only once. A passage that was drawn itself is replaced by one more that was drawn.
    """

    def __init__(self, model: LanguageModel, k: int = 5, seed: int = 0) -> None:
        self.model = model
        self._k, self._seed = k, seed

    def __call__(self, question: TrainingQuestion, pool: Pool) -> NDArray[np.float64]:
        """The best over the long answers; 0 where there are none."""
        if not question.long_answers or not len(pool):
            return np.zeros(len(pool))
        drawn = random.Random(f"{self._seed} {question.id}").sample(range(len(pool)), min(self._k, len(pool)))
        scores = np.full(len(pool), -np.inf)
        odd = drawn[: self._k - 1]
        groups = [[place for place in range(len(pool)) if place not in odd], *([place] for place in odd)]
        for places in filter(None, groups):
            # The same for all of a group: what was drawn, without the passage itself.
            others = [place for place in drawn if place != places[0]][: self._k - 1]
            context = [pool.passage(place) for place in others]
            prompts = [asqa_prompt(question.question, [*context, pool.passage(place)]) for place in places]
            for answer in question.long_answers:
                found = self.model.log_likelihoods(prompts, [f" {answer}"] * len(prompts))
                scores[places] = np.maximum(scores[places], np.array(found) / len(answer.split()))
        if not np.isfinite(scores).all():
            raise FailureError(
                f"The language model {self.model.name} gives no finite likelihood for the answer to {question.id}: "
                "choose another model."
            )
        return scores


def _line(text: str) -> str:
    return " ".join(text.split())
