"""How an index grows: 50,000, 200,000 and 1,000,000 generated passages; build rate, memory, disk, query latency.

    python bench/scale.py [--sizes 50000 200000 1000000]

Each size builds in a process of its own, which streams the passages from the generator: nothing but the index is kept.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from generate import passages, questions


def measure(size: int) -> dict[str, float]:
    """Build one index and ask it 500 questions."""
    from longform import Index

    with tempfile.TemporaryDirectory() as work:
        began = time.perf_counter()
        for _ in passages(size):
            pass
        generating = time.perf_counter() - began
        began = time.perf_counter()
        index = Index.create(Path(work) / "index", passages(size))
        build = time.perf_counter() - began - generating
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
        times = []
        for question in questions(500):
            began = time.perf_counter()
            index.search(question, 10)
            times.append(1000 * (time.perf_counter() - began))
        times.sort()
        disk = sum(record.bytes for record in index.manifest.files.values()) / 1e6
    return {
        "passages": size,
        "build s": build,
        "passages/s": size / build,
        "memory MB": memory,
        "disk MB": disk,
        "p50 ms": times[250],
        "p99 ms": times[495],
    }


def main() -> None:
    """Measure every size in a process of its own and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[50_000, 200_000, 1_000_000])
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        print(json.dumps(measure(arguments.one)))
        return
    header = False
    for size in arguments.sizes:
        output = subprocess.run(
            [sys.executable, __file__, "--one", str(size)], check=True, capture_output=True, text=True
        )
        result = json.loads(output.stdout.splitlines()[-1])
        if not header:
            print("".join(f"{name:>12}" for name in result))
            header = True
        print(
            "".join(f"{value:12,.1f}" if value < 1000 else f"{value:12,.0f}" for value in result.values()), flush=True
        )


if __name__ == "__main__":
    main()
