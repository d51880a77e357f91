"""How well an encoder finds the long answer of a question among the long answers of all held-out questions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from longform.train.pairs import Pair, question_key

__all__ = ["RetrievalCheck", "RetrievalScores"]

Encode = Callable[[list[str]], NDArray[np.float32]]


@dataclass(frozen=True, slots=True)
class RetrievalScores:
    """Shares of the questions whose long answer comes first and among the first five, and the mean of 1 / rank."""

    recall_at_1: float
    recall_at_5: float
    mrr: float


class RetrievalCheck:
    """Held-out questions, each with the answers that are right for it, among the distinct answers of all.

    A question with several long answers (ASQA has two) is asked once, and its best-ranked answer counts.

    >>> check = RetrievalCheck([Pair("Who sang?", "Ringo sang."), Pair("Who swam?", "A pike swam.")])
    >>> one_hot = lambda texts: np.eye(2, dtype=np.float32)[[int("w" in text[4:]) for text in texts]]
    >>> check.scores(one_hot, one_hot).recall_at_1
    1.0
    """

    def __init__(self, pairs: Sequence[Pair]) -> None:
        rows = {answer: row for row, answer in enumerate(dict.fromkeys(pair.answer for pair in pairs))}
        asked: dict[str, tuple[str, set[int]]] = {}
        for pair in pairs:
            _, right = asked.setdefault(question_key(pair.question), (pair.question, set()))
            right.add(rows[pair.answer])
        self.answers = list(rows)
        self.questions = [question for question, _ in asked.values()]
        self._right = [sorted(right) for _, right in asked.values()]

    def __len__(self) -> int:
        return len(self.questions)

    def scores(self, encode_questions: Encode, encode_answers: Encode) -> RetrievalScores:
        """Encode both sides and score the rankings; an answer tied with the right one is counted before it."""
        ranks = self.ranks(encode_questions(self.questions), encode_answers(self.answers))
        return RetrievalScores(
            float(np.mean(ranks <= 1)), float(np.mean(ranks <= 5)), float(np.mean(1 / ranks)) if len(ranks) else 0.0
        )

    def ranks(self, questions: NDArray[np.float32], answers: NDArray[np.float32]) -> NDArray[np.int64]:
        """The rank of each question's best right answer, from 1."""
        similar = questions @ answers.T
        ranks = []
        for row, right in zip(similar, self._right, strict=True):
            best = row[right].max()
            # Ties count against the model: one that gives all texts the same vector must not score.
            ranks.append(int((row >= best).sum()) - int((row[right] >= best).sum()) + 1)
        return np.asarray(ranks, dtype=np.int64)
