"""Does one encoder find more than another? BM25's pool, ordered by each encoder's similarity, in one run.

    python bench/encoder_pool.py --index wiki.index --gold ASQA.json --encoder encoder --encoder my-encoder \
        [--exclude-ids test300.ids.json] [--pool 50] [--limit 150] [-k 5]

Dense search over a whole collection needs all of it encoded anew for each encoder (52,000 passages: 13 minutes on two
cores). Ordering only the passages that BM25 finds is a cheaper look at the same thing: a question costs `pool`
passages. Prints direct-answer and page recall of BM25 and of each encoder, and each encoder against the first one,
with the interval of the difference and the paired test. Choose settings on questions that are not the test's:
`--exclude-ids` keeps those out.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from longform import Index
from longform.corpus.training_questions import read_ids, read_training_questions
from longform.models.encoder import Encoder
from longform.retrieve.vectors import passage_text
from longform.score.recall import PassageText
from longform.score.report import Report
from longform.score.retrieval import RetrievalGold, score_run
from longform.score.statistics import compare, intervals
from longform.score.trec import Scored


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--index", required=True)
    parser.add_argument("--gold", required=True, help="questions with short answers and pages")
    parser.add_argument(
        "--encoder", action="append", required=True, help="the first is what the others are held against"
    )
    parser.add_argument("--exclude-ids", help="ids that are not asked")
    parser.add_argument("--pool", type=int, default=50)
    parser.add_argument("--limit", type=int)
    parser.add_argument("-k", type=int, default=5)
    arguments = parser.parse_args()
    excluded = read_ids(arguments.exclude_ids) if arguments.exclude_ids else frozenset()
    asked = read_training_questions(arguments.gold, exclude_ids=excluded)
    asked = [question for question in asked if question.short_answers and question.pages]
    if arguments.limit:
        asked = [asked[place * len(asked) // arguments.limit] for place in range(min(arguments.limit, len(asked)))]
    index = Index.open(arguments.index)
    pools = [index.search(question.question, arguments.pool, "bm25") for question in asked]
    passages = {hit.passage.id: hit.passage for pool in pools for hit in pool}
    texts = {name: PassageText(passage.title, passage.text) for name, passage in passages.items()}
    gold = {question.id: RetrievalGold(question.short_answers, question.pages) for question in asked}
    print(f"{len(asked):,} questions, {len(passages):,} distinct passages in pools of {arguments.pool}")

    def scored(ranking: dict[str, list[Scored]]) -> Report:
        return score_run(ranking, gold, texts, ks=(arguments.k,))

    first = {
        question.id: [Scored(hit.passage.id, hit.score) for hit in pool]
        for question, pool in zip(asked, pools, strict=True)
    }
    show("bm25", scored(first))
    base: Report | None = None
    for name in arguments.encoder:
        encoder = Encoder.load(name)
        began = time.perf_counter()
        order = {passage: row for row, passage in enumerate(passages)}
        vectors = encoder.encode([passage_text(passage) for passage in passages.values()])
        questions = encoder.encode_questions([question.question for question in asked])
        ranking = {}
        for question, vector, pool in zip(asked, questions, pools, strict=True):
            similar = vectors[[order[hit.passage.id] for hit in pool]] @ vector
            ranking[question.id] = [
                Scored(pool[place].passage.id, float(similar[place])) for place in np.argsort(-similar, kind="stable")
            ]
        report = scored(ranking)
        show(f"{name} ({time.perf_counter() - began:.0f} s)", report)
        if base is None:
            base = report
            continue
        for metric, found in compare(report, base).items():
            print(
                f"  {metric} against {arguments.encoder[0]}: {found.difference:+.4f} "
                f"[{found.low:+.4f}, {found.high:+.4f}], p = {found.p:.4f}"
            )


def show(name: str, report: Report) -> None:
    """Print a system's scores with their intervals."""
    cells = [
        f"{metric} {found.value:.4f} [{found.low:.4f}, {found.high:.4f}]" for metric, found in intervals(report).items()
    ]
    print(f"{name}: {'; '.join(cells)}")


if __name__ == "__main__":
    main()
