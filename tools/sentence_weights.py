"""Fit how much each thing known of a sentence counts, and how sentences are weighed against each other.

    python tools/sentence_weights.py my.index ../shared/data/train/questions.jsonl.gz --prefix asqa --work FOLDER

The target of a sentence is the share of its words that the long answer uses (the weak supervision of Christmann et al.,
2024, one level down). Half of the questions fit, the other half tell how good the answers get; what is found for every
question is kept in the work folder, so that a second start goes on.
"""

from __future__ import annotations

import argparse
import itertools
import pickle
from pathlib import Path
from typing import Any

import numpy as np

from longform.answer.candidates import candidates_of
from longform.answer.extractive import PASSAGES, READ
from longform.answer.relevance import FEATURES, features, found_answers, relevance
from longform.answer.selection import SelectionSettings, reading_order, select_sentences
from longform.corpus.training_questions import read_training_questions
from longform.models import CrossEncoder, Reader
from longform.rerank import open_reranker
from longform.retrieve import Index
from longform.score.rouge import rouge_lsum
from longform.text import content_tokens, normalize_answer, split_sentences


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("index")
    parser.add_argument("questions")
    parser.add_argument("--prefix", default="", help="only questions whose id begins so")
    parser.add_argument("--work", required=True)
    parser.add_argument("--limit", type=int, default=300)
    parser.add_argument("--ridge", type=float, default=1.0)
    arguments = parser.parse_args()
    rows = collect(arguments)
    fit, held = rows[::2], rows[1::2]
    known = np.concatenate([row["features"] for row in fit])
    wanted = np.concatenate([row["target"] for row in fit])
    design = np.column_stack([np.ones(len(known)), known])
    solved = np.linalg.solve(design.T @ design + arguments.ridge * np.eye(design.shape[1]), design.T @ wanted)
    weights = dict(zip(FEATURES, solved[1:].round(4).tolist(), strict=True))
    print(f"fitted on {len(known):,} sentences of {len(fit)} questions:", weights)
    print("words  repeats  answers  falls  ROUGE-Lsum  STR-EM  length")
    grid = itertools.product((80, 90, 100, 120), (0.05, 0.1), (0.05, 0.1, 0.2), (0.08, 0.1, 0.12))
    for words, repeats, answers, falls in grid:
        settings = SelectionSettings(repeats, answers, falls=falls)
        scores = np.mean([score(row, answer(row, weights, words, settings)) for row in held], axis=0)
        print(f"{words:5}  {repeats:7}  {answers:7}  {falls:5}  {scores[0]:10.4f}  {scores[1]:6.4f}  {scores[2]:6.1f}")


def collect(arguments: argparse.Namespace) -> list[dict[str, Any]]:
    index = Index.open(arguments.index)
    model, reader = CrossEncoder.load(), Reader.load()
    reranker = open_reranker(model, index)
    questions = [one for one in read_training_questions(arguments.questions) if one.id.startswith(arguments.prefix)]
    work = Path(arguments.work)
    work.mkdir(parents=True, exist_ok=True)
    rows = []
    for number, question in enumerate(questions[: arguments.limit], 1):
        path = work / f"{question.id}.pickle"
        if not path.is_file():
            pool = min(100, len(index))
            hits = reranker.rerank(question.question, index.search(question.question, pool), PASSAGES)
            candidates = candidates_of(hits)
            found = found_answers(question.question, hits[:READ], reader)
            used = [content_tokens(text) for text in question.long_answers]
            words = [content_tokens(one.text) for one in candidates]
            row = {
                "long": question.long_answers,
                "short": question.short_answers,
                "question": question.question,
                "hits": hits,
                "candidates": candidates,
                "found": found,
                "features": features(question.question, hits, candidates, model, found),
                "target": np.array([max(len(one & long) for long in used) / max(len(one), 1) for one in words]),
            }
            path.write_bytes(pickle.dumps(row))
            print(f"{number} of {len(questions[: arguments.limit])}", flush=True)
        rows.append(pickle.loads(path.read_bytes()))
    return [row for row in rows if row["candidates"]]


def answer(row: dict[str, Any], weights: dict[str, float], words: int, settings: SelectionSettings) -> str:
    scores = relevance(row["features"], weights).tolist()
    chosen = select_sentences(row["candidates"], scores, words, row["found"], settings, row["hits"])
    return " ".join(one.text for one in reading_order(chosen, row["hits"]))


def score(row: dict[str, Any], text: str) -> tuple[float, float, float]:
    ours = "\n".join(split_sentences(text))
    rouge = max(rouge_lsum("\n".join(split_sentences(long)), ours, stemmer=True).f for long in row["long"])
    said = normalize_answer(text)
    names = [[normalize_answer(name) for name in aliases] for aliases in row["short"]]
    exact = np.mean([any(name and name in said for name in aliases) for aliases in names]) if names else 0.0
    return rouge, float(exact), len(text.split())


if __name__ == "__main__":
    main()
