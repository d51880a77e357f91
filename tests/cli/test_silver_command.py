"""``longform silver``: made, shown, and killed in the middle."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest

Run = Callable[..., Any]

ROWS = [
    {
        "id": "hot",
        "question": "Which drink is hot?",
        "long_answer": "Tea is hot, from leaves.",
        "short_answers": ["tea"],
    },
    {
        "id": "dark",
        "question": "Which drink is dark?",
        "long_answers": ["Coffee is dark."],
        "short_answers": [["Beans"]],
    },
    {"id": "none", "question": "zzz", "long_answer": "Zebras."},
]


@pytest.fixture(autouse=True)
def index(here: None, longform: Run) -> None:
    assert longform("index", "docs", "-o", "my.index").code == 0
    Path("qa.jsonl").write_text("\n".join(map(json.dumps, ROWS)))


def make(longform: Run, *arguments: object) -> Any:
    return longform("silver", "my.index", "--questions", "qa.jsonl", "-o", "s.jsonl", *arguments)


def lines() -> list[Any]:
    return [json.loads(line) for line in Path("s.jsonl").read_text().splitlines()]


def test_making_a_file(longform: Run) -> None:
    result = make(longform)
    assert (result.code, result.err) == (0, "")
    assert result.out == (
        "Wrote 4 silver passages for 3 questions to s.jsonl; 1 question got none.\n"
        "They hold 2 of 2 direct answers (100.0%); mean match 0.646.\n"
    )
    header, hot, dark, none = lines()
    assert header["format"] == "longform-silver/1"
    assert (header["index"], header["questions"], header["index_passages"]) == ("my.index", "qa.jsonl", 3)
    assert set(header) == {
        *("format", "index", "index_fingerprint", "index_passages", "questions", "questions_sha256", "count"),
        *("method", "k", "pool", "mode", "seed"),
    }
    assert hot["silver"][0]["id"] == "docs/tea.txt#0"
    assert hot["silver"][0]["words"] == ["tea", "is", "hot", "leaves"]
    assert set(hot["silver"][0]) == {"id", "title", "text", "rank", "score", "method", "answers", "words", "why"}
    assert dark["silver"][0]["answers"] == ["Beans"]
    assert (none["silver"], none["pool"], none["answers"]) == ([], [], 0)
    assert not Path("s.jsonl.part").exists()


def test_json(longform: Run) -> None:
    row = json.loads(make(longform, "--json", "--method", "direct").out)
    assert row == {
        "output": "s.jsonl",
        "questions": 3,
        "with_silver": 2,
        "without_silver": 1,
        "passages": 2,
        "answers": 2,
        "answers_found": 2,
        "coverage": 1.0,
        "mean_match": row["mean_match"],
        "resumed": 0,
    }


def test_which_questions(longform: Run) -> None:
    Path("ids.txt").write_text("hot\n")
    assert make(longform, "--exclude", "ids.txt", "--limit", 1).code == 0
    header, row = lines()
    assert row["id"] == "dark"
    assert (header["exclude"], header["limit"], header["count"]) == ("ids.txt", 1, 1)
    assert len(header["exclude_sha256"]) == 64
    data = json.dumps(ROWS[0]).encode()
    assert longform("silver", "my.index", "--questions", "-", "-o", "s.jsonl", stdin=data).code == 0
    assert [row["id"] for row in lines()[1:]] == ["hot"]
    Path("ASQA.json").write_text(
        json.dumps({"train": {"1": {"ambiguous_question": "hot?", "annotations": [{"long_answer": "tea"}]}}, "dev": {}})
    )
    result = longform("silver", "my.index", "--questions", "ASQA.json", "--split", "train", "-o", "s.jsonl")
    assert result.out.splitlines()[1] == "Mean match 1.000.", "there are no direct answers"
    assert lines()[0]["split"] == "train"


@pytest.mark.parametrize("method", ["lexical", "semantic"])
def test_methods(longform: Run, method: str) -> None:
    assert make(longform, "--method", method, "-k", 1).code == 0
    assert [len(row["silver"]) for row in lines()[1:]] == [1, 1, 0]
    assert lines()[1]["silver"][0]["method"] == method


def test_another_encoder_and_first_stage(longform: Run) -> None:
    longform("add", "my.index", "--dense")
    assert make(longform, "--method", "semantic", "--model", "encoder", "--mode", "dense", "-k", 1).code == 0
    header, *rows = lines()
    assert (header["encoder"], header["mode"]) == ("encoder", "dense")
    assert [len(row["pool"]) for row in rows] == [3, 3, 3]


def test_showing(longform: Run) -> None:
    make(longform)
    result = longform("silver", "s.jsonl", "--show", "hot")
    shown = result.out.splitlines()
    assert result.code == 0
    assert shown[:4] == [
        "Which drink is hot?",
        "Tea is hot, from leaves.",
        "Direct answers: tea (1 of 1 in silver passages)",
        "",
    ]
    assert shown[4].startswith("  1  tea  1.0000")
    why = "Holds the direct answer “tea”; no other candidate has “tea”. It shares 4 of the 4 words of the long answer."
    assert " ".join(" ".join(shown[5:7]).split()) == why
    assert "     Tea is a hot drink. It is brewed from leaves." in shown
    assert shown[-1] == "2 of 2 candidates · silver · s.jsonl"
    assert longform("silver", "s.jsonl", "--show", "none").out.splitlines()[-1].startswith("No candidate was chosen · ")
    row = json.loads(longform("silver", "s.jsonl", "--show", "hot", "--json").out)
    assert row == lines()[1]


def test_words_are_highlighted_in_a_terminal() -> None:
    from longform.cli.silver import _highlighted
    from longform.silver import SilverPassage

    passage = SilverPassage("a", "", "", 1, 1.0, "silver", ("Hot  tea",), ("leaves",), "")
    text = _highlighted("A HOT\n     tea of leaves, cleaves.", passage)
    name = click.style("HOT\n     tea", bold=True, underline=True)
    assert text == f"A {name} of {click.style('leaves', bold=True)}, cleaves."


def test_passages_cannot_command_the_terminal(longform: Run) -> None:
    rows = {"id": "evil\x1b[2J", "title": "T\x1b]0;x\x07", "text": "red \x1b[31malert\x9b2J"}
    Path("rows.jsonl").write_text(json.dumps(rows))
    longform("add", "my.index", "rows.jsonl")
    Path("qa.jsonl").write_text(
        json.dumps(
            {"id": "q", "question": "red\x1b[2J?", "long_answer": "red\x1b alert", "short_answers": ["alert\x1b"]}
        )
    )
    make(longform)
    shown = longform("silver", "s.jsonl", "--show", "q").out
    assert "alert" in shown
    assert not any(ord(character) < 32 and character != "\n" for character in shown)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["my.index"], "--questions FILE is missing: `longform silver my.index --questions qa.jsonl -o silver.jsonl`."),
        (
            ["my.index", "--questions", "qa.jsonl"],
            "-o FILE is missing: `longform silver my.index --questions qa.jsonl -o silver.jsonl`.",
        ),
        (
            ["my.index", "--questions", "qa.jsonl", "-o", "s.jsonl", "--model", "x"],
            "--model goes with --method perplexity or semantic; silver needs none.",
        ),
        (
            ["my.index", "--questions", "qa.jsonl", "-o", "s.jsonl", "--method", "perplexity"],
            "--method perplexity needs a language model: name one with --model.",
        ),
        (
            ["my.index", "--questions", "qa.jsonl", "-o", "s.jsonl", "-k", 9, "--pool", 5],
            "A pool of 5 is too small to choose 9 passages from: raise --pool.",
        ),
        (
            ["none.index", "--questions", "qa.jsonl", "-o", "s"],
            "none.index does not exist: make it with `longform index",
        ),
        (["my.index", "--questions", "no.jsonl", "-o", "s"], "no.jsonl does not exist."),
        (["s.jsonl", "--show", "hot", "-o", "x"], "--show reads a silver file: leave out --questions and -o."),
        (
            ["my.index", "--show", "hot"],
            "my.index is a folder: --show reads the file that `longform silver … -o FILE` wrote.",
        ),
        (["s.jsonl", "--show", "cold"], "s.jsonl has no question 'cold'; it has 3, the first: hot, dark, none."),
        (["qa.jsonl", "--show", "hot"], "qa.jsonl is not a silver file (its first line has no format)"),
    ],
)
def test_mistakes(longform: Run, arguments: list[object], sentence: str) -> None:
    make(longform)
    result = longform("silver", *arguments)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith(f"Error: {sentence}")
    assert result.err.count("\n") == 1


# Every question takes a moment, so that kills fall in the middle.
SLOW = """
import sys, time
from longform.silver import select
choose = select.Selector.__call__
def slowly(self, question, pool):
    time.sleep(0.01)
    return choose(self, question, pool)
