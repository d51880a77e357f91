"""From a question and its candidates to a row of the silver file: score, choose, explain."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from longform.corpus.training_questions import TrainingQuestion
from longform.silver.choice import Choice, choose_best, choose_direct, choose_silver
from longform.silver.match import Match
from longform.silver.pool import Pool
from longform.silver.records import SilverPassage, SilverRow
from longform.text import content_words

__all__ = ["METHODS", "Selector"]

METHODS = ("lexical", "semantic", "perplexity", "direct", "silver")


@dataclass(frozen=True)
class Selector:
    """Chooses at most ``k`` silver passages of a pool by one of the methods.

    ``match`` scores candidates against the long answer; ``direct`` takes none, and orders by the question's words.
    """

    method: str
    k: int
    match: Match | None

    def __call__(self, question: TrainingQuestion, pool: Pool) -> SilverRow:
        """The row of a question; without silver passages where nothing in the pool deserves it."""
        held = pool.held(question.short_answers)
        if self.match is None:
            scores = pool.recall(question.question).tolist()
        else:
            scores = self.match(question, pool).tolist()
        chosen = self._choose(question, held, scores)
        silver = tuple(self._explained(question, pool, held, scores, choice) for choice in chosen)
        return SilverRow(
            question.id,
            question.question,
            pool.ids(),
            silver,
            len({answer for choice in chosen for answer in held[choice.place]}),
            len(question.short_answers),
            question.long_answers,
            question.short_answers,
        )

    def _choose(
        self, question: TrainingQuestion, held: Sequence[dict[int, str]], scores: Sequence[float]
    ) -> list[Choice]:
        if self.method == "direct":
            return choose_direct(held, scores, self.k)
        if self.method == "silver":
            return choose_silver(held, scores, self.k)
        if not question.long_answers:
            return []
        # A passage that shares no word with the long answer does not support it.
        return choose_best(scores, self.k, above=0.0 if self.method == "lexical" else -math.inf)

    def _explained(
        self,
        question: TrainingQuestion,
        pool: Pool,
        held: Sequence[dict[int, str]],
        scores: Sequence[float],
        choice: Choice,
    ) -> SilverPassage:
        place = choice.place
        passage = pool.passage(place)
        shared, total = _shared(question, pool, place)
        facts = _Facts(
            names=tuple(held[place].values()),
            answer=None if choice.answer is None else held[place][choice.answer],
            shared=len(shared),
            total=total,
            score=scores[place],
            better=sum(score > scores[place] for score in scores),
            pool=len(pool),
            holders=sum(choice.answer in answers for answers in held),
        )
        why = _why(self.method, facts, question)
        return SilverPassage(
            passage.id, passage.title, passage.text, place + 1, scores[place], self.method, facts.names, shared, why
        )


def _shared(question: TrainingQuestion, pool: Pool, place: int) -> tuple[tuple[str, ...], int]:
    """The words shared with the long answer of the best recall, and how many words that answer has."""
    if not question.long_answers:
        return (), 0
    recalls = [pool.recall(answer)[place] for answer in question.long_answers]
    best = question.long_answers[int(np.argmax(recalls))]
    return pool.shared(place, best), len(content_words(best))


@dataclass(frozen=True)
class _Facts:
    names: tuple[str, ...]
    answer: str | None
    shared: int
    total: int
    score: float
    better: int
    pool: int
    holders: int


def _why(method: str, facts: _Facts, question: TrainingQuestion) -> str:
    """One sentence for a person."""
    place = f"{_ordinal(facts.better + 1)} of {facts.pool} candidates"
    if method == "direct":
        words = len(content_words(question.question))
        asked = f"{round(facts.score * words)} of the {words} words of the question"
        return f"Holds {_direct(facts.names)}, and {asked}."
    if method == "semantic":
        return f"Its meaning is near that of the long answer (similarity {facts.score:.3f}): {place}."
    if method == "perplexity":
        return f"With it the language model finds the long answer likely ({facts.score:.3f} per word): {place}."
    share = f"{facts.shared} of the {facts.total} words of the long answer"
    if facts.answer is None:
        return f"Shares {share}: {place}."
    if facts.holders == 1:
        return f"Holds {_direct(facts.names)}; no other candidate has “{facts.answer}”. It shares {share}."
    return (
        f"Holds {_direct(facts.names)}; of the {facts.holders} candidates with “{facts.answer}” it matches best, "
        f"by {share}."
    )


def _direct(names: Sequence[str]) -> str:
    """The names of direct answers in a sentence.

    >>> _direct(["Rome"]), _direct(["Rome", "Nero", "Otho"])
    ('the direct answer “Rome”', 'the direct answers “Rome”, “Nero” and “Otho”')
    """
    quoted = [f"“{name}”" for name in names]
    if len(quoted) == 1:
        return f"the direct answer {quoted[0]}"
    return f"the direct answers {', '.join(quoted[:-1])} and {quoted[-1]}"


def _ordinal(number: int) -> str:
    """The number as a place.

    >>> [_ordinal(number) for number in (1, 2, 3, 4, 11, 22)]
    ['1st', '2nd', '3rd', '4th', '11th', '22nd']
    """
    suffix = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{suffix}"
