"""Asking and searching over HTTP."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from serve_helpers import Writer, events_of
from starlette.testclient import TestClient

from longform import Index
from longform.answer.from_json import answer_from_json
from longform.answer.opening import Models, open_pipeline

QUESTION = "What is tea brewed from?"


def test_an_answer_is_the_pipelines_with_an_id(client: TestClient, drinks: Path) -> None:
    reply = client.post("/v1/ask", json={"question": QUESTION})
    assert reply.status_code == 200
    row = reply.json()
    expected = open_pipeline(Index.open(drinks), passages=10).answer(QUESTION)
    assert row["answer"] == expected.text
    assert row["passages"] == [hit.to_json() for hit in expected.passages]
    assert len(row["id"]) == 20 and row["index"] == "drinks" and row["asked"] == QUESTION
    assert row["before"][0] == "tea.txt#0"
    assert answer_from_json(row).text == expected.text


def test_a_stream_has_the_same_answer(client: TestClient) -> None:
    whole = client.post("/v1/ask", json={"question": QUESTION}).json()
    reply = client.post("/v1/ask", json={"question": QUESTION}, headers={"Accept": "text/event-stream"})
    assert reply.headers["content-type"].startswith("text/event-stream")
    assert reply.headers["cache-control"] == "no-store"
    events = events_of(reply.text)
    names = [name for name, _ in events]
    assert names[:2] == ["start", "hits"] and names[-1] == "answer" and set(names[2:-1]) == {"text"}
    assert "".join(data["text"] for name, data in events if name == "text") == whole["answer"]
    assert events[-1][1]["answer"] == whole["answer"]
    assert events[0][1]["id"] == events[-1][1]["id"] != whole["id"]
    assert events[1][1]["hits"][0]["id"] == "tea.txt#0"
    assert client.post("/v1/ask", json={"question": QUESTION, "stream": True}).text.startswith("event: start\n")


def test_settings_of_a_request(client: TestClient) -> None:
    short = client.post("/v1/ask", json={"question": "What is a drink?", "words": 5, "k": 1, "rerank": False}).json()
    assert len(short["passages"]) == 1
    assert "rerank" not in short["passages"][0]["scores"]
    many = client.post("/v1/ask", json={"question": "Which drinks are brewed?", "list": True}).json()
    assert many["model"] == "list"


def test_a_follow_up_is_understood_by_what_came_before(client: TestClient) -> None:
    first = client.post("/v1/ask", json={"question": "What is tea?"}).json()
    for turn in (
        {"question": first["question"], "id": first["id"]},
        {"question": first["question"], "answer": "A hot drink."},
    ):
        body = {"question": "And coffee?", "history": [turn]}
        row = client.post("/v1/ask", json=body).json()
        assert row["understood_as"] == "What is tea, and what about coffee?"
        assert row["asked"] == "And coffee?"
    start = events_of(client.post("/v1/ask", json={**body, "stream": True}).text)[0]
    assert start[1]["understood_as"] == "What is tea, and what about coffee?"


def test_models_are_loaded_once_for_all_requests(drinks: Path) -> None:
    models = Models()
    first = open_pipeline(Index.open(drinks), models=models)
    second = open_pipeline(Index.open(drinks), words=20, models=models)
    assert first.answerer.scorer is second.answerer.scorer  # type: ignore[attr-defined]
    assert first.answerer.reader is second.answerer.reader  # type: ignore[attr-defined]


def test_a_language_model_answers_and_what_it_says_is_not_a_model_is_refused(
    serving: Callable[..., TestClient], writer: Writer
) -> None:
    client = serving(models=("extractive", writer.model))
    assert client.get("/v1/indexes").json()["models"] == ["extractive", writer.model]
    row = client.post("/v1/ask", json={"question": QUESTION, "model": writer.model}).json()
    assert row["answer"] == "Tea is a hot drink [1]."
    # A name that was not given at the start would make the server open files and addresses of the client's choice.
    reply = client.post("/v1/ask", json={"question": QUESTION, "model": "openai:x@http://10.0.0.1/v1"})
    assert reply.status_code == 400
    assert reply.json()["error"]["message"].startswith(
        "There is no model 'openai:x@http://10.0.0.1/v1'; there are: ext"
    )


def test_search(client: TestClient) -> None:
    row = client.post("/v1/search", json={"question": "brewed drink", "k": 2}).json()
    assert row["mode"] == "bm25" and row["question"] == "brewed drink"
    assert [hit["rank"] for hit in row["hits"]] == [1, 2]
    again = client.post("/v1/search", json={"question": "brewed drink", "rerank": True}).json()
    assert "rerank" in again["hits"][0]["scores"]
    assert client.post("/v1/search", json={"question": "zzzz"}).json()["hits"] == []


@pytest.mark.parametrize(
    ("path", "body", "status", "message"),
    [
        ("ask", {}, 400, "question is missing."),
        ("ask", {"question": "  "}, 400, "The question is empty."),
        ("ask", {"question": "x", "wrong": 1}, 400, "There is no field wrong."),
        ("ask", {"question": "x", "k": 0}, 400, "k: input should be greater than or equal to 1."),
        ("ask", {"question": "x" * 10_001}, 400, "question: string should have at most 10000 characters."),
        ("ask", {"question": "x", "index": "none"}, 404, "There is no collection 'none'; there are: drinks."),
        ("search", {"question": "x", "index": "../.."}, 404, "There is no collection '../..'; there are: drinks."),
        (
            "search",
            {"question": "x", "mode": "dense"},
            400,
            "The collection 'drinks' has no vectors: search it with bm25.",
        ),
        ("search", [1], 400, "The body must be a JSON object, sent as application/json."),
    ],
)
def test_mistakes_are_told_in_a_sentence(client: TestClient, path: str, body: Any, status: int, message: str) -> None:
    reply = client.post(f"/v1/{path}", json=body)
    assert (reply.status_code, reply.json()) == (status, {"error": {"message": message, "type": "input"}})


def test_bodies_that_are_no_json(client: TestClient) -> None:
    for content in (b"{", b'{"question": "\\ud800"}', b'{"question": NaN}', b"\xff"):
        reply = client.post("/v1/ask", content=content, headers={"Content-Type": "application/json"})
        assert (reply.status_code, reply.json()["error"]["message"]) == (400, "The body is not valid JSON.")
    reply = client.post("/v1/ask", content=b'{"question": "x"}', headers={"Content-Type": "text/plain"})
    assert reply.status_code == 400


def test_an_error_in_a_stream_is_its_last_event(serving: Callable[..., TestClient], writer: Writer) -> None:
    client = serving(models=("openai:x@http://127.0.0.1:9/v1",))
    events = events_of(client.post("/v1/ask", json={"question": QUESTION, "stream": True}).text)
    assert events[-1][0] == "error"
    assert events[-1][1]["type"] == "failure"
    reply = client.post("/v1/ask", json={"question": QUESTION})
    assert reply.status_code == 500 and reply.json()["error"]["type"] == "failure"


def test_text_is_data(client: TestClient) -> None:
    reply = client.post("/v1/search", json={"question": "white milk"})
    assert reply.headers["content-type"] == "application/json"
    assert "<script>alert(1)</script>" in reply.json()["hits"][0]["text"]


def test_a_server_without_collections(serving: Callable[..., TestClient]) -> None:
    client = serving(indexes=())
    assert client.get("/v1/indexes").json()["default"] is None
    reply = client.post("/v1/ask", json={"question": "x"})
    assert reply.status_code == 404
    assert reply.json()["error"]["message"] == (
        "There is no collection yet: upload documents, or start the server with an index."
    )


def test_paths_of_the_server_are_not_told(serving: Callable[..., TestClient], tmp_path: Path) -> None:
    from longform.serve.settings import NamedIndex

    client = serving(indexes=(NamedIndex("broken", tmp_path / "broken"),))
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "longform.json").write_text("{}")
    reply = client.post("/v1/ask", json={"question": "x"})
    assert reply.status_code >= 400
    assert str(tmp_path) not in reply.text and "broken" in reply.text


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(question=st.text(max_size=60))
def test_any_text_is_a_question(client: TestClient, question: str) -> None:
    try:
        question.encode()
    except UnicodeEncodeError:
        return
    reply = client.post("/v1/search", json={"question": question})
    assert reply.status_code in (200, 400)
