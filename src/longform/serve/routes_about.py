"""The page, and what the server says about itself: health, metrics, its description."""

from __future__ import annotations

import asyncio
from pathlib import Path

from fastapi import APIRouter, Request, Response
from prometheus_client import CONTENT_TYPE_LATEST
from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError
from starlette.responses import FileResponse, HTMLResponse

from longform._version import __version__
from longform.serve.docs_page import docs_page
from longform.serve.engine import Engine
from longform.serve.errors import NotFoundError
from longform.serve.replies import ERRORS, JsonRoute, json_reply

__all__ = ["STATIC", "about_routes"]

STATIC = Path(__file__).parent / "static"
STYLE = Path(__file__).parent / "docs.css"


def about_routes(engine: Engine) -> APIRouter:
    """The routes."""
    router = APIRouter(route_class=JsonRoute, tags=["about"])

    @router.get("/", include_in_schema=False)
    async def page() -> Response:
        if not (STATIC / "index.html").is_file():
            raise NotFoundError("The page is not installed; the interface is: see /docs.")
        return FileResponse(STATIC / "index.html", headers={"Cache-Control": "no-cache"})

    @router.get("/favicon.ico", include_in_schema=False)
    async def icon() -> Response:
        for name in ("favicon.ico", "favicon.svg"):
            if (STATIC / name).is_file():
                return FileResponse(STATIC / name)
        return Response(status_code=204)

    @router.get("/healthz", summary="Whether the server can answer", responses={503: ERRORS[503]})
    async def health() -> Response:
        def look() -> bool:
            try:
                with engine.database.reading.begin() as connection:
                    connection.execute(text("SELECT 1 FROM version"))
            except SQLAlchemyError:
                return False
            return True

        good = await asyncio.to_thread(look)
        return json_reply({"status": "ok" if good else "failing", "version": __version__}, 200 if good else 503)

    @router.get("/metrics", summary="Numbers for Prometheus", response_class=Response)
    async def metrics() -> Response:
        return Response(await asyncio.to_thread(engine.metrics.page), media_type=CONTENT_TYPE_LATEST)

    @router.get("/docs", include_in_schema=False)
    async def docs(request: Request) -> Response:
        return HTMLResponse(docs_page(request.app.openapi()))

    @router.get("/docs.css", include_in_schema=False)
    async def style() -> Response:
        return FileResponse(STYLE, media_type="text/css")

    return router
