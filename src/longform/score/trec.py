"""TREC files in and out: runs (``question Q0 passage rank score tag``) and relevance judgments (qrels).

White space in ids, which the formats cannot hold, is written as ``%20`` and the like, as ``longform search`` does.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from longform.errors import InputError, reason_of
from longform.files import atomic_write
from longform.trec import trec_id, trec_lines

__all__ = ["Qrels", "Run", "Scored", "read_qrels", "read_run", "write_qrels", "write_run"]


class Scored(NamedTuple):
    """A passage of a ranking."""

    passage: str
    score: float


Run = Mapping[str, Sequence[Scored]]
"""Passages by question, the best first."""

Qrels = Mapping[str, Mapping[str, int]]
"""How relevant a passage is, by question and passage."""


def read_run(path: str | Path) -> dict[str, list[Scored]]:
    """The rankings in a TREC run, by falling score; equal scores stay in the order of their ranks."""
    found: dict[str, list[tuple[float, float, Scored]]] = {}
    seen: set[tuple[str, str]] = set()
    for number, fields in _fields(Path(path), 6, "question Q0 passage rank score tag"):
        question, _, passage, rank, score, _ = fields
        try:
            place, value = float(rank), float(score)
        except ValueError:
            place = value = math.nan
        if not (math.isfinite(value) and math.isfinite(place)):
            raise InputError(f"{Path(path).name}, line {number}: rank {rank} and score {score} are not two numbers.")
        if (question, passage) in seen:
            raise InputError(f"{Path(path).name}, line {number}: {passage} stands twice in the ranking of {question}.")
        seen.add((question, passage))
        found.setdefault(question, []).append((-value, place, Scored(passage, value)))
    return {question: [row[2] for row in sorted(rows, key=lambda row: row[:2])] for question, rows in found.items()}


def write_run(path: str | Path, run: Run, tag: str = "longform") -> None:
    """Write rankings so that every tool sees them as they are: scores always fall, by at least a millionth."""
    lines = (line for question, ranking in run.items() for line in trec_lines(question, ranking, trec_id(tag)))
    _write(Path(path), lines)


def read_qrels(path: str | Path) -> dict[str, dict[str, int]]:
    """Judgments from a TREC file (``question 0 passage relevance``) or from BEIR's, with a header and three columns."""
    path, qrels = Path(path), dict[str, dict[str, int]]()
    for number, fields in _fields(path, None, "question 0 passage relevance"):
        if number == 1 and fields[-1].lower() == "score":
            continue
        if len(fields) not in (3, 4) or not re.fullmatch(r"-?\d+", fields[-1]):
            raise InputError(f"{path.name}, line {number} is not 'question 0 passage relevance'.")
        judged = qrels.setdefault(fields[0], {})
        if fields[-2] in judged:
            raise InputError(f"{path.name}, line {number}: {fields[-2]} is judged twice for {fields[0]}.")
        judged[fields[-2]] = int(fields[-1])
    return qrels


def write_qrels(path: str | Path, qrels: Qrels) -> None:
    """Write judgments as a TREC file."""
    lines = (
        f"{trec_id(question)} 0 {trec_id(passage)} {relevance}\n"
        for question, judged in qrels.items()
        for passage, relevance in judged.items()
    )
    _write(Path(path), lines)


def _fields(path: Path, count: int | None, form: str) -> Iterator[tuple[int, list[str]]]:
    try:
        with path.open(encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                fields = line.split()
                if fields and count is not None and len(fields) != count:
                    raise InputError(f"{path.name}, line {number} is not '{form}'.")
                if fields:
                    yield number, fields
    except UnicodeDecodeError as error:
        raise InputError(f"{path.name} is not UTF-8 text.") from error
    except OSError as error:
        raise InputError(f"{path.name} cannot be read: {reason_of(error)}.") from error


def _write(path: Path, lines: Iterator[str]) -> None:
    try:
        with atomic_write(path) as file:
            for line in lines:
                file.write(line.encode())
    except OSError as error:
        raise InputError(f"{path.name} cannot be written: {reason_of(error)}.") from error
