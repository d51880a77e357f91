"""Server-sent events, and work that ends when its client goes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from typing import Any, TypeVar

import orjson
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from longform.serve.workers import Work

__all__ = ["EventStream", "event_bytes", "finished", "gone"]

Part = TypeVar("Part")
# A line that says nothing, now and then, so that nobody on the way takes a stream that waits for a dead one.
QUIET_SECONDS = 10.0
CLIENT_CLOSED = 499


def event_bytes(name: str, data: Mapping[str, Any]) -> bytes:
    """One event of a stream.

    >>> event_bytes("text", {"text": "Tea"})
    b'event: text\\ndata: {"text":"Tea"}\\n\\n'
    """
    # JSON has no line breaks outside of escapes, so that the data are always one line.
    return b"event: " + name.encode() + b"\ndata: " + orjson.dumps(data) + b"\n\n"


async def gone(receive: Receive) -> None:
    """Returns when the client has gone."""
    while (await receive())["type"] != "http.disconnect":
        pass


async def finished(work: Work[Part], request: Request) -> list[Part] | None:
    """All parts of a work; ``None`` where its client has gone, and then the work stops."""

    async def collect() -> list[Part]:
        return [part async for part in work.parts()]

    collecting = asyncio.create_task(collect())
    leaving = asyncio.create_task(gone(request.receive))
    try:
        await asyncio.wait({collecting, leaving}, return_when=asyncio.FIRST_COMPLETED)
        return await collecting if collecting.done() else None
    finally:
        work.stop()
        await _ended(collecting, leaving)


class EventStream(Response):
    """A stream of the parts of a work, each as ``encode`` makes bytes of it; an error becomes the last of them."""

    def __init__(
        self, work: Work[Any], encode: Callable[[Any], bytes], fail: Callable[[BaseException], bytes], end: bytes = b""
    ) -> None:
        super().__init__(
            status_code=200,
            media_type="text/event-stream",
            # Proxies would hold the pieces back.
            headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
        )
        del self.headers["content-length"]
        self._work, self._encode, self._fail, self._end = work, encode, fail, end

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        del scope
        sending = asyncio.create_task(self._send(send))
        leaving = asyncio.create_task(gone(receive))
        try:
            await asyncio.wait({sending, leaving}, return_when=asyncio.FIRST_COMPLETED)
            if sending.done():
                await sending
        finally:
            self._work.stop()
            await _ended(sending, leaving)

    async def _send(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        async for chunk in _lively(self._chunks()):
            await send({"type": "http.response.body", "body": chunk, "more_body": True})
        await send({"type": "http.response.body", "body": self._end, "more_body": False})

    async def _chunks(self) -> AsyncIterator[bytes]:
        try:
            async for part in self._work.parts():
                yield self._encode(part)
        except Exception as error:
            yield self._fail(error)


async def _lively(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """The chunks, with a comment wherever none comes for long."""
    waiting: asyncio.Task[bytes] | None = None
    try:
        while True:
            waiting = waiting or asyncio.ensure_future(_next(chunks))
            done, _ = await asyncio.wait({waiting}, timeout=QUIET_SECONDS)
            if not done:
                yield b": still at work\n\n"
                continue
            try:
                chunk = waiting.result()
            except StopAsyncIteration:
                return
            waiting = None
            yield chunk
    finally:
        if waiting is not None:
            await _ended(waiting)


async def _next(chunks: AsyncIterator[bytes]) -> bytes:
    return await anext(chunks)


async def _ended(*tasks: asyncio.Task[Any]) -> None:
    for task in tasks:
        task.cancel()
        with suppress(asyncio.CancelledError, Exception):
            await task
