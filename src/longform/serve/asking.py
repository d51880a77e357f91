"""One question from its arrival to its answer, as events: what streams send, and what other replies are made of."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from sqlalchemy.exc import SQLAlchemyError

from longform.answer.anticipate import follow_ups
from longform.answer.history import resolve, rewrite_with
from longform.errors import InputError
from longform.records import Answer, Hit
from longform.retrieve.index import Index
from longform.serve.engine import Engine
from longform.serve.errors import NotFoundError
from longform.serve.shapes import AskRequest
from longform.serve.turns import turns_of
from longform.serve.workers import Check

__all__ = ["Event", "ask"]

logger = logging.getLogger("longform.serve")
# A list is made of 200 passages: more than these are not sent before the answer names the ones that count.
MOST_HITS = 50


class Event(NamedTuple):
    """A part of an answer; ``name`` is ``start``, ``hits``, ``text`` or ``answer``."""

    name: str
    data: dict[str, Any]


def ask(engine: Engine, name: str, index: Index, asked: AskRequest, id: str, check: Check) -> Iterator[Event]:
    """The events of an answer; the last is the whole of it, which is in the history by then."""
    if not asked.question.strip():
        raise InputError("The question is empty.")
    if not len(index):
        raise NotFoundError(f"The collection {name!r} is empty.")
    pipeline = engine.pipeline(index, asked, check)
    question, understood = _understood(engine, asked)
    yield Event("start", {"id": id, **understood})
    searched = pipeline.search(question)
    before = {"before": list(searched.before)}
    yield Event("hits", {"hits": [hit.to_json() for hit in searched.hits[:MOST_HITS]], **before})
    for part in pipeline.stream(question, id, searched):
        if isinstance(part, str):
            yield Event("text", {"text": part})
        else:
            check()
            part = replace(part, follow_ups=part.follow_ups or _follow_ups(part, searched.hits, index, asked))
            yield Event("answer", _kept(engine, name, asked, part, {**understood, **before}))


def _understood(engine: Engine, asked: AskRequest) -> tuple[str, dict[str, str]]:
    """The question so that it stands alone, and what a client is told about it."""
    if not asked.history:
        return asked.question, {}
    writer = engine.writer(asked)
    rewrite = None if writer is None else partial(rewrite_with, writer)
    resolved = resolve(asked.question, turns_of(asked.history, engine.history), rewrite)
    if resolved.question == asked.question or not resolved.reason:
        return asked.question, {}
    return resolved.question, {"understood_as": resolved.question}


def _follow_ups(answer: Answer, hits: Sequence[Hit], index: Index, asked: AskRequest) -> tuple[str, ...]:
    """Questions that may come next; an answer is not lost where none can be found."""
    before = [asked.question, *(turn.question for turn in asked.history)]
    try:
        return tuple(follow_ups(answer, hits, index, asked=before))
    except Exception:
        logger.exception("No follow-up questions could be found.")
        return ()


def _kept(engine: Engine, name: str, asked: AskRequest, answer: Answer, more: dict[str, Any]) -> dict[str, Any]:
    """The answer as its client gets it; one that cannot be kept is still given."""
    record = {**answer.to_json(), "id": answer.id, "asked": asked.question, "index": name, **more}
    for stage, seconds in answer.seconds.items():
        engine.metrics.stage_seconds.labels(stage).observe(seconds)
    outcome = "answered" if answer.answered else "not answered"
    engine.metrics.answers.labels(answer.model, outcome if answer.complete else "broken off").inc()
    try:
        engine.history.keep(name, record)
    except SQLAlchemyError as error:
        logger.error("An answer is not in the history: %s", type(error).__name__)
        record["warnings"] = [*record["warnings"], "This answer could not be kept in the history."]
    return record
