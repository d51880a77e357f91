"""The app: routes, errors, and what happens when a process of the server begins and ends."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.staticfiles import StaticFiles

from longform._version import __version__
from longform.answer.opening import Models
from longform.errors import LongformError
from longform.serve.engine import Engine
from longform.serve.errors import ApiError, BusyError, StoppedError, as_api_error, error_response, invalid_request
from longform.serve.events import CLIENT_CLOSED
from longform.serve.guard import Guard
from longform.serve.routes_about import STATIC, about_routes
from longform.serve.routes_ask import ask_routes
from longform.serve.routes_chat import chat_routes
from longform.serve.routes_history import history_routes
from longform.serve.routes_indexes import index_routes
from longform.serve.settings import Settings

__all__ = ["create_app"]

logger = logging.getLogger("longform.serve")
_SENTENCES = {
    404: "There is nothing at this address: see /docs.",
    405: "This address is not for that method: see /docs.",
}


def create_app(settings: Settings, models: Models | None = None) -> FastAPI:
    """The app of a server; ``app.state.engine`` is what its requests share. Apps with the same ``models`` share those.

    ``uvicorn.run(create_app(Settings(indexes=named_indexes(["my.index"]))))`` serves an index.
    """
    engine = Engine(settings, models)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        del app
        if settings.warm:
            await asyncio.to_thread(engine.warm)
        await asyncio.to_thread(engine.jobs.sweep)
        await asyncio.to_thread(engine.jobs.adopt)
        yield
        await asyncio.to_thread(engine.close)

    app = FastAPI(
        title="Longform",
        version=__version__,
        description="Long answers over your own documents, with citations.",
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
    )
    app.state.engine = engine
    for routes in (ask_routes, index_routes, history_routes, chat_routes, about_routes):
        app.include_router(routes(engine))
    app.mount("/static", StaticFiles(directory=STATIC, check_dir=False), name="static")
    _handle_errors(app, engine)
    app.add_middleware(Guard, settings=settings, metrics=engine.metrics)
    return app


def _handle_errors(app: FastAPI, engine: Engine) -> None:
    async def own(request: Request, error: Any) -> Response:
        if isinstance(error, BusyError):
            engine.metrics.refused.inc()
        told = as_api_error(error, engine.hidden())
        if told.status == 500:
            logger.error("%s", error)
        return error_response(told, request.url.path)

    async def invalid(request: Request, error: Any) -> Response:
        return error_response(invalid_request(error.errors()), request.url.path)

    async def http(request: Request, error: Any) -> Response:
        detail = _SENTENCES.get(error.status_code, str(error.detail).rstrip(".") + ".")
        return error_response(ApiError(detail, error.status_code, headers=error.headers), request.url.path)

    async def left(request: Request, error: Any) -> Response:
        del request, error
        return Response(status_code=CLIENT_CLOSED)

    async def bug(request: Request, error: Exception) -> Response:
        return error_response(as_api_error(error), request.url.path)

    app.add_exception_handler(LongformError, own)
    app.add_exception_handler(RequestValidationError, invalid)
    app.add_exception_handler(HTTPException, http)
    app.add_exception_handler(ClientDisconnect, left)
    app.add_exception_handler(StoppedError, left)
    app.add_exception_handler(Exception, bug)
