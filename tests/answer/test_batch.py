"""Answers to many questions, after a kill as without one."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from longform import Document, Index
from longform.answer.batch import write_answers
from longform.errors import FailureError, InputError
from longform.records import Answer, Question

QUESTIONS = [Question(f"q{number}", f"Who ruled in {number}?") for number in range(6)]
SETTINGS = {"model": "extractive", "words": 90}


def answer(question: Question) -> Answer:
    return Answer(
        question.question, "é" * 40, (), (), "m", 0.0, seconds={"answer": time.perf_counter()}, id=question.id
    )


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def told(path: Path) -> list[dict[str, Any]]:
    """All that is told but how long it took."""
    return [{name: value for name, value in row.items() if name != "seconds"} for row in rows(path)]


def fails_at(name: str, error: BaseException) -> Callable[[Question], Answer]:
    def one(question: Question) -> Answer:
        if question.id == name:
            raise error
        return answer(question)

    return one


def test_a_line_for_each(tmp_path: Path) -> None:
    seen: list[tuple[str, int, int | None]] = []
    target = tmp_path / "a.jsonl"
    done = write_answers(answer, QUESTIONS, target, SETTINGS, progress=lambda *step: seen.append(step))
    assert done == 0
    assert [row["id"] for row in rows(target)] == [question.id for question in QUESTIONS]
    assert seen[0] == ("answering", 0, 6) and seen[-1] == ("answering", 6, 6)
    assert [path.name for path in tmp_path.iterdir()] == ["a.jsonl"]


def test_it_goes_on_where_it_broke_off(tmp_path: Path) -> None:
    target, part = tmp_path / "a.jsonl", tmp_path / "a.jsonl.part"
    with pytest.raises(KeyboardInterrupt):
        write_answers(fails_at("q3", KeyboardInterrupt()), QUESTIONS, target, SETTINGS)
    assert not target.exists() and len(rows(part)) == 3
    before = part.read_bytes()
    part.write_bytes(before + b'{"id": "q3", "answ')
    asked: list[str] = []

    def noted(question: Question) -> Answer:
        asked.append(question.id)
        return answer(question)

    done = write_answers(noted, QUESTIONS, target, SETTINGS)
    assert (done, asked) == (3, ["q3", "q4", "q5"])
    assert target.read_bytes().startswith(before)
    write_answers(answer, QUESTIONS, tmp_path / "b.jsonl", SETTINGS)
    assert told(target) == told(tmp_path / "b.jsonl")


@pytest.mark.parametrize("tail", [b"\n", b"no json\n", b'{"id": "other"}\n', b"[1]\n", b"\xff\xfe\n", b'{"x": 1}\n'])
def test_what_is_no_answer_at_the_end_is_cut(tmp_path: Path, tail: bytes) -> None:
    target, part = tmp_path / "a.jsonl", tmp_path / "a.jsonl.part"
    with pytest.raises(KeyboardInterrupt):
        write_answers(fails_at("q2", KeyboardInterrupt()), QUESTIONS, target, SETTINGS)
    part.write_bytes(part.read_bytes() + tail)
    assert write_answers(answer, QUESTIONS, target, SETTINGS) == 2
    assert [row["id"] for row in rows(target)] == [question.id for question in QUESTIONS]


@pytest.mark.parametrize(
    ("questions", "settings"),
    [
        (QUESTIONS, {**SETTINGS, "words": 50}),
        (QUESTIONS, {"model": "extractive"}),
        (QUESTIONS[:-1], SETTINGS),
        ([*QUESTIONS[:-1], Question("q5", "Who else?")], SETTINGS),
    ],
)
def test_other_settings_are_refused_and_nothing_is_lost(
    tmp_path: Path, questions: list[Question], settings: dict[str, Any]
) -> None:
    target, part = tmp_path / "a.jsonl", tmp_path / "a.jsonl.part"
    with pytest.raises(KeyboardInterrupt):
        write_answers(fails_at("q3", KeyboardInterrupt()), QUESTIONS, target, SETTINGS)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(InputError) as caught:
        write_answers(answer, questions, target, settings)
    assert str(caught.value) == (
        f"{part} was begun with other questions or settings: go on with those, or remove it to begin anew."
    )
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
    part.unlink()
    assert write_answers(answer, questions, target, settings) == 0


def test_the_order_of_settings_does_not_matter(tmp_path: Path) -> None:
    target = tmp_path / "a.jsonl"
    with pytest.raises(KeyboardInterrupt):
        write_answers(fails_at("q3", KeyboardInterrupt()), QUESTIONS, target, SETTINGS)
    assert write_answers(answer, QUESTIONS, target, dict(reversed(SETTINGS.items()))) == 3


def test_somebody_elses_part_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl.part").write_text("mine")
    with pytest.raises(InputError, match=r"a.jsonl.part is there without a.jsonl.part.json, which says what it is"):
        write_answers(answer, QUESTIONS, tmp_path / "a.jsonl", SETTINGS)
    assert (tmp_path / "a.jsonl.part").read_text() == "mine"


def test_an_old_file_stays_until_the_new_one_is_whole(tmp_path: Path) -> None:
    target = tmp_path / "a.jsonl"
    target.write_text("old")
    with pytest.raises(KeyboardInterrupt):
        write_answers(fails_at("q3", KeyboardInterrupt()), QUESTIONS, target, SETTINGS)
    assert target.read_text() == "old"
    write_answers(answer, QUESTIONS, target, SETTINGS)
    assert len(rows(target)) == 6


def test_places_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"is a folder: name the file to write\.$"):
        write_answers(answer, QUESTIONS, tmp_path, SETTINGS)
    with pytest.raises(InputError, match=r"There is no folder .*nowhere to write a.jsonl to: make it first\.$"):
        write_answers(answer, QUESTIONS, tmp_path / "nowhere" / "a.jsonl", SETTINGS)
    assert not (tmp_path / "nowhere").exists()
    with pytest.raises(FailureError, match=r"cannot be written: file name too long\.$"):
        write_answers(answer, QUESTIONS, tmp_path / ("x" * 250), SETTINGS)


def test_what_fails_in_answering_is_not_called_writing(tmp_path: Path) -> None:
    target = tmp_path / "a.jsonl"
    with pytest.raises(OSError, match="the index is gone"):
        write_answers(fails_at("q2", OSError("the index is gone")), QUESTIONS, target, SETTINGS)
    assert len(rows(tmp_path / "a.jsonl.part")) == 2
    with pytest.raises(FailureError, match="the endpoint is down"):
        write_answers(fails_at("q3", FailureError("the endpoint is down")), QUESTIONS, target, SETTINGS)
    assert write_answers(answer, QUESTIONS, target, SETTINGS) == 3


def test_the_state_of_an_index(tmp_path: Path) -> None:
    pages = [Document("a", "A", "Tea is hot."), Document("b", "B", "Milk is white.")]
    one, two = (Index.create(tmp_path / name, pages) for name in ("one.index", "two.index"))
    assert one.manifest.contents() == two.manifest.contents()
    one.remove(["a"])
    two.add([Document("c", "C", "Coffee is hot.")])
    assert (
        len(
            {
                one.manifest.contents(),
                two.manifest.contents(),
                Index.create(tmp_path / "3.index", pages).manifest.contents(),
            }
        )
        == 3
    )


SCRIPT = """
import sys, time
sys.path.insert(0, sys.argv[2])
from answer_cases import FirstName, Overlap
from longform import Index, Question
from longform.answer.batch import write_answers
from longform.answer.extractive import ExtractiveAnswerer
from longform.answer.pipeline import Pipeline
pipeline = Pipeline(Index.open("my.index"), ExtractiveAnswerer(Overlap(), FirstName(), always=True))
questions = [Question(f"q{n}", f"Who ruled in {n}?") for n in range(30)]
def answer(question):
    if question.id == sys.argv[3]:
        time.sleep(600)  # until it is killed
    return pipeline.answer(question.question, question.id)
