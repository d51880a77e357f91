"""Calibrate when the collection does not answer a question.

    python tools/answerable.py my.index --answerable train.jsonl --prefix asqa --unanswerable other.jsonl --work FOLDER

Questions of the first file whose page is in the index count as answerable, questions of the second file none of whose
pages is in the index and none of whose short answers stands in the passages found as unanswerable. Prints the weights
of a logistic regression and how well it tells them apart on the half that it was not fitted on.
"""

from __future__ import annotations

import argparse
import math
import pickle
import random
from pathlib import Path
from typing import Any

import numpy as np

from fitting import area, logistic
from longform.answer.answerable import SIGNS, signs
from longform.answer.extractive import PASSAGES, READ
from longform.answer.relevance import found_answers
from longform.corpus.training_questions import TrainingQuestion, read_ids, read_training_questions
from longform.models import CrossEncoder, Reader
from longform.rerank import open_reranker
from longform.retrieve import Index
from longform.score.recall import answer_ranks, page_key


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("index")
    parser.add_argument("--answerable", required=True)
    parser.add_argument("--prefix", default="")
    parser.add_argument("--unanswerable", required=True)
    parser.add_argument("--exclude-ids", help="questions that must not be looked at")
    parser.add_argument("--work", required=True)
    parser.add_argument("--limit", type=int, default=120, help="of each kind")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    index = Index.open(arguments.index)
    titles = {page_key(passage.title) for passage in index}
    excluded = read_ids(arguments.exclude_ids) if arguments.exclude_ids else frozenset()
    good = [
        one
        for one in read_training_questions(arguments.answerable)
        if one.id.startswith(arguments.prefix) and one.pages and all(page_key(page) in titles for page in one.pages)
    ]
    bad = [
        one
        for one in read_training_questions(arguments.unanswerable, exclude_ids=excluded)
        if one.pages and not any(page_key(page) in titles for page in one.pages)
    ]
    model, reader = CrossEncoder.load(), Reader.load()
    reranker = open_reranker(model, index)
    work = Path(arguments.work)
    work.mkdir(parents=True, exist_ok=True)

    def look(question: TrainingQuestion) -> dict[str, Any]:
        path = work / f"{question.id}.pickle"
        if not path.is_file():
            hits = reranker.rerank(question.question, index.search(question.question, min(100, len(index))), PASSAGES)
            found = found_answers(question.question, hits[:READ], reader)
            path.write_bytes(pickle.dumps({"hits": hits, "found": found}))
        row: dict[str, Any] = pickle.loads(path.read_bytes())
        ranks = answer_ranks(question.short_answers, [hit.passage for hit in row["hits"]])
        return {**row, "answers": any(math.isfinite(rank) for rank in ranks)}

    rows: list[tuple[list[float], int]] = []
    for questions, label in ((good, 1), (bad, 0)):
        random.Random(arguments.seed).shuffle(questions)
        taken = 0
        for question in questions:
            seen = look(question)
            if seen["answers"] == bool(label):
                rows.append((signs(question.question, seen["hits"], seen["found"]), label))
                taken += 1
                print(f"{'answerable' if label else 'unanswerable'} {taken}", flush=True)
            if taken == arguments.limit:
                break
    features = np.array([row for row, _ in rows])
    labels = np.array([label for _, label in rows])
    for number, name in enumerate(SIGNS):
        print(f"{name:12} area under the curve {area(features[:, number], labels):.3f}")
    fit = np.arange(len(rows)) % 2 == 0
    weights = logistic(features[fit], labels[fit], ridge=1.0)
    print("bias and weights", weights.round(3).tolist())
    scores = weights[0] + features[~fit] @ weights[1:]
    print(f"held out: area under the curve {area(scores, labels[~fit]):.3f}")
    for least in (-3, -2, -1.5, -1, -0.5, 0, 0.5):
        kept, refused = (scores[labels[~fit] == 1] >= least).mean(), (scores[labels[~fit] == 0] < least).mean()
        print(f"threshold {least:5}: answers {kept:.2f} of the answerable, refuses {refused:.2f} of the others")


if __name__ == "__main__":
    main()
