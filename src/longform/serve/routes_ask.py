"""``/v1/ask``, ``/v1/search`` and ``/v1/score``: the work that runs in threads."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from functools import partial
from typing import Any

from fastapi import APIRouter, Request, Response

from longform.serve.asking import ask
from longform.serve.engine import Engine
from longform.serve.errors import ApiError, StoppedError, as_api_error
from longform.serve.events import CLIENT_CLOSED, EventStream, event_bytes, finished
from longform.serve.jobs import new_id
from longform.serve.replies import ERRORS, JsonRoute, json_reply
from longform.serve.scoring import score
from longform.serve.shapes import AskRequest, ScoreRequest, SearchRequest
from longform.serve.workers import Check

__all__ = ["ask_routes", "failed"]

logger = logging.getLogger("longform.serve")


def ask_routes(engine: Engine) -> APIRouter:
    """The routes."""
    router = APIRouter(route_class=JsonRoute, responses=ERRORS, tags=["ask"])

    @router.post("/v1/ask", summary="Answer a question, as JSON or as server-sent events")
    async def ask_(asked: AskRequest, request: Request) -> Response:
        name, index = engine.collections.get(asked.index)
        engine.model(asked)
        work = engine.workers.start(partial(ask, engine, name, index, asked, new_id()))
        if asked.stream or _wants_events(request):
            return EventStream(work, lambda event: event_bytes(*event), partial(_error_event, engine))
        events = await finished(work, request)
        if events is None:
            return Response(status_code=CLIENT_CLOSED)
        return json_reply(events[-1].data)

    @router.post("/v1/search", summary="Find the passages for a question")
    async def search(asked: SearchRequest, request: Request) -> Response:
        name, index = engine.collections.get(asked.index)

        def found(check: Check) -> Iterator[list[dict[str, Any]]]:
            yield [hit.to_json() for hit in engine.search(name, index, asked, check)]

        parts = await finished(engine.workers.start(found), request)
        if parts is None:
            return Response(status_code=CLIENT_CLOSED)
        mode = asked.mode or index.default_mode
        return json_reply({"question": asked.question, "mode": mode, "index": name, "hits": parts[0]})

    @router.post("/v1/score", summary="Score answers or rankings as a benchmark does")
    async def score_(asked: ScoreRequest, request: Request) -> Response:
        def scored(check: Check) -> Iterator[dict[str, Any]]:
            check()
            yield score(asked)

        parts = await finished(engine.workers.start(scored), request)
        return Response(status_code=CLIENT_CLOSED) if parts is None else json_reply(parts[0])

    return router


def _wants_events(request: Request) -> bool:
    return "text/event-stream" in request.headers.get("accept", "")


def _error_event(engine: Engine, error: BaseException) -> bytes:
    return event_bytes("error", failed(engine, error).to_json()["error"])


def failed(engine: Engine, error: BaseException) -> ApiError:
    """What the client of a stream is told about an error."""
    told = as_api_error(error, engine.hidden())
    if told.status == 500 and not isinstance(error, StoppedError):
        logger.error("An answer broke off.", exc_info=error)
    return told
