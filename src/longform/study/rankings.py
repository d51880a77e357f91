"""The rankings of a system over a set of questions, kept on disk: what is ranked once is not ranked again."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from longform.progress import Progress, no_progress
from longform.records import Hit

__all__ = ["rank_all"]


def rank_all(
    path: Path,
    made_with: Mapping[str, Any],
    questions: Mapping[str, str],
    rank: Callable[[str, str], Sequence[Hit]],
    progress: Progress = no_progress,
) -> dict[str, list[str]]:
    """The ids of the passages that ``rank(id, question)`` gives each question, best first.

    They are appended to ``path`` one line a question, so that a killed run goes on where it was. ``made_with`` stands
    in the first line; where it is another than the file's, the file is begun anew.
    """
    header = {"format": "longform-rankings/1", **made_with}
    found, end = _kept(path, header, questions)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("r+b" if end else "wb") as file:
        file.truncate(end)
        file.seek(end)
        if not end:
            file.write(orjson.dumps(header, option=orjson.OPT_APPEND_NEWLINE))
        for identifier, question in questions.items():
            if identifier not in found:
                found[identifier] = [hit.passage.id for hit in rank(identifier, question)]
                row = {"id": identifier, "passages": found[identifier]}
                file.write(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE))
                file.flush()
            progress(f"ranking by {path.stem}", len(found), len(questions))
        os.fsync(file.fileno())
    return {identifier: found[identifier] for identifier in questions}


def _kept(path: Path, header: Mapping[str, Any], questions: Mapping[str, str]) -> tuple[dict[str, list[str]], int]:
    """What an earlier run has ranked, and the byte behind its last whole line."""
    if not path.is_file():
        return {}, 0
    lines = path.read_bytes().splitlines(keepends=True)
    try:
        if not lines or orjson.loads(lines[0]) != orjson.loads(orjson.dumps(header)):
            return {}, 0
    except orjson.JSONDecodeError:
        return {}, 0
    found: dict[str, list[str]] = {}
    end = len(lines[0])
    for line in lines[1:]:
        try:
            row = orjson.loads(line)
            identifier, passages = row["id"], row["passages"]
        except (orjson.JSONDecodeError, KeyError, TypeError):
            break
        if not line.endswith(b"\n") or identifier not in questions:
            break
        found[identifier] = passages
        end += len(line)
    return found, end
