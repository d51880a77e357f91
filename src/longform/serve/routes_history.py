"""History and feedback."""

from __future__ import annotations

import asyncio
from typing import Annotated

from fastapi import APIRouter, Query, Response

from longform.serve.engine import Engine
from longform.serve.errors import NotFoundError
from longform.serve.replies import ERRORS, JsonRoute, json_reply
from longform.serve.shapes import FeedbackRequest

__all__ = ["history_routes"]


def history_routes(engine: Engine) -> APIRouter:
    """The routes."""
    router = APIRouter(route_class=JsonRoute, responses=ERRORS, tags=["history"])

    @router.get("/v1/history", summary="What was asked last, newest first")
    async def items(limit: Annotated[int, Query(ge=1, le=1000)] = 50) -> Response:
        return json_reply({"items": await asyncio.to_thread(engine.history.items, limit)})

    @router.get("/v1/history/{id}", summary="A whole answer again")
    async def item(id: str) -> Response:
        found = await asyncio.to_thread(engine.history.record, id)
        if found is None:
            raise NotFoundError(f"There is no answer {id!r}.")
        return json_reply(found)

    @router.delete("/v1/history", status_code=204, summary="Empty the history")
    async def clear(
        rated: Annotated[
            bool, Query(description="Also what was rated, which is otherwise kept to learn from.")
        ] = False,
    ) -> Response:
        await asyncio.to_thread(engine.history.clear, rated=rated)
        return Response(status_code=204)

    @router.post("/v1/feedback", status_code=204, summary="Say what you think of an answer")
    async def feedback(given: FeedbackRequest) -> Response:
        known = await asyncio.to_thread(
            engine.history.rate, given.answer_id, given.rating, given.reason, given.correction
        )
        if not known:
            raise NotFoundError(f"There is no answer {given.answer_id!r}.")
        return Response(status_code=204)

    return router
