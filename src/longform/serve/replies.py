"""How replies are made: JSON by orjson, and the errors that every route may end with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import orjson
from fastapi import Request, Response
from fastapi.routing import APIRoute

from longform.serve.shapes import ErrorReply, OpenAiErrorReply

__all__ = ["ERRORS", "OPENAI_ERRORS", "JsonRoute", "json_reply"]

_REASONS = {
    400: "Something in the request is wrong; the message says what.",
    401: "The token is missing or wrong.",
    403: "A page of another site may not do this.",
    404: "What was asked for is not there.",
    413: "The request is too large.",
    415: "A file is of a type that cannot be read.",
    429: "All places are taken: come again after `Retry-After` seconds.",
    500: "The server failed.",
    503: "The time of the request is over, or the collection is not ready.",
}
ERRORS: dict[int | str, dict[str, Any]] = {
    status: {"model": ErrorReply, "description": reason} for status, reason in _REASONS.items()
}
OPENAI_ERRORS: dict[int | str, dict[str, Any]] = {
    status: {"model": OpenAiErrorReply, "description": reason} for status, reason in _REASONS.items()
}


def json_reply(value: Any, status: int = 200) -> Response:
    """A value as JSON."""
    return Response(orjson.dumps(value), status, media_type="application/json")


class _JsonRequest(Request):
    async def json(self) -> Any:
        """The body. Unlike the standard library's, this parser refuses halves of surrogate pairs and NaN."""
        if not hasattr(self, "_json"):
            self._json = orjson.loads(await self.body())
        return self._json


class JsonRoute(APIRoute):
    """A route whose JSON bodies are read by orjson."""

    def get_route_handler(self) -> Callable[[Request], Any]:
        handle = super().get_route_handler()

        async def handler(request: Request) -> Response:
            reply: Response = await handle(_JsonRequest(request.scope, request.receive))
            return reply

        return handler
