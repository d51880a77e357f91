"""The card of a trained model: what it is, what it was trained on, how, and how good it is, in one Markdown file."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path

from longform.files import atomic_write, sha256_of

__all__ = ["command_line", "data_rows", "table", "write_card"]


def write_card(folder: Path, title: str, summary: str, sections: Mapping[str, str]) -> Path:
    """Write ``README.md`` into a model's folder; an empty section is left out."""
    parts = [f"# {title}", summary.strip()]
    parts += [f"## {heading}\n\n{text.strip()}" for heading, text in sections.items() if text.strip()]
    path = folder / "README.md"
    with atomic_write(path) as file:
        file.write(("\n\n".join(parts) + "\n").encode())
    return path


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A Markdown table; numbers with a fraction get four digits after the point.

    >>> print(table(["", "before", "after"], [["F1", 0.5, 0.75]]))
    |  | before | after |
    |---|---|---|
    | F1 | 0.5000 | 0.7500 |
    """
    lines = [f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    for row in rows:
        cells = [f"{cell:.4f}" if isinstance(cell, float) else str(cell) for cell in row]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def data_rows(paths: Sequence[Path], counts: Sequence[int]) -> str:
    """The files that a model was trained on, by name, with how many items each gave and its sha256."""
    rows = [[path.name, count, sha256_of(path)] for path, count in zip(paths, counts, strict=True)]
    return table(["file", "items", "sha256"], rows)


def command_line() -> str:
    """The command that is running, as a person would type it again, and the versions of what it ran on.

    Folders are left out of the program's name only: the arguments are what must be repeated.
    """
    program = Path(sys.argv[0]).name
    words = ["longform" if program.startswith(("longform", "__main__")) else program, *sys.argv[1:]]
    parts = ", ".join(
        f"{name} {version(name).partition('+')[0]}"
        for name in ("torch", "transformers", "sentence-transformers", "onnxruntime")
    )
    return f"```\n{shlex.join(words)}\n```\n\nWith {parts}."
