"""Answers to many questions, one line each; after a kill, on from the last whole line."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from longform.errors import FailureError, InputError, reason_of
from longform.files import atomic_write, checked_target, sync_folder, writing_alone
from longform.progress import Progress, no_progress
from longform.records import Answer, Question

__all__ = ["write_answers"]


def write_answers(
    answer: Callable[[Question], Answer],
    questions: Sequence[Question],
    path: str | Path,
    settings: Mapping[str, Any],
    *,
    progress: Progress = no_progress,
) -> int:
    """Write the answers to a file, one JSON object a line; how many were there already.

    The file grows as ``<path>.part``, and takes its name when it is whole. ``settings`` are kept beside it: the same
    call goes on behind the last whole line, a call with other settings or questions is refused and loses nothing.
    """
    target = checked_target(path)
    part, beside, lock = (target.with_name(f"{target.name}.part{suffix}") for suffix in ("", ".json", ".lock"))
    with _told(path), writing_alone(lock, path):
        done, end = _resume(part, beside, questions, _record(questions, settings))
        with part.open("r+b" if end else "wb") as file:
            file.truncate(end)
            file.seek(end)
            for number, question in enumerate(questions[done:], done):
                progress("answering", number, len(questions))
                _put(file, _answered(answer, question))
        progress("answering", len(questions), len(questions))
        part.replace(target)
        beside.unlink()
        sync_folder(target.resolve().parent)
    return done


def _record(questions: Sequence[Question], settings: Mapping[str, Any]) -> bytes:
    """The settings of a run as they are kept, with what tells its questions."""
    asked = orjson.dumps([[question.id, question.question] for question in questions])
    row = {**settings, "questions": len(questions), "questions_sha256": hashlib.sha256(asked).hexdigest()}
    return orjson.dumps(row, option=orjson.OPT_SORT_KEYS)


def _resume(part: Path, beside: Path, questions: Sequence[Question], record: bytes) -> tuple[int, int]:
    """How many questions an earlier run has answered, and the byte behind the last answer."""
    if not part.is_file():
        with atomic_write(beside) as file:
            file.write(record)
        return 0, 0
    if not beside.is_file():
        raise InputError(f"{part} is there without {beside.name}, which says what it is: move it away to begin anew.")
    if beside.read_bytes() != record:
        raise InputError(
            f"{part} was begun with other questions or settings: go on with those, or remove it to begin anew."
        )
    return _finished(part, questions)


def _finished(part: Path, questions: Sequence[Question]) -> tuple[int, int]:
    """How many of the questions have a whole line, and where the last of these ends."""
    done = end = 0
    with part.open("rb") as file:
        for line in file:
            try:
                whole = line.endswith(b"\n") and orjson.loads(line)["id"] == questions[done].id
            except (orjson.JSONDecodeError, KeyError, TypeError, IndexError):
                whole = False
            if not whole:
                break
            done += 1
            end += len(line)
    return done, end


def _put(file: BinaryIO, answer: Answer) -> None:
    file.write(orjson.dumps(answer.to_json(), option=orjson.OPT_APPEND_NEWLINE))
    file.flush()
    os.fsync(file.fileno())


class _OfTheAnswerError(Exception):
    """Carries an OSError of answering past what takes those of writing."""


def _answered(answer: Callable[[Question], Answer], question: Question) -> Answer:
    try:
        return answer(question)
    except OSError as error:
        raise _OfTheAnswerError from error


@contextmanager
def _told(path: str | Path) -> Iterator[None]:
    """Writing that fails says so; what fails in answering goes on as it is."""
    try:
        yield
    except _OfTheAnswerError as error:
        assert error.__cause__ is not None
        raise error.__cause__ from None
    except OSError as error:
        raise FailureError(f"{path} cannot be written: {reason_of(error)}.") from error
