"""Server-sent events, as chat endpoints stream their answers: https://html.spec.whatwg.org/multipage/#server-sent-events."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

import httpx

__all__ = ["NotEventsError", "events", "text_pieces"]

_END = "[DONE]"


class NotEventsError(Exception):
    """What came is not what a chat endpoint streams, or ends before its end."""


def events(lines: Iterable[str]) -> Iterator[str]:
    """The data of each event: its ``data`` lines, joined; comments and other fields are passed over.

    >>> list(events([": ping", "data: a", "", "event: x", "data:b", "data: c"]))
    ['a', 'b\\nc']
    """
    data: list[str] = []
    for line in lines:
        if not line and data:
            yield "\n".join(data)
            data = []
        field, _, value = line.partition(":")
        if field == "data":
            data.append(value.removeprefix(" "))
    if data:
        yield "\n".join(data)


def text_pieces(response: httpx.Response) -> Iterator[str]:
    """The pieces of the answer in a response: events, or one object from an endpoint that does not stream."""
    kind = response.headers.get("Content-Type", "").lower()
    if "json" in kind and "event" not in kind:
        response.read()
        yield from _whole(response.content)
        return
    ended = False
    for data in events(response.iter_lines()):
        if data.strip() == _END:
            return
        try:
            chunk = json.loads(data)
        except ValueError:
            raise NotEventsError("what it sent is no JSON") from None
        choice = _choice(chunk, "delta")
        if piece := choice["content"]:
            yield piece
        ended = ended or choice["finished"]
    if not ended:
        raise NotEventsError("the stream ended before the answer did")


def _whole(content: bytes) -> Iterator[str]:
    try:
        choice = _choice(json.loads(content), "message")
    except ValueError:
        raise NotEventsError("what it sent is no JSON") from None
    if choice["content"]:
        yield choice["content"]


def _choice(chunk: Any, field: str) -> dict[str, Any]:
    """Of the first choice its text, and whether it says that it is at its end."""
    if not isinstance(chunk, dict) or "error" in chunk:
        raise NotEventsError("it sent an error")
    choices = chunk.get("choices")
    if not isinstance(choices, list):
        raise NotEventsError("what it sent has no choices")
    if not choices:
        # The last event may tell of nothing but how many tokens were used.
        return {"content": "", "finished": False}
    first = choices[0] if isinstance(choices[0], dict) else {}
    part = first.get(field)
    content = part.get("content") if isinstance(part, dict) else None
    return {"content": content if isinstance(content, str) else "", "finished": bool(first.get("finish_reason"))}
