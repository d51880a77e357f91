"""Whether the passages found answer the question at all.

An honest system says so where they do not (Rajpurkar et al., ACL 2018, on questions that only look answerable). Four
signs are weighed by a logistic regression that `tools/answerable.py` fits: on 80 training questions whose pages the
collection of 52,197 passages holds, against 80 ASQA questions outside the test set none of whose pages or answers it
holds. On the half that it was not fitted on the area under the curve is 0.91 (0.86 for the re-ranker's score alone);
at the threshold taken it answers all of the answerable questions and refuses 45 % of the others. The shipped reader was
trained on these questions, and is surer of them than of new ones: so the threshold is lower than the figures ask for.
"""

from __future__ import annotations

from collections.abc import Sequence

from longform.answer.relevance import Found
from longform.records import Hit
from longform.text import content_tokens

__all__ = ["SIGNS", "answers_question", "signs"]

SIGNS = ("covered", "together", "sure", "score")

# The intercept, the weight of each sign, and what the sum must reach.
WEIGHTS = (-0.088, 0.213, 0.248, 1.497, 0.989)
LEAST = -1.5


def signs(question: str, hits: Sequence[Hit], found: Sequence[Found]) -> list[float]:
    """What tells whether a question is answered, one number for each of :data:`SIGNS`.

    The largest share of the question's words in one of the best five hits, the share that all of them hold, how sure
    the reader is at best, and the best hit's score by the re-ranker.
    """
    asked = content_tokens(question)
    words = [content_tokens(f"{hit.passage.title} {hit.passage.text}") for hit in hits[:5]]
    best = max((len(asked & held) for held in words), default=0)
    together = len(asked & set().union(*words))
    return [
        best / len(asked) if asked else 1.0,
        together / len(asked) if asked else 1.0,
        max((answer.confidence for answer in found), default=0.0),
        hits[0].scores.get("rerank", 0.0) if hits else 0.0,
    ]


def answers_question(question: str, hits: Sequence[Hit], found: Sequence[Found], *, calibrated: bool = True) -> bool:
    """Whether the hits seem to answer the question.

    The weights are those of the shipped re-ranker's scores: hits that were ranked in another way, on a scale that is
    unknown (``calibrated`` is false), count as answering where they share a word with the question.

    >>> answers_question("Who sang?", [], [])
    False
    """
    if not hits:
        return False
    known = signs(question, hits, found)
    if not calibrated or "rerank" not in hits[0].scores:
        return known[SIGNS.index("together")] > 0
    bias, *weights = WEIGHTS
    return bias + sum(weight * sign for weight, sign in zip(weights, known, strict=True)) >= LEAST
