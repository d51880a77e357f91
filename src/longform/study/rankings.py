"""The rankings of a system over a set of questions, kept on disk: what is ranked once is not ranked again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from longform.progress import Progress, no_progress
from longform.records import Hit
from longform.study.kept import keep_all

__all__ = ["rank_all"]


def rank_all(
    path: Path,
    made_with: Mapping[str, Any],
    questions: Mapping[str, str],
    rank: Callable[[str, str], Sequence[Hit]],
    progress: Progress = no_progress,
) -> dict[str, list[str]]:
    """The ids of the passages that ``rank(id, question)`` gives each question, best first (:func:`keep_all`)."""
    return keep_all(
        path,
        made_with,
        questions,
        lambda identifier, question: [hit.passage.id for hit in rank(identifier, question)],
        progress,
        f"ranking by {path.stem}",
    )
