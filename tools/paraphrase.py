"""Calibrate when two questions count as the same question, and check when they count as being on the same topic.

    python tools/paraphrase.py ../shared/data

DATA holds ``ambignq/train_light.json.gz`` and ``train/questions.jsonl.gz``. The labels, by id, are in
``tools/paraphrase_labels.csv``: 300 pairs of AmbigNQ's training questions and 156 pairs of the training questions that
have pages, each drawn at random from the pairs in which one is among the seven nearest of the other, so many from each
range of cosines from 0.6 up (and, where pages are known, from pairs with and without a page in common); pairs below
0.6 are hardly ever paraphrases. A single annotator labelled them one by one,
seeing the two questions and nothing else: ``y`` where an
answer to the one question would do as an answer to the other. No question of any dev or test set is among them.

Prints the weights of the logistic regression in ``longform.audit.paraphrase``, how well it does on pairs that it was
not fitted on, and how well it would do to call two questions the same where they share an answer. Last, how well the
rule for the same subject, which is not fitted, does as a guess at whether two questions share a page.
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path
from typing import Any

import numpy as np

from fitting import area, logistic
from longform.audit.nearest_questions import default_cache, nearest_by_meaning, nearest_by_words, vectors_of
from longform.audit.paraphrase import NAME_COSINE, NAME_SHARE, same_page, same_subject
from longform.audit.question_signs import SIGNS, AskedQuestion, SubjectWeights, paraphrase_signs
from longform.data import Example, load_dataset
from longform.models import Encoder
from longform.text import normalize_answer

LABELS = Path(__file__).with_name("paraphrase_labels.csv")
FOLDS, NEAREST = 10, 7


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--labels", type=Path, default=LABELS)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    ambiguous = load_dataset(str(arguments.data / "ambignq" / "train_light.json.gz")).examples
    paged = load_dataset(str(arguments.data / "train" / "questions.jsonl.gz")).examples
    encoder, examples = Encoder.load(), [*ambiguous, *paged]
    vectors = vectors_of([one.question for one in examples], encoder, default_cache())
    place_of = {one.id: place for place, one in enumerate(examples)}
    with arguments.labels.open(encoding="utf-8", newline="") as file:
        pairs = [(place_of[row["first"]], place_of[row["second"]], row["label"] == "y") for row in csv.DictReader(file)]
    paraphrases(examples, vectors, pairs, arguments.seed)
    topics(paged, vectors[len(ambiguous) :])


def paraphrases(examples: list[Example], vectors: Any, pairs: list[tuple[int, int, bool]], seed: int) -> None:
    """Fit and print the decision whether two questions are paraphrases."""
    asked = [AskedQuestion.of(one.question) for one in examples]
    features = np.array(
        [
            paraphrase_signs(
                asked[first],
                asked[second],
                float(vectors[first] @ vectors[second]),
                same_page(examples[first], examples[second]),
            )
            for first, second, _ in pairs
        ]
    )
    labels = np.array([label for _, _, label in pairs], dtype=float)
    print(f"{len(pairs)} labelled pairs, {labels.sum():.0f} of them paraphrases")
    answers = np.array([share_answer(examples[first], examples[second]) for first, second, _ in pairs])
    print(f"an answer in common instead: {quality(answers, labels)}")
    for name, columns in (("cosine alone", [0]), ("all signs", list(range(len(SIGNS))))):
        held = held_out(features[:, columns], labels, seed)
        print(f"{name}, {FOLDS}-fold: {quality(held >= 0, labels)}, area under the curve {area(held, labels):.3f}")
    print("WEIGHTS", logistic(features, labels, ridge=0.1).round(2).tolist())


def topics(examples: tuple[Example, ...], vectors: Any) -> None:
    """Print how often questions that name the same subject share a page, and the other way round."""
    asked = [AskedQuestion.of(one.question) for one in examples]
    weights, questions = SubjectWeights(asked), [one.question for one in examples]
    near = (
        nearest_by_meaning(vectors, vectors, NEAREST + 1),
        nearest_by_words(questions, questions, NEAREST + 1, default_cache()),
    )
    pairs = {
        (min(place, one.place), max(place, one.place))
        for way in near
        for place, found in enumerate(way)
        for one in found
        if one.place != place
    }
    rows = [
        (same_subject(asked[first], asked[second], float(vectors[first] @ vectors[second]), weights), known)
        for first, second in sorted(pairs)
        if (known := same_page(examples[first], examples[second])) is not None
    ]
    decided, labels = np.array([row for row, _ in rows]), np.array([label for _, label in rows], dtype=float)
    print(f"\n{len(rows)} near pairs with pages, {labels.sum():.0f} of them with one in common")
    print(f"the same subject from a share of {NAME_SHARE} and a cosine of {NAME_COSINE} on: {decided.sum()} pairs")
    print(f"as a guess at whether they share a page: {quality(decided, labels)}")


def share_answer(first: Example, second: Example) -> bool:
    ours, theirs = (
        {normalize_answer(name) for names in one.short_answers for name in names} - {""} for one in (first, second)
    )
    return not ours.isdisjoint(theirs)


def held_out(features: Any, labels: Any, seed: int) -> Any:
    """What each pair scores when it is in the part that the regression was not fitted on."""
    fold = np.random.default_rng(seed).permutation(len(labels)) % FOLDS
    scores = np.zeros(len(labels))
    for number in range(FOLDS):
        weights = logistic(features[fold != number], labels[fold != number], ridge=0.1)
        scores[fold == number] = weights[0] + features[fold == number] @ weights[1:]
    return scores


def quality(decided: Any, labels: Any) -> str:
    return f"precision {labels[decided].mean():.3f}, recall {decided[labels == 1].mean():.3f}"


if __name__ == "__main__":
    main()
