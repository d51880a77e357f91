"""Asking: from a question to a long answer, by stage, cold and warm, and the memory that it takes.

    python bench/ask.py --index wiki.index [--questions questions.jsonl] [--runs 5] [--count 30] [--mode bm25]

Cold is `longform ask` in a new process, its start included: the time to the first words of the answer on standard
output and to the end. Beside it stands Python's start with numpy and onnxruntime, which no such command can undercut.
Warm is a pipeline that stays loaded, questions one after another, in a process of its own whose peak memory is told.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path

QUESTIONS = (
    "Who was the ruler of France in 1830?",
    "When was the first world cup held?",
    "Who played the lead in the original film?",
    "What causes the northern lights?",
    "Who won the most medals at the Olympic Games?",
)


def cold(command: list[str], runs: int) -> tuple[list[float], list[float]]:
    """Seconds to the first output and to the end, each run in a new process; the first of them is not counted."""
    first, whole = [], []
    for run in range(runs + 1):
        began = time.perf_counter()
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
            assert process.stdout is not None
            os.read(process.stdout.fileno(), 1)
            seen = time.perf_counter() - began
            process.stdout.read()
        assert process.returncode == 0, command
        if run:
            first.append(seen)
            whole.append(time.perf_counter() - began)
    return first, whole


def warm(index: str, questions: list[str], mode: str | None) -> None:
    """Answer in this process, and print what each stage took as one JSON line."""
    from longform import Index, open_pipeline

    pipeline = open_pipeline(Index.open(index), mode=mode)
    pipeline.answer(QUESTIONS[0])
    rows = []
    for question in questions:
        began = time.perf_counter()
        seen = None
        for part in pipeline.stream(question):
            if seen is None:
                seen = time.perf_counter() - began
            last = part
        rows.append({**last.seconds, "first words": seen, "whole": time.perf_counter() - began})
    print(json.dumps({"rows": rows, "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}))


def spread(values: list[float]) -> str:
    """Median and 90th percentile."""
    ordered = sorted(values)
    return f"p50 {statistics.median(ordered):.2f} s   p90 {ordered[int(len(ordered) * 0.9)]:.2f} s"


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--index", required=True)
    parser.add_argument("--questions", help="JSONL with questions; five of our own without it")
    parser.add_argument("--count", type=int, default=30, help="how many questions are asked warm")
    parser.add_argument("--runs", type=int, default=5, help="cold starts")
    parser.add_argument("--mode", help="bm25, dense or hybrid; the index's own without it")
    parser.add_argument("--in-process", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    questions = list(QUESTIONS)
    if arguments.questions:
        from longform import read_questions

        questions = [one.question for one in read_questions(arguments.questions)][: arguments.count]
    if arguments.in_process:
        warm(arguments.index, questions, arguments.mode)
        return
    longform = str(Path(sys.executable).with_name("longform"))
    mode = ["--mode", arguments.mode] if arguments.mode else []
    first, whole = cold([longform, "ask", arguments.index, QUESTIONS[0], *mode], arguments.runs)
    print(f"cold, first words   {spread(first)}   ({arguments.runs} runs)")
    print(f"cold, whole answer  {spread(whole)}")
    _, start = cold([sys.executable, "-c", "import numpy, onnxruntime; print()"], arguments.runs)
    print(f"python, onnxruntime {spread(start)}")
    found = subprocess.run([sys.executable, *sys.argv, "--in-process"], check=True, capture_output=True, text=True)
    told = json.loads(found.stdout.splitlines()[-1])
    rows = told["rows"]
    for stage in rows[0]:
        print(f"warm, {stage:13} {spread([row.get(stage, 0.0) for row in rows])}   ({len(rows)} questions)")
    print(f"peak memory, warm   {told['memory']:.0f} MB")


if __name__ == "__main__":
    main()
