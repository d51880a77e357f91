"""Collections: what there is, documents of them, uploads, and how far their indexing is."""

from __future__ import annotations

import asyncio
from typing import Any

from fastapi import APIRouter, Request, Response
from starlette.datastructures import UploadFile

from longform.serve.collections import document_json
from longform.serve.engine import Engine
from longform.serve.errors import ApiError, NotFoundError
from longform.serve.jobs import new_id
from longform.serve.naming import SUFFIXES, collection_name
from longform.serve.replies import ERRORS, JsonRoute, json_reply
from longform.serve.uploads import store_files

__all__ = ["index_routes"]

_UPLOAD = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["name", "files"],
                    "properties": {
                        "name": {"type": "string", "description": "Of a new collection, or of one that is added to."},
                        "files": {"type": "array", "items": {"type": "string", "format": "binary"}},
                        "dense": {"type": "boolean", "description": "Also encode the passages, for hybrid search."},
                    },
                }
            }
        },
    }
}


def index_routes(engine: Engine) -> APIRouter:
    """The routes."""
    router = APIRouter(route_class=JsonRoute, responses=ERRORS, tags=["collections"])

    @router.get("/v1/indexes", summary="The collections and models that can be asked")
    async def indexes() -> Response:
        settings = engine.settings
        listing = await asyncio.to_thread(engine.collections.listing)
        given: dict[str, Any] = {"k": settings.passages, "words": settings.words, "rerank": settings.rerank != "none"}
        default = next((row["name"] for row in listing if row["ready"]), listing[0]["name"] if listing else None)
        uploads = {"types": list(SUFFIXES), "files": settings.upload_files, "bytes": settings.upload_bytes}
        return json_reply(
            {
                "indexes": listing,
                "default": default,
                "models": list(settings.models),
                "defaults": given,
                "uploads": uploads,
            }
        )

    @router.post("/v1/indexes", status_code=202, summary="Upload documents and index them", openapi_extra=_UPLOAD)
    async def upload(request: Request) -> Response:
        if not request.headers.get("content-type", "").lower().startswith("multipart/form-data"):
            raise ApiError("Documents are uploaded as multipart/form-data with `name` and `files`.", 415)
        engine.jobs.check_room()
        # One more than is taken, so that it is this server that says how many that is.
        async with request.form(max_files=engine.settings.upload_files + 1, max_fields=10) as form:
            given = form.get("name")
            name = collection_name(given if isinstance(given, str) else "")
            if engine.collections.is_given(name):
                raise ApiError(f"{name} was there when the server started, and is not added to: choose another name.")
            files = [file for file in form.getlist("files") if isinstance(file, UploadFile)]
            job = new_id()
            stored = await store_files(files, engine.jobs.folder(job), engine.settings)
            dense = str(form.get("dense", "")).lower() in ("1", "true", "on", "yes")
        engine.jobs.add(job, name, stored, dense)
        return json_reply({"job": job, "name": name}, 202)

    @router.delete("/v1/indexes/{name}", status_code=204, summary="Delete a collection that was uploaded")
    async def remove(name: str) -> Response:
        if engine.collections.is_given(name):
            raise ApiError(f"{name} was there when the server started, and is not deleted over HTTP.", 409)
        await asyncio.to_thread(engine.jobs.remove, name)
        return Response(status_code=204)

    @router.get("/v1/jobs/{id}", summary="How far the indexing of an upload is")
    async def job(id: str) -> Response:
        found = await asyncio.to_thread(engine.jobs.get, id)
        if found is None:
            raise NotFoundError(f"There is no job {id!r}.")
        return json_reply(found)

    @router.get("/v1/indexes/{name}/documents/{id:path}", summary="A document as its passages tell it")
    async def document(name: str, id: str) -> Response:
        name, index = engine.collections.get(name)
        return json_reply(await asyncio.to_thread(document_json, index, name, id))

    return router
