"""``/v1/chat/completions`` in OpenAI's shape, so that chat front ends can be pointed at the server."""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import orjson
from fastapi import APIRouter, Request, Response

from longform.answer.pipeline import MOST_CHARACTERS
from longform.serve.asking import Event, ask
from longform.serve.engine import Engine
from longform.serve.errors import ApiError, NotFoundError
from longform.serve.events import CLIENT_CLOSED, EventStream, finished
from longform.serve.jobs import new_id
from longform.serve.replies import OPENAI_ERRORS, JsonRoute, json_reply
from longform.serve.routes_ask import failed
from longform.serve.shapes import MOST_TURNS, AskRequest, ChatMessage, ChatRequest, HistoryTurn

__all__ = ["asked_by", "chat_routes", "references"]

DEFAULT_NAME = "longform"


def chat_routes(engine: Engine) -> APIRouter:
    """The routes."""
    router = APIRouter(route_class=JsonRoute, responses=OPENAI_ERRORS, tags=["OpenAI"])

    @router.get("/v1/models", summary="The names that a chat may be held with")
    async def models() -> Response:
        return json_reply({"object": "list", "data": list(_models(engine).values())})

    @router.get("/v1/models/{id:path}", summary="One of them")
    async def model(id: str) -> Response:
        found = _models(engine).get(id)
        if found is None:
            raise _no_model(id)
        return json_reply(found)

    @router.post("/v1/chat/completions", summary="Answer the last message of a conversation")
    async def completions(chat: ChatRequest, request: Request) -> Response:
        asked = asked_by(chat, engine)
        name, index = engine.collections.get(asked.index)
        answer_id = new_id()
        work = engine.workers.start(partial(ask, engine, name, index, asked, answer_id))
        shape = _Shape(chat.model, answer_id)
        if chat.stream:
            return EventStream(
                work, shape.chunks, lambda error: _line(failed(engine, error).to_openai()), b"data: [DONE]\n\n"
            )
        events = await finished(work, request)
        if events is None:
            return Response(status_code=CLIENT_CLOSED)
        return json_reply(shape.whole(events[-1].data))

    return router


def _models(engine: Engine) -> dict[str, dict[str, Any]]:
    names = [DEFAULT_NAME, *engine.settings.models, *engine.collections.folders()]
    return {name: {"id": name, "object": "model", "created": 0, "owned_by": "longform"} for name in names}


def _no_model(name: str) -> NotFoundError:
    error = NotFoundError(f"There is no model {name!r}: /v1/models lists the names.")
    error.field = "model"
    return error


def asked_by(chat: ChatRequest, engine: Engine) -> AskRequest:
    """The question of a conversation: its last message, with the turns before it as history."""
    messages = [message for message in chat.messages if message.role in ("user", "assistant") and message.text.strip()]
    if not messages or messages[-1].role != "user":
        raise ApiError("The last message of the conversation must be a question, by the user.", field="messages")
    model = index = None
    if chat.model in engine.settings.models:
        model = chat.model
    elif chat.model != DEFAULT_NAME:
        if chat.model not in engine.collections.folders():
            raise _no_model(chat.model)
        index = chat.model
    if len(messages[-1].text) > MOST_CHARACTERS:
        raise ApiError(f"The question has more than {MOST_CHARACTERS:,} characters: ask shorter.", field="messages")
    history = _turns(messages[:-1])[-MOST_TURNS:]
    return AskRequest(question=messages[-1].text, index=index, model=model, history=history)


def _turns(messages: list[ChatMessage]) -> list[HistoryTurn]:
    turns: list[HistoryTurn] = []
    for message in messages:
        if message.role == "user":
            turns.append(HistoryTurn(question=message.text[:MOST_CHARACTERS]))
        elif turns:
            # What the references under an answer say is no part of it.
            turns[-1].answer = message.text.split("\n\n[1] ", 1)[0][:100_000]
    return turns


def references(record: dict[str, Any]) -> str:
    """The passages that an answer cites, a line each, for people who see nothing but its text."""
    cited = {number for sentence in record["sentences"] for number in sentence["citations"]}
    cited |= {place["passage"] for item in record.get("items", []) for place in item["evidence"]}
    lines = []
    for number, hit in enumerate(record["passages"], 1):
        if number in cited:
            section = f" › {hit['section']}" if hit.get("section") else ""
            lines.append(f"[{number}] {hit['title'] or hit['id']}{section}")
    return "\n\n" + "  \n".join(lines) if lines else ""


class _Shape:
    """Replies in OpenAI's shape."""

    def __init__(self, model: str, id: str) -> None:
        self._head = {"id": f"chatcmpl-{id}", "created": int(time.time()), "model": model}

    def whole(self, record: dict[str, Any]) -> dict[str, Any]:
        """The reply at once."""
        message = {"role": "assistant", "content": record["answer"] + references(record)}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        return {**self._head, "object": "chat.completion", "choices": [choice], "longform": record}

    def chunks(self, event: Event) -> bytes:
        """An event as chunks of a stream."""
        if event.name == "start":
            return self._chunk({"role": "assistant", "content": ""})
        if event.name == "text":
            return self._chunk({"content": event.data["text"]})
        if event.name == "answer":
            under = references(event.data)
            last = self._chunk({}, "stop", longform=event.data)
            return (self._chunk({"content": under}) if under else b"") + last
        return b""

    def _chunk(self, delta: dict[str, str], reason: str | None = None, **more: Any) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        return _line({**self._head, "object": "chat.completion.chunk", "choices": [choice], **more})


def _line(value: Any) -> bytes:
    return b"data: " + orjson.dumps(value) + b"\n\n"
