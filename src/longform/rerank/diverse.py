"""Answer-diverse selection: from the best hits those that together hold the most different answers.

An ambiguous question has several answers, and the best hits for it often repeat one. JPR (Min et al., 2021), whose
passages the baselines of ASQA read (Stelmakh et al., EMNLP 2022, section 5), is trained to cover them all; here a span
reader says what each passage answers, and passages are chosen one by one such that

    F(S) = sum over p in S of relevance(p)  +  novelty · sum over answers a of the largest confidence(p, a) for p in S

grows most. ``relevance`` is the hit's score, scaled to 0 … 1 over the pool. ``confidence`` is the probability that the
reader's best span is an answer, 1 / (1 + exp(no-answer score − span score)), or 0 where it says that there is none. F
is monotone and submodular, so the greedy choice reaches at least 1 − 1/e of the best (Nemhauser et al., 1978).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from longform.errors import InputError
from longform.models.spans import AnswerReader, confidence, given, reader_context, scaled
from longform.records import Hit
from longform.text import normalize_answer

__all__ = ["NOVELTY", "POOL", "AnswerReader", "DiverseHit", "select_diverse"]

# How many of the best hits are read, and how much a new, certain answer counts against a relevance of 0 … 1.
POOL = 20
NOVELTY = 0.5


@dataclass(frozen=True, slots=True)
class DiverseHit(Hit):
    """A chosen hit, and the answer that the reader found in it; ``""`` where there is none.

    ``score`` is by how much it raised F, ``scores`` holds that as ``diverse`` and the reader's ``answer_confidence``.
    """

    answer: str = ""

    def to_json(self) -> dict[str, Any]:
        """As that of a hit, with the answer after its scores."""
        row = Hit.to_json(self)
        return {**{name: row.pop(name) for name in ("rank", "score", "scores")}, "answer": self.answer, **row}


def select_diverse(
    question: str,
    hits: Sequence[Hit],
    k: int,
    reader: AnswerReader,
    *,
    pool: int = POOL,
    novelty: float = NOVELTY,
) -> list[DiverseHit]:
    """The ``k`` of the first ``pool`` hits (of the first ``k``, where that is more) that cover the most answers.

    The first hit always stays the first; where two would do equally well, the one that was ranked higher is taken.
    Answers are the same where, normalised, the words of one stand in a row in the other.

    >>> class Names:
    ...     def read(self, pairs):
    ...         return [ReaderAnswer(text.split()[0], 9.0, 0.0, 0, 1) for _, text in pairs]
    >>> from longform.models import ReaderAnswer
    >>> from longform.records import Passage
    >>> found = ["Anna sang.", "Anna sang too.", "Bert sang."]
    >>> hits = [Hit(Passage(text, "", "", text, 0, 9), n, 9.0 - n) for n, text in enumerate(found, 1)]
    >>> [(hit.answer, hit.passage.id) for hit in select_diverse("Who sang?", hits, 2, Names(), novelty=1)]
    [('Anna', 'Anna sang.'), ('Bert', 'Bert sang.')]
    """
    if k < 1:
        raise InputError(f"k must be at least 1, and {k} is not.")
    if pool < 1:
        raise InputError(f"The pool must hold at least 1 hit, and {pool} is not.")
    if not (math.isfinite(novelty) and novelty >= 0):
        raise InputError(f"The weight of new answers must be 0 or more, and {novelty:g} is not.")
    hits = hits[: max(pool, k)]
    answers = reader.read([(question, reader_context(hit.passage).text) for hit in hits])
    confidences = [confidence(answer) for answer in answers]
    groups = _groups([given(answer) for answer in answers])
    relevances = scaled([hit.score for hit in hits])
    covered: dict[int, float] = {}
    left = list(range(len(hits)))
    chosen: list[tuple[int, float]] = []

    def gain(place: int) -> float:
        group = groups[place]
        new = 0.0 if group is None else max(confidences[place] - covered.get(group, 0.0), 0.0)
        return relevances[place] + novelty * new

    while left and len(chosen) < k:
        best = max(left, key=lambda place: (gain(place), -place)) if chosen else 0
        chosen.append((best, gain(best)))
        group = groups[best]
        if group is not None:
            covered[group] = max(confidences[best], covered.get(group, 0.0))
        left.remove(best)
    # From the second on gains never rise; the first, which was not chosen by its own, is lifted to theirs.
    gains = [max(value for _, value in chosen[:2]), *(value for _, value in chosen[1:])] if chosen else []
    return [
        DiverseHit(
            hits[place].passage,
            rank,
            value,
            {**hits[place].scores, "answer_confidence": confidences[place], "diverse": value},
            given(answers[place]),
        )
        for rank, ((place, _), value) in enumerate(zip(chosen, gains, strict=True), 1)
    ]


def _groups(answers: Sequence[str]) -> list[int | None]:
    """Which answers are the same: the number of the first of each, ``None`` where there is no answer.

    >>> _groups(["The Beatles", "Beatles (band)", "", "Wings", "the Wings!"])
    [0, 0, None, 3, 3]
    """
    firsts: dict[int, str] = {}
    groups: list[int | None] = []
    for place, answer in enumerate(answers):
        words = f" {normalize_answer(answer)} "
        if not words.strip():
            groups.append(None)
            continue
        same = [number for number, first in firsts.items() if words in first or first in words]
        if not same:
            firsts[place] = words
        groups.append(same[0] if same else place)
    return groups
