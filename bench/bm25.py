"""BM25 against bm25s on generated passages, in one run: build time, queries per second, size on disk, peak memory.

    python bench/bm25.py [--passages 500000] [--queries 1000]

Every engine builds in a process of its own, so that peak memory is its own; all read the same passages from the same
file, split, stem and index them, keep the passages' text, and write everything to disk. Queries are strings and ask
for the top 100 rows, on one thread; the median of three passes after one to warm up.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from generate import passages, questions

ENGINES = ("longform", "bm25s", "bm25s-numba")


def read_texts(file: Path) -> list[str]:
    """What a user of bm25s has: the texts in memory."""
    with file.open() as lines:
        return [row["title"] + "\n" + row["text"] for row in map(json.loads, lines)]


def run_longform(file: Path, folder: Path, asked: list[str]) -> dict[str, float]:
    """Build and query with Longform."""
    from longform import Index, ReadOptions, read

    began = time.perf_counter()
    index = Index.create(folder, read(str(file), options=ReadOptions(passages=True)))
    build = time.perf_counter() - began
    memory = peak_memory()
    engine = index._bm25

    def query() -> None:
        for question in asked:
            engine.search(question, 100)

    return measured(build, memory, folder, query, len(asked))


def run_bm25s(file: Path, folder: Path, asked: list[str], backend: str) -> dict[str, float]:
    """Build and query with bm25s, with the same k1, b and stemmer."""
    import bm25s
    import Stemmer

    stemmer = Stemmer.Stemmer("english")
    began = time.perf_counter()
    corpus = read_texts(file)
    tokens = bm25s.tokenize(corpus, stopwords=None, stemmer=stemmer, show_progress=False)
    engine = bm25s.BM25(k1=1.2, b=0.75, backend=backend)
    engine.index(tokens, show_progress=False)
    engine.save(str(folder), corpus=corpus)
    build = time.perf_counter() - began
    memory = peak_memory()

    def query() -> None:
        tokens = bm25s.tokenize(asked, stopwords="en", stemmer=stemmer, show_progress=False)
        engine.retrieve(tokens, k=100, n_threads=1, show_progress=False)

    return measured(build, memory, folder, query, len(asked))


def measured(build: float, memory: float, folder: Path, query: Callable[[], object], count: int) -> dict[str, float]:
    """The figures of an engine that has been built."""
    began = time.perf_counter()
    query()
    warm_up = time.perf_counter() - began
    times = []
    for _ in range(3):
        began = time.perf_counter()
        query()
        times.append(time.perf_counter() - began)
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6
    return {
        "build s": build,
        "queries/s": count / sorted(times)[1],
        "first pass s": warm_up,
        "disk MB": size,
        "memory MB": memory,
    }


def peak_memory() -> float:
    """The peak resident memory of this process so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def main() -> None:
    """Measure all engines and print their ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--passages", type=int, default=500_000)
    parser.add_argument("--queries", type=int, default=1000)
    parser.add_argument("--engine", choices=ENGINES, help=argparse.SUPPRESS)
    parser.add_argument("--file", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    asked = questions(arguments.queries)
    if arguments.engine:
        with tempfile.TemporaryDirectory() as work:
            folder = Path(work) / "index"
            if arguments.engine == "longform":
                result = run_longform(arguments.file, folder, asked)
            else:
                backend = "numba" if arguments.engine.endswith("numba") else "numpy"
                result = run_bm25s(arguments.file, folder, asked, backend)
        print(json.dumps(result))
        return
    results = {}
    with tempfile.TemporaryDirectory() as work:
        file = Path(work) / "passages.jsonl"
        with file.open("w") as out:
            for passage in passages(arguments.passages):
                out.write(json.dumps(passage.to_json()) + "\n")
        print(f"{arguments.passages:,} passages, {file.stat().st_size / 1e6:.0f} MB; {arguments.queries} queries\n")
        for engine in ENGINES:
            command = [sys.executable, __file__, "--engine", engine, "--file", str(file), "--queries", str(len(asked))]
            output = subprocess.run(command, check=True, capture_output=True, text=True, env={**os.environ}).stdout
            results[engine] = json.loads(output.splitlines()[-1])
    names = list(results["longform"])
    print(f"{'':12}" + "".join(f"{name:>14}" for name in names))
    for engine, result in results.items():
        print(f"{engine:12}" + "".join(f"{result[name]:14.1f}" for name in names))
    ours, numpy_, numba = (results[engine] for engine in ENGINES)
    print(f"\nbuild: {numpy_['build s'] / ours['build s']:.1f} times as fast as bm25s")
    print(f"queries/s: {ours['queries/s'] / numpy_['queries/s']:.1f} × bm25s with numpy")
    print(f"queries/s: {ours['queries/s'] / numba['queries/s']:.2f} × bm25s with numba, after warm-up")
    print(f"memory while building: {ours['memory MB'] / numpy_['memory MB']:.2f} × bm25s")
    print(f"on disk: {ours['disk MB'] / numpy_['disk MB']:.2f} × bm25s")


if __name__ == "__main__":
    main()