select.Selector.__call__ = slowly
from longform.cli import main
main()
"""


def test_killed_and_gone_on_with(longform: Run) -> None:
    rows = [{**ROWS[number % 2], "id": f"q{number}"} for number in range(300)]
    Path("qa.jsonl").write_text("\n".join(map(json.dumps, rows)))
    make(longform)
    whole = Path("s.jsonl").read_bytes()
    Path("s.jsonl").unlink()
    part = Path("s.jsonl.part")
    command = [sys.executable, "-c", SLOW, "silver", "my.index", "--questions", "qa.jsonl", "-o", "s.jsonl"]
    finished = 0
    for _ in range(3):
        child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        started = time.monotonic()
        while not (part.exists() and part.read_bytes().count(b"\n") > finished + 20):
            assert child.poll() is None
            assert time.monotonic() - started < 120
            time.sleep(0.01)
        os.kill(child.pid, signal.SIGKILL)
        child.wait()
        kept = part.read_bytes().count(b"\n") - 1
        assert kept >= finished, "nothing that was finished is lost"
        assert not Path("s.jsonl").exists()
        finished = kept
    result = make(longform)
    assert result.out.startswith(f"Went on behind {finished} questions that an earlier run had finished.\n")
    assert Path("s.jsonl").read_bytes() == whole
    assert not part.exists()


WATCHED = """
import sys
from longform.cli import main
try:
    main()
