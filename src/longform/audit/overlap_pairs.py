"""Test questions with their nearest training questions, each pair decided: same question, same topic, or neither."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from filelock import FileLock

from longform.audit.nearest_questions import Floats, NearQuestion, nearest_by_meaning, nearest_by_words, vectors_of
from longform.audit.paraphrase import (
    THRESHOLD,
    PairModel,
    model_probabilities,
    paraphrase_probability,
    same_page,
    same_subject,
)
from longform.audit.question_signs import AskedQuestion, SubjectWeights, paraphrase_signs
from longform.data.example import Example
from longform.errors import InputError
from longform.progress import Progress, no_progress
from longform.study.ledger import Ledger
from longform.text import normalize_answer

if TYPE_CHECKING:
    from longform.models import Encoder

__all__ = ["NEAREST", "QuestionPair", "find_pairs", "pair_probability", "with_labels"]

NEAREST = 7
"""How many training questions are looked at, by meaning and by words each (Krishna et al., 2021, section 3.2)."""


@dataclass(frozen=True, slots=True)
class QuestionPair:
    """A test question and one of its nearest training questions.

    Ranks are from 1, and 0 where the pair is not among the nearest by meaning, or by words. ``shares_page`` is ``None``
    where a page is not known. ``label`` is what a person said (``True`` for the same question), ``None`` for nothing.
    """

    test: Example
    train: Example
    cosine: float
    meaning_rank: int
    words_rank: int
    probability: float
    shares_page: bool | None
    shares_subject: bool
    label: bool | None = None

    @property
    def paraphrase(self) -> bool:
        """Whether the two are the same question: what a person says, else whether the probability is 0.5 or more."""
        return self.probability >= THRESHOLD if self.label is None else self.label

    @property
    def topic(self) -> bool:
        """Whether the two are on the same topic: the same question, a page in common, or the same subject."""
        return self.paraphrase or bool(self.shares_page) or self.shares_subject

    @property
    def believed(self) -> float:
        """How probable it is that the two are the same question; 0 or 1 where a person has said."""
        return self.probability if self.label is None else float(self.label)


def pair_probability(
    first: Example, second: Example, asked: tuple[AskedQuestion, AskedQuestion], cosine: float, page: bool | None
) -> float:
    """The probability that two questions are the same; 1 where they have the same words, or are the same item."""
    if first.id == second.id or normalize_answer(first.question) == normalize_answer(second.question):
        return 1.0
    return paraphrase_probability(paraphrase_signs(*asked, cosine, page))


def find_pairs(
    train: Sequence[Example],
    test: Sequence[Example],
    encoder: Encoder,
    cache: Path,
    *,
    model: PairModel | None = None,
    model_threshold: float = 0.0,
    nearest: int = NEAREST,
    progress: Progress = no_progress,
) -> list[QuestionPair]:
    """Every test question with its ``nearest`` training questions by meaning and by words, most probable first.

    ``model`` decides in place of the signs; what it said is kept in ``cache``, as vectors are.
    """
    if not train:
        raise InputError("There are no training questions to compare with.")
    if nearest < 1:
        raise InputError(f"At least one nearest training question must be looked at, not {nearest}.")
    everything = vectors_of([one.question for one in (*train, *test)], encoder, cache, progress)
    known, wanted = everything[: len(train)], everything[len(train) :]
    by_meaning = nearest_by_meaning(wanted, known, nearest, progress)
    by_words = nearest_by_words(
        [one.question for one in test], [one.question for one in train], nearest, cache, progress
    )
    asked = [AskedQuestion.of(one.question) for one in (*train, *test)]
    weights = SubjectWeights(asked)
    pairs: list[QuestionPair] = []
    for number, example in enumerate(test):
        mine = asked[len(train) + number]
        found = []
        for place, (meaning_rank, words_rank) in _ranks(by_meaning[number], by_words[number]).items():
            cosine, other = _cosine(wanted[number], known[place]), train[place]
            page = same_page(example, other)
            probability = pair_probability(example, other, (mine, asked[place]), cosine, page)
            subject = same_subject(mine, asked[place], cosine, weights)
            found.append(QuestionPair(example, other, cosine, meaning_rank, words_rank, probability, page, subject))
        pairs += found
    if model is not None:
        pairs = _decided_by(model, model_threshold, pairs, cache, progress)
    order = {example.id: number for number, example in enumerate(test)}
    return sorted(pairs, key=lambda pair: (order[pair.test.id], -pair.probability, -pair.cosine, pair.train.id))


def with_labels(pairs: Sequence[QuestionPair], labels: Mapping[tuple[str, str], bool]) -> list[QuestionPair]:
    """The pairs with what a person said of them, by the ids of the test and the training question."""
    return [replace(pair, label=labels.get((pair.test.id, pair.train.id))) for pair in pairs]


def _ranks(by_meaning: Sequence[NearQuestion], by_words: Sequence[NearQuestion]) -> dict[int, tuple[int, int]]:
    meaning = {one.place: rank for rank, one in enumerate(by_meaning, 1)}
    words = {one.place: rank for rank, one in enumerate(by_words, 1)}
    return {place: (meaning.get(place, 0), words.get(place, 0)) for place in {**meaning, **words}}


def _cosine(first: Floats, second: Floats) -> float:
    return float(np.clip(first @ second, -1.0, 1.0))


def _decided_by(
    model: PairModel, threshold: float, pairs: Sequence[QuestionPair], cache: Path, progress: Progress
) -> list[QuestionPair]:
    """The pairs with the model's probabilities, test question by test question, each kept when it is done."""
    groups: dict[str, list[QuestionPair]] = {}
    for pair in pairs:
        groups.setdefault(pair.test.id, []).append(pair)
    decided = []
    path = cache / f"model-{model.fingerprint[:16]}.jsonl"
    with FileLock(path.with_suffix(".lock")), Ledger(path) as ledger:
        for done, group in enumerate(groups.values()):
            progress("Reading pairs", done, len(groups))
            texts = [group[0].test.question, *(pair.train.question for pair in group)]
            key = hashlib.sha256("\x1e".join([str(threshold), *texts]).encode("utf-8", "surrogatepass")).hexdigest()
            if key not in ledger.rows:
                ledger.append({"id": key, "p": model_probabilities(model, threshold, texts[0], texts[1:])})
            found = ledger.rows[key]["p"]
            decided += [
                replace(pair, probability=1.0 if pair.probability == 1.0 else probability)
                for pair, probability in zip(group, found, strict=True)
            ]
    progress("Reading pairs", len(groups), len(groups))
    return decided