print(write_answers(answer, questions, sys.argv[1], {"words": 90}))
"""


def test_killed_and_resumed_is_as_not_killed(tmp_path: Path) -> None:
    Index.create(
        tmp_path / "my.index",
        [Document(str(n), f"Emperor {n}", f"Emperor {n} ruled in {n}. He was old.") for n in range(30)],
    )

    def start(target: str, hangs_at: str = "") -> subprocess.Popen[bytes]:
        command = [sys.executable, "-c", SCRIPT, target, str(Path(__file__).parent), hangs_at]
        return subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    part = tmp_path / "a.jsonl.part"
    killed = start("a.jsonl", "q3")
    while not (part.is_file() and part.read_bytes().count(b"\n") >= 3):
        assert killed.poll() is None, killed.stderr
        time.sleep(0.01)
    busy = start("a.jsonl")
    _, complaint = busy.communicate(timeout=60)
    assert busy.returncode and b"Another process is writing a.jsonl: wait for it, or name another file." in complaint
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    kept = part.read_bytes()
    assert not (tmp_path / "a.jsonl").exists() and kept.count(b"\n") == 3
    resumed = start("a.jsonl")
    printed, _ = resumed.communicate(timeout=60)
    assert int(printed) == 3
    whole = start("b.jsonl")
    assert whole.communicate(timeout=60)[0] == b"0\n"
    assert told(tmp_path / "a.jsonl") == told(tmp_path / "b.jsonl")
    # The lines that were written before the kill are the same bytes still.
    assert (tmp_path / "a.jsonl").read_bytes().startswith(kept)
