"""Errors on their way to a client: a status, a type, and one sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import orjson
from starlette.responses import Response

from longform.errors import FailureError, InputError, LongformError

__all__ = [
    "ApiError",
    "BusyError",
    "NotFoundError",
    "StoppedError",
    "TimeLimitError",
    "as_api_error",
    "error_response",
    "invalid_request",
]


_OPENAI: dict[int, tuple[str, str | None]] = {
    401: ("invalid_request_error", "invalid_api_key"),
    404: ("invalid_request_error", "model_not_found"),
    429: ("requests", "rate_limit_exceeded"),
}
_OPENAI_PATHS = ("/v1/chat/", "/v1/models")


class ApiError(LongformError):
    """An error with the status that a client gets; ``type`` is ``input``, ``busy``, ``time`` or ``failure``."""

    def __init__(
        self,
        message: str,
        status: int = 400,
        type: str = "input",
        headers: Mapping[str, str] | None = None,
        field: str | None = None,
    ) -> None:
        super().__init__(message)
        self.status, self.type, self.headers, self.field = status, type, dict(headers or {}), field

    def to_json(self) -> dict[str, Any]:
        """``{"error": {"message": …, "type": …}}``."""
        return {"error": {"message": str(self), "type": self.type}}

    def to_openai(self) -> dict[str, Any]:
        """The same in OpenAI's shape, whose clients look at the type and the code.

        >>> NotFoundError("There is no model 'x'.").to_openai()["error"]["code"]
        'model_not_found'
        """
        other = ("server_error" if self.status >= 500 else "invalid_request_error", None)
        kind, code = _OPENAI.get(self.status, other)
        if self.type == "time":
            code = "timeout"
        return {"error": {"message": str(self), "type": kind, "param": self.field, "code": code}}


class NotFoundError(ApiError):
    """What was asked for is not there."""

    def __init__(self, message: str) -> None:
        super().__init__(message, 404)


class BusyError(ApiError):
    """All places are taken; ``Retry-After`` says in how many seconds one is likely free."""

    def __init__(self, seconds: int, message: str = "The server has all the work that it can take") -> None:
        super().__init__(f"{message}: try again in {seconds} s.", 429, "busy", {"Retry-After": str(seconds)})


class TimeLimitError(ApiError):
    """The work took longer than the server gives a request."""

    def __init__(self, seconds: float) -> None:
        super().__init__(
            f"The answer took more than the {seconds:g} s that a request has: ask for fewer passages, or try later.",
            503,
            "time",
        )


class StoppedError(Exception):
    """The work is not wanted any more: its client has gone, or the server ends."""


def as_api_error(error: BaseException, hide: Mapping[str, str] | None = None) -> ApiError:
    """Any error as one that may be sent; ``hide`` says what stands in the place of the server's own paths."""
    if isinstance(error, ApiError):
        return error
    if not isinstance(error, LongformError):
        return ApiError("The server failed in a way that it should not: its log says more.", 500, "failure")
    message = str(error)
    for path, name in (hide or {}).items():
        message = message.replace(path, name)
    if isinstance(error, InputError):
        return ApiError(message)
    return ApiError(message, 500 if isinstance(error, FailureError) else 400, "failure")


def error_response(error: ApiError, path: str) -> Response:
    """The error as JSON, in the shape that the clients of ``path`` know."""
    row = error.to_openai() if path.startswith(_OPENAI_PATHS) else error.to_json()
    return Response(orjson.dumps(row), error.status, error.headers, "application/json")


def invalid_request(problems: Sequence[Mapping[str, Any]]) -> ApiError:
    """A sentence about the first thing that is wrong with a request.

    >>> str(invalid_request([{"type": "missing", "loc": ("body", "question"), "msg": "Field required"}]))
    'question is missing.'
    """
    first = problems[0] if problems else {}
    where = ".".join(str(part) for part in first.get("loc", ())[1:])
    kind = first.get("type")
    if kind == "missing":
        return ApiError(f"{where or 'The body'} is missing.", field=where or None)
    if kind in ("json_invalid", "value_error.jsondecode"):
        return ApiError("The body is not valid JSON.")
    if kind == "extra_forbidden":
        return ApiError(f"There is no field {where}.", field=where)
    if kind in ("model_attributes_type", "dict_type", "model_type") and not where:
        return ApiError("The body must be a JSON object, sent as application/json.")
    said = str(first.get("msg", "it is not valid")).rstrip(".")
    return ApiError(f"{where}: {said[:1].lower()}{said[1:]}." if where else f"{said}.", field=where or None)