finally:
    print("torch" in sys.modules, "onnxruntime" in sys.modules, file=sys.stderr)
"""


def test_help_and_showing_need_nothing_heavy(longform: Run) -> None:
    make(longform)
    for arguments in (
        ["--help"],
        ["s.jsonl", "--show", "hot"],
        ["my.index", "--questions", "qa.jsonl", "-o", "t.jsonl"],
    ):
        done = subprocess.run([sys.executable, "-c", WATCHED, "silver", *arguments], capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, "False False\n")


def test_what_is_read_is_not_written_over(longform: Run) -> None:
    line = (
        json.dumps({"id": "1", "question": "What is hot?", "long_answer": "Tea is hot.", "short_answers": [["Tea"]]})
        + "\n"
    )
    for name, output in (("own.jsonl", "own.jsonl"), ("own.jsonl.part", "own.jsonl"), ("linked.jsonl", "link.jsonl")):
        Path(name).write_text(line)
        if output == "link.jsonl":
            Path(output).symlink_to(name)
        for command in (("silver",), ("ask",), ("search",)):
            if command == ("search",) and name.endswith(".part"):
                continue  # It writes no part.
            refused = longform(*command, "my.index", "--questions", name, "-o", output)
            assert refused.code == 2
            assert f"{name} is what is read: it would be lost if {output} were written" in refused.err
            assert Path(name).read_text() == line
