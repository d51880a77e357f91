"""Dense search: inverted lists of 8-bit codes against exact search, in one run: recall, queries per second, size.

    python bench/dense.py --index wiki.index --questions questions.jsonl.gz [--limit 1000]

The index must have vectors (`longform index --dense`). Both methods search the same vectors on all cores.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np

from longform import Index, read_questions
from longform.retrieve.dense import DenseSearcher, build_ivf
from longform.retrieve.vectors import map_vectors


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--index", required=True)
    parser.add_argument("--questions", required=True)
    parser.add_argument("--limit", type=int, default=1000)
    arguments = parser.parse_args()
    index = Index.open(arguments.index)
    dense = index.manifest.dense
    assert dense is not None, "the index has no vectors"
    asked = [question.question for question in read_questions(arguments.questions)][: arguments.limit]
    vectors = index.encoder.encode_questions(asked)
    parts = [map_vectors(part.folder, dense.fingerprint, dense.dimension) for part in index.parts]
    with tempfile.TemporaryDirectory() as work:
        file = Path(work) / "ivf.faiss"
        began = time.process_time()
        build_ivf(parts, file, lambda _: None)
        built, size = time.process_time() - began, file.stat().st_size / 1e6
        print(f"{len(index):,} passages; lists built in {built:.1f} CPU-s, {size:.0f} MB")
        found = {}
        for name, path in {"exact": None, "ivf": file}.items():
            searcher = DenseSearcher(parts, index.deleted, path, index.id_at)
            searcher.search(vectors[:10], 100)
            began = time.process_time()
            found[name] = searcher.search(vectors, 100)
            print(
                f"{name:6} {len(asked) / (time.process_time() - began):8.0f} questions per CPU-s (top 100, one batch)"
            )
    for k in (10, 100):
        shares = [
            len({row for row, _ in ours[:k]} & {row for row, _ in exact[:k]}) / k
            for ours, exact in zip(found["ivf"], found["exact"], strict=True)
        ]
        print(f"recall@{k} of ivf against exact: {np.mean(shares):.4f}")


if __name__ == "__main__":
    main()
