"""Values made one by one and kept on disk: what is made once is not made again."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import orjson

from longform.progress import Progress, no_progress

__all__ = ["keep_all"]

Item = TypeVar("Item")


def keep_all(
    path: Path,
    made_with: Mapping[str, Any],
    items: Mapping[str, Item],
    make: Callable[[str, Item], Any],
    progress: Progress = no_progress,
    stage: str = "making",
) -> dict[str, Any]:
    """What ``make(id, item)`` gives for every item: plain values, as JSON has them.

    They are appended to ``path`` one line an item, so that a killed run goes on where it was. ``made_with`` stands in
    the first line; where it is another than the file's, the file is begun anew.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "lengths.jsonl"
    >>> keep_all(path, {"of": "words"}, {"a": "tea", "b": "coffee"}, lambda _, word: len(word))
    {'a': 3, 'b': 6}
    >>> keep_all(path, {"of": "words"}, {"a": "tea", "b": "coffee"}, lambda *_: 1 / 0)
    {'a': 3, 'b': 6}
    """
    header = orjson.loads(orjson.dumps({"format": "longform-kept/1", **made_with}))
    found, end = _kept(path, header, items)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("r+b" if end else "wb") as file:
        file.truncate(end)
        file.seek(end)
        if not end:
            file.write(orjson.dumps(header, option=orjson.OPT_APPEND_NEWLINE))
        for identifier, item in items.items():
            if identifier not in found:
                found[identifier] = make(identifier, item)
                row = {"id": identifier, "value": found[identifier]}
                file.write(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE))
                file.flush()
            progress(stage, len(found), len(items))
        os.fsync(file.fileno())
    return {identifier: found[identifier] for identifier in items}


def _kept(path: Path, header: Any, items: Mapping[str, Any]) -> tuple[dict[str, Any], int]:
    """What an earlier run has made, and the byte behind its last whole line."""
    if not path.is_file():
        return {}, 0
    lines = path.read_bytes().splitlines(keepends=True)
    try:
        if not lines or orjson.loads(lines[0]) != header:
            return {}, 0
    except orjson.JSONDecodeError:
        return {}, 0
    found: dict[str, Any] = {}
    end = len(lines[0])
    for line in lines[1:]:
        try:
            row = orjson.loads(line)
            identifier, value = row["id"], row["value"]
        except (orjson.JSONDecodeError, KeyError, TypeError):
            break
        if not line.endswith(b"\n") or identifier not in items:
            break
        found[identifier] = value
        end += len(line)
    return found, end
