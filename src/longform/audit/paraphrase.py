"""Whether two questions are the same in other words, and whether they are on the same topic.

A paraphrase is a pair of which an answer to the one would do as an answer to the other: "approximately the same
question", label 2 of Krishna et al., 2021, section 3.2. Its probability is a logistic regression over
:data:`~longform.audit.question_signs.SIGNS`, and a pair is decided to be one from 0.5 on.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

from longform.audit.question_signs import AskedQuestion, SubjectWeights
from longform.data.example import Example
from longform.score.recall import PassageText, TitledText, page_key

__all__ = [
    "LEAST_COSINE",
    "NAME_COSINE",
    "NAME_SHARE",
    "QUALITY",
    "THRESHOLD",
    "WEIGHTS",
    "PairModel",
    "model_probabilities",
    "paraphrase_probability",
    "same_page",
    "same_subject",
]

# Made by `python tools/paraphrase.py ../shared/data` from tools/paraphrase_labels.csv, which see: 456 pairs of near
# questions of AmbigNQ train and of NQ and ASQA train, labelled one by one by a single annotator. The first is the
# bias, then one for each sign.
WEIGHTS: tuple[float, ...] = (-11.28, 10.84, 1.74, -1.36, -2.86, 1.19)
THRESHOLD = 0.5


class DecisionQuality(NamedTuple):
    """How well the decision does on pairs that it was not fitted on (10-fold cross-validation)."""

    pairs: int
    precision: float
    recall: float
    area: float


QUALITY = DecisionQuality(456, 0.754, 0.669, 0.865)

LEAST_COSINE = -(WEIGHTS[0] + WEIGHTS[2] + WEIGHTS[5]) / WEIGHTS[1]
"""Below this no other sign can make two questions a paraphrase."""

NAME_SHARE, NAME_COSINE = 0.4, 0.6
"""From these on two questions name the same subject: see :func:`same_subject`."""


def paraphrase_probability(signs: Sequence[float]) -> float:
    """The probability that a pair with these signs is a paraphrase.

    >>> from longform.audit.question_signs import paraphrase_signs
    >>> one, two = map(AskedQuestion.of, ("When did the lion king open?", "when did the lion king debut"))
    >>> round(paraphrase_probability(paraphrase_signs(one, two, 0.94, None)), 2)
    0.66
    """
    return _logistic(WEIGHTS, signs)


def same_page(first: Example, second: Example) -> bool | None:
    """Whether two questions have a page in common; ``None`` where one has no page."""
    if not first.pages or not second.pages:
        return None
    return not set(map(page_key, first.pages)).isdisjoint(map(page_key, second.pages))


def same_subject(first: AskedQuestion, second: AskedQuestion, cosine: float, weights: SubjectWeights) -> bool:
    """Whether two questions name the same subject: near in meaning, and much of what they say is a name in common.

    The limits were read off pairs of training questions. Of the near pairs that pass, a third share a page, and they
    are 0.6 of the near pairs that share one (`python tools/paraphrase.py`); most of the others differ only in
    the page: two questions about two characters of one film.
    """
    return cosine >= NAME_COSINE and weights.shared_name(first, second) >= NAME_SHARE


class PairModel(Protocol):
    """A model that reads two questions together: :class:`longform.models.CrossEncoder` is one."""

    @property
    def fingerprint(self) -> str: ...

    def score(self, question: str, passages: Sequence[TitledText]) -> Iterable[float]: ...


def model_probabilities(model: PairModel, threshold: float, question: str, others: Sequence[str]) -> list[float]:
    """Probabilities by a cross-encoder that reads both questions: the logistic of its score less ``threshold``.

    A model that was trained to tell duplicates from other pairs gives logits, and decides at 0.
    """
    scores = model.score(question, [PassageText("", other) for other in others])
    return [_squash(float(score) - threshold) for score in scores]


def _logistic(weights: Sequence[float], signs: Sequence[float]) -> float:
    return _squash(weights[0] + sum(weight * sign for weight, sign in zip(weights[1:], signs, strict=True)))


def _squash(value: float) -> float:
    return 1 / (1 + math.exp(-value)) if value >= 0 else math.exp(value) / (1 + math.exp(value))
