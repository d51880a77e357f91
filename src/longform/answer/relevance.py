"""How much each sentence has to say to a question: a weighted sum of what the models and the words tell.

The weights were learned by the weak supervision that trains the re-ranker (Christmann et al., 2024, section 2), one
level down: of the sentences in the passages found for a training question, how many of their words does its long
answer use? `tools/sentence_weights.py` fits and prints them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from longform.answer.candidates import Candidate
from longform.models.cross_encoder import TitledText
from longform.models.spans import AnswerReader, confidence, given, in_one_line, reader_context
from longform.records import Hit
from longform.text import content_tokens, normalize_answer

__all__ = ["FEATURES", "WEIGHTS", "Found", "SentenceScorer", "Vector", "features", "found_answers", "relevance"]

Vector = NDArray[np.float64]

# What is known of a sentence; the order of the columns.
FEATURES = ("sentence", "passage", "rank", "opening", "words_asked", "answer", "cut", "leans", "length")

WEIGHTS: Mapping[str, float] = MappingProxyType(
    {
        "sentence": 0.0297,
        "passage": 0.0071,
        "rank": 0.0424,
        "opening": 0.0302,
        "words_asked": 0.2225,
        "answer": 0.0973,
        "cut": -0.0451,
        "leans": -0.0038,
        "length": -0.0486,
    }
)


class SentenceScorer(Protocol):
    """What this needs of a cross-encoder: :class:`longform.models.CrossEncoder` is one."""

    def score(self, question: str, passages: Sequence[TitledText], *, early: bool = False) -> NDArray[np.float32]: ...


class _Titled(NamedTuple):
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Found:
    """An answer that the reader found in a hit: its text, how sure it is, and where in the hit's text it stands.

    ``start`` is -1 where it stands in the title.
    """

    hit: int
    text: str
    confidence: float
    start: int
    end: int
    normal: str = field(default="", compare=False)


def found_answers(question: str, hits: Sequence[Hit], reader: AnswerReader | None) -> list[Found]:
    """What the reader finds in each hit; hits without an answer are left out."""
    if reader is None or not hits:
        return []
    contexts = [reader_context(hit.passage) for hit in hits]
    found = []
    for number, read in enumerate(reader.read([(question, context.text) for context in contexts])):
        answer = in_one_line(read)
        text = given(answer)
        if not text:
            continue
        shift = contexts[number].offset
        inside = answer.start >= shift
        found.append(
            Found(
                number,
                text,
                confidence(answer),
                answer.start - shift if inside else -1,
                answer.end - shift if inside else -1,
                normalize_answer(text),
            )
        )
    return found


def features(
    question: str,
    hits: Sequence[Hit],
    candidates: Sequence[Candidate],
    scorer: SentenceScorer,
    found: Sequence[Found],
) -> Vector:
    """One row for each candidate, one column for each of :data:`FEATURES`."""
    if not candidates:
        return np.zeros((0, len(FEATURES)))
    titled = [_Titled(hits[one.hit].passage.title, one.text) for one in candidates]
    own = _standard(np.asarray(scorer.score(question, titled), dtype=np.float64))
    passages = _standard(np.array([hit.score for hit in hits], dtype=np.float64))
    asked = content_tokens(question)
    rows = []
    for place, one in enumerate(candidates):
        words = content_tokens(f"{hits[one.hit].passage.title} {one.text}")
        sure = [
            answer.confidence
            for answer in found
            if answer.hit == one.hit and answer.start >= 0 and one.start <= answer.start and answer.end <= one.end
        ]
        rows.append(
            [
                own[place],
                passages[one.hit],
                1 / (1 + one.hit),
                float(one.place == 0),
                len(asked & words) / len(asked) if asked else 0.0,
                max(sure, default=0.0),
                float(not one.whole),
                float(one.leans),
                math.log(one.words),
            ]
        )
    return np.array(rows, dtype=np.float64)


def relevance(rows: Vector, weights: Mapping[str, float] = WEIGHTS) -> Vector:
    """The weighted sum of each row.

    >>> relevance(np.array([[0.0] * 8 + [2.0]]), {"length": -0.5}).tolist()
    [-1.0]
    """
    scores: Vector = rows @ np.array([weights.get(name, 0.0) for name in FEATURES])
    return scores


def _standard(values: Vector) -> Vector:
    centred: Vector = values - values.mean()
    return centred / (float(values.std()) + 1e-6)
