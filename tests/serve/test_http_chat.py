"""The interface in OpenAI's shape, and scores."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import orjson
import pytest
from serve_helpers import Writer
from starlette.testclient import TestClient

from longform.errors import FailureError
from longform.serve.errors import BusyError, TimeLimitError
from longform.serve.routes_chat import references

TEA = [{"role": "user", "content": "What is tea brewed from?"}]


def test_a_completion(client: TestClient) -> None:
    row = client.post("/v1/chat/completions", json={"model": "longform", "messages": TEA, "temperature": 0.5}).json()
    assert row["object"] == "chat.completion" and row["model"] == "longform" and row["id"].startswith("chatcmpl-")
    (choice,) = row["choices"]
    assert choice["finish_reason"] == "stop" and choice["message"]["role"] == "assistant"
    answer = row["longform"]["answer"]
    assert choice["message"]["content"].startswith(answer)
    assert "\n\n[1] Tea" in choice["message"]["content"]
    assert row["longform"]["passages"][0]["document"] == "tea.txt"


def test_a_stream_of_chunks(client: TestClient) -> None:
    body = {"model": "drinks", "messages": TEA, "stream": True}
    reply = client.post("/v1/chat/completions", json=body)
    lines = [line.removeprefix("data: ") for line in reply.text.split("\n\n") if line]
    assert lines[-1] == "[DONE]"
    chunks = [orjson.loads(line) for line in lines[:-1]]
    assert {chunk["object"] for chunk in chunks} == {"chat.completion.chunk"}
    assert chunks[0]["choices"][0]["delta"]["role"] == "assistant"
    assert chunks[-1]["choices"][0]["finish_reason"] == "stop"
    text = "".join(chunk["choices"][0]["delta"].get("content", "") for chunk in chunks)
    record = chunks[-1]["longform"]
    assert text == record["answer"] + references(record)


def test_a_conversation(client: TestClient) -> None:
    messages = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "What is tea?"}, {"type": "image_url"}]},
        {"role": "assistant", "content": "A hot drink [1].\n\n[1] Tea"},
        {"role": "user", "content": "And coffee?"},
    ]
    row = client.post("/v1/chat/completions", json={"messages": messages}).json()
    assert row["longform"]["understood_as"] == "What is tea, and what about coffee?"


def test_models(serving: Callable[..., TestClient], writer: Writer) -> None:
    client = serving(models=("extractive", writer.model))
    assert [row["id"] for row in client.get("/v1/models").json()["data"]] == [
        "longform",
        "extractive",
        writer.model,
        "drinks",
    ]
    row = client.post("/v1/chat/completions", json={"model": writer.model, "messages": TEA}).json()
    assert row["longform"]["model"] == writer.model


@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        ({"messages": []}, 400, "messages: list should have at least 1 item"),
        ({"messages": [{"role": "assistant", "content": "Hi"}]}, 400, "The last message of the conversation must be"),
        ({"messages": TEA, "model": "gpt-4"}, 404, "There is no model 'gpt-4': /v1/models lists the names."),
        (
            {"messages": [{"role": "user", "content": "x" * 10_001}]},
            400,
            "The question has more than 10,000 characters",
        ),
    ],
)
def test_mistakes(client: TestClient, body: dict[str, Any], status: int, message: str) -> None:
    reply = client.post("/v1/chat/completions", json=body)
    assert reply.status_code == status and reply.json()["error"]["message"].startswith(message)


UNKNOWN = ("invalid_request_error", "model", "model_not_found")


@pytest.mark.parametrize(
    ("path", "body", "status", "rest"),
    [
        ("chat/completions", {"messages": []}, 400, ("invalid_request_error", "messages", None)),
        (
            "chat/completions",
            {"messages": TEA, "model": "x"},
            404,
            ("invalid_request_error", "model", "model_not_found"),
        ),
        ("models/x", None, 404, ("invalid_request_error", "model", "model_not_found")),
        ("chat/completions", {"messages": [{"role": "user"}]}, 400, ("invalid_request_error", "messages", None)),
    ],
)
def test_errors_have_openais_shape(
    client: TestClient, path: str, body: Any, status: int, rest: tuple[str, str, str | None]
) -> None:
    reply = client.get(f"/v1/{path}") if body is None else client.post(f"/v1/{path}", json=body)
    error = reply.json()["error"]
    assert reply.status_code == status and set(error) == {"message", "type", "param", "code"}
    assert (error["type"], error["param"], error["code"]) == rest


def test_errors_of_the_server_have_openais_shape(serving: Callable[..., TestClient]) -> None:
    client = serving(token="a-token-of-enough-signs")
    error = client.post("/v1/chat/completions", json={"messages": TEA}).json()["error"]
    assert (error["type"], error["code"]) == ("invalid_request_error", "invalid_api_key")
    assert BusyError(3).to_openai()["error"]["code"] == "rate_limit_exceeded"
    assert TimeLimitError(3).to_openai()["error"] | {"message": ""} == {
        "message": "",
        "type": "server_error",
        "param": None,
        "code": "timeout",
    }


def test_a_failure_in_a_stream_has_openais_shape(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> None:
        raise FailureError("The model is gone.")

    monkeypatch.setattr(client.app.state.engine, "pipeline", broken)  # type: ignore[attr-defined]
    reply = client.post("/v1/chat/completions", json={"messages": TEA})
    wanted = {"message": "The model is gone.", "type": "server_error", "param": None, "code": None}
    assert reply.status_code == 500 and reply.json() == {"error": wanted}
    lines = client.post("/v1/chat/completions", json={"messages": TEA, "stream": True}).text.strip().split("\n\n")
    assert orjson.loads(lines[-2].removeprefix("data: ")) == {"error": wanted} and lines[-1] == "data: [DONE]"


def test_one_model(client: TestClient) -> None:
    assert client.get("/v1/models/drinks").json() == client.get("/v1/models").json()["data"][-1]


ASQA = {"q": {"qa_pairs": [{"short_answers": ["Ringo"]}], "annotations": [{"long_answer": "Ringo sang it."}] * 2}}
SCORED: list[tuple[dict[str, Any], str, float]] = [
    ({"task": "asqa", "gold": ASQA, "predictions": {"q": "Ringo sang."}}, "str_em", 100.0),
    ({"task": "asqa", "gold": {"dev": ASQA}, "predictions": {"q": "Paul sang."}}, "str_em", 0.0),
    (
        {
            "task": "kilt",
            "gold": [{"id": 1, "output": [{"answer": "Tea"}]}],
            "predictions": [{"id": 1, "output": [{"answer": "tea"}]}],
        },
        "em",
        1.0,
    ),
    (
        {
            "task": "qampari",
            "gold": [{"qid": "1", "answer_list": [{"answer_text": "A", "aliases": ["A"]}]}],
            "predictions": {"1": ["a"]},
        },
        "recall",
        1.0,
    ),
    (
        {"task": "retrieval", "gold": {"q": {"a": 1}}, "predictions": {"q": ["b", "a"]}, "measures": ["RR@10"]},
        "RR@10",
        0.5,
    ),
    (
        {"task": "retrieval", "gold": {"q": {"a": 1}}, "predictions": {"q": {"b": 1, "a": 2}}, "measures": ["RR@10"]},
        "RR@10",
        1.0,
    ),
]


@pytest.mark.parametrize(("body", "metric", "value"), SCORED)
def test_scores(client: TestClient, body: dict[str, Any], metric: str, value: float) -> None:
    reply = client.post("/v1/score", json=body)
    assert reply.status_code == 200, reply.text
    row = reply.json()
    found = next(score for name, score in row["scores"].items() if name.lower().replace("-", "_") == metric.lower())
    assert found == value and row["n"] == 1 and "items" not in row
    assert client.post("/v1/score", json={**body, "items": True}).json()["items"]


@pytest.mark.parametrize(
    "body",
    [
        {"task": "asqa", "gold": [], "predictions": {}},
        {"task": "asqa", "gold": {"q": 1}, "predictions": {"q": "a"}},
        {"task": "asqa", "gold": {"q": {"qa_pairs": 3, "annotations": "x"}}, "predictions": {"q": "a"}},
        {"task": "asqa", "gold": ASQA, "predictions": {"q": 7}},
        {"task": "nq", "gold": [{"example_id": None}], "predictions": [{}]},
        {"task": "nq", "gold": 1, "predictions": None},
        {"task": "kilt", "gold": [{"id": 1, "output": [1]}], "predictions": [{"id": 1, "output": ["x"]}]},
        {"task": "qampari", "gold": [{"qid": 1, "answer_list": [1]}], "predictions": {"1": "x"}},
        {"task": "qampari", "gold": [], "predictions": [{"qid": 1, "predictions": 3}]},
        {"task": "alce", "predictions": {"data": [{}]}},
        {"task": "retrieval", "gold": {"q": {"a": "x"}}, "predictions": {"q": {"a": "y"}}},
        {"task": "retrieval", "gold": {"q": {"a": 1}}, "predictions": {"q": []}, "measures": ["__import__('os')"]},
        {"task": "nothing", "predictions": 1},
    ],
)
def test_what_cannot_be_scored_is_told(client: TestClient, body: dict[str, Any]) -> None:
    reply = client.post("/v1/score", json=body)
    assert reply.status_code == 400, reply.text
    assert reply.json()["error"]["message"].endswith(".")
