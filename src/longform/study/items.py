"""What a run keeps of one question."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from longform.data.example import Example
from longform.records import Passage
from longform.score.recall import answer_ranks, page_ranks
from longform.study.systems.protocol import Outcome

__all__ = ["item_row"]


def item_row(example: Example, outcome: Outcome, total: float) -> dict[str, Any]:
    """The line that a run keeps of an item; what is empty is left out.

    ``ranks`` are those of the first passage with each short answer, each page, and each answer of the follow-ups, null
    where no passage of the ranking has it: enough for recall at every k.
    """
    row: dict[str, Any] = {"id": example.id, "answers": [answer.to_json() for answer in outcome.answers]}
    if outcome.items is not None:
        row["items"] = list(outcome.items)
    if outcome.passages:
        row["passages"] = [_passage(passage) for passage in outcome.passages]
    if outcome.ranking:
        row["ranking"] = [passage.id for passage in outcome.ranking]
        row["ranks"] = _ranks(example, outcome.ranking)
    more = {"model": outcome.model, "warnings": list(outcome.warnings), "note": dict(outcome.note)}
    row |= {name: value for name, value in more.items() if value}
    return {**row, "seconds": {**outcome.seconds, "total": total}}


def _passage(passage: Passage) -> dict[str, str]:
    return {"id": passage.id, "title": passage.title, "text": passage.text}


def _ranks(example: Example, ranking: Sequence[Passage]) -> dict[str, list[int | None]]:
    follow_ups = [names for turn in example.follow_ups for names in turn.short_answers]
    found = {
        "answer": answer_ranks(example.short_answers, ranking),
        "page": page_ranks(example.pages, ranking),
        "follow_up": answer_ranks(follow_ups, ranking),
    }
    return {name: [None if rank == math.inf else int(rank) for rank in ranks] for name, ranks in found.items() if ranks}
