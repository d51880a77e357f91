"""Lists against gold: precision, recall and F1 on questions from a knowledge graph, with 95 % intervals.

    python bench/lists.py [--shared ../shared] [--reader reader] [--choose]

Questions are groups of triples with the same relation and object; the gold is completed from the pages that state the
relation. BM25 finds 200 passages, and the list is made of them. 40 questions, drawn by the seed, are for choosing
(``--choose`` prints F1 by threshold on them); the others are reported.
"""

from __future__ import annotations

import argparse
import shlex
import sys
import tempfile
from pathlib import Path

from longform.answer.lists import EAGER, ListAnswerer
from longform.files import sha256_of
from longform.models import Reader
from longform.score.rows import json_rows
from longform.study.lists_questions import graph_questions, halves
from longform.study.lists_study import choose_least, lists_page, page_index, read_pages, read_questions, rows_of


def main() -> None:
    """Search, read, score, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shared", type=Path, default=Path("../shared"), help="folder with data/kg")
    parser.add_argument("--reader", default="reader", help="a reader's name or folder")
    parser.add_argument("--passages", type=int, default=200)
    parser.add_argument("--development", type=int, default=40, help="questions for choosing")
    parser.add_argument("--limit", type=int, help="only so many of the reported questions")
    parser.add_argument("--threads", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--choose", action="store_true", help="choose the threshold in place of reporting")
    options = parser.parse_args()
    files = {name: options.shared / "data" / "kg" / name for name in ("triples.jsonl.gz", "pages.jsonl.gz")}
    pages = read_pages(files["pages.jsonl.gz"])
    questions = graph_questions(json_rows(files["triples.jsonl.gz"]), pages)
    development, test = halves(questions, options.development, options.seed)
    reader = Reader.load(options.reader, options.threads).answering(EAGER)
    lister = ListAnswerer(reader, passages=options.passages)

    def tell(stage: str, done: int, total: int | None = None) -> None:
        if sys.stderr.isatty():
            print(f"\r{stage}: {done} of {total}", end="", file=sys.stderr)

    with tempfile.TemporaryDirectory() as work:
        index = page_index(Path(work) / "pages.index", pages)
        read = read_questions((development if options.choose else test)[: options.limit], index, lister, tell)
    if options.choose:
        best, reports = choose_least(read)
        print("| least | precision | recall | F1 |\n|---|---|---|---|")
        for least, report in reports.items():
            print(
                f"| {least:g} | " + " | ".join(f"{report.scores[name]:.3f}" for name in ("precision", "recall", "f1")),
                "|",
            )
        print(f"\nbest: {best:g}, on {len(read)} questions")
        return
    hashes = {name: sha256_of(path) for name, path in files.items()} | {"reader": reader.fingerprint}
    command = shlex.join(["python", "bench/lists.py", *sys.argv[1:]])
    print(lists_page(rows_of(read, lister), read, command=command, hashes=hashes, seed=options.seed))


if __name__ == "__main__":
    main()
