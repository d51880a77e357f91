"""Cold start: `longform search` on an index of 52,197 passages, process start included.

    python bench/cold_start.py [--index my.index] [--runs 30]

Without --index it builds one of that many generated passages. Beside it stands the time that Python takes to start
and import numpy, which no command of this kind can undercut.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from generate import passages, questions


def quantiles(command: list[str], runs: int) -> tuple[float, float]:
    """The median and the 90th percentile of a command's wall time, in seconds."""
    times = []
    for _ in range(runs):
        began = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True)
        times.append(time.perf_counter() - began)
    times.sort()
    return times[runs // 2], times[int(runs * 0.9)]


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--index")
    parser.add_argument("--runs", type=int, default=30)
    parser.add_argument("--mode", default="bm25")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        index = arguments.index
        if index is None:
            from longform import Index

            index = str(Path(work) / "index")
            Index.create(index, passages(52_197))
        longform = str(Path(sys.executable).with_name("longform"))
        question = questions(1)[0] if arguments.index is None else "Who was the ruler of France in 1830?"
        for name, command in {
            f"longform search ({arguments.mode})": [longform, "search", index, question, "--mode", arguments.mode],
            "python, numpy": [sys.executable, "-c", "import numpy"],
        }.items():
            median, slow = quantiles(command, arguments.runs)
            print(f"{name:24} p50 {median:.3f} s   p90 {slow:.3f} s   ({arguments.runs} runs)")


if __name__ == "__main__":
    main()
