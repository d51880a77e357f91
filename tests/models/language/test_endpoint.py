"""An endpoint as a language model, against a real server that plays one, with all that can go wrong."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from longform import InputError
from longform.errors import FailureError
from longform.models.language import BrokenStreamError, Message
from longform.models.language.endpoint import EndpointModel
from longform.models.language.retries import Patience, wished_wait

Reply = Callable[["Handler"], None]
ASKED = [Message("system", "Be brief."), Message("user", "Hello?")]
KEY = "sk-very-secret-0123456789"


class Handler(BaseHTTPRequestHandler):
    """Takes the next reply from the server's list; the last one is given forever."""

    def do_POST(self) -> None:
        server: Any = self.server
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        server.requests.append({"path": self.path, "body": body, "key": self.headers.get("Authorization")})
        replies = server.replies
        (replies.pop(0) if len(replies) > 1 else replies[0])(self)

    def begin(self, status: int = 200, kind: str = "text/event-stream", **headers: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()

    def event(self, **chunk: object) -> None:
        self.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())
        self.wfile.flush()

    def piece(self, text: str | None, finish: str | None = None) -> None:
        self.event(choices=[{"index": 0, "delta": {"content": text}, "finish_reason": finish}])

    def log_message(self, format: str, *args: object) -> None:
        pass


def says(*pieces: str, done: bool = True, finish: str | None = "stop") -> Reply:
    def reply(handler: Handler) -> None:
        handler.begin()
        handler.wfile.write(b": a comment\n\n")
        handler.event(choices=[{"index": 0, "delta": {"role": "assistant", "content": None}}])
        for piece in pieces:
            handler.piece(piece)
        if finish:
            handler.piece(None, finish)
        if done:
            handler.event(choices=[], usage={"total_tokens": 9})
            handler.wfile.write(b"data: [DONE]\n\n")

    return reply


def fails(status: int, body: object = None, **headers: str) -> Reply:
    def reply(handler: Handler) -> None:
        handler.begin(status, "application/json", **headers)
        handler.wfile.write(json.dumps(body or {"error": {"message": "No."}}).encode())

    return reply


def raw(text: str, kind: str = "text/event-stream") -> Reply:
    def reply(handler: Handler) -> None:
        handler.begin(kind=kind)
        handler.wfile.write(text.encode())

    return reply


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.delenv("LONGFORM_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    found: Any = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    found.requests, found.replies, found.released = [], [says("Hi")], threading.Event()
    thread = threading.Thread(target=found.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield found
    found.released.set()
    found.shutdown()
    thread.join()
    found.server_close()


@pytest.fixture
def waits() -> list[float]:
    return []


@pytest.fixture
def model(server: Any, waits: list[float]) -> EndpointModel:
    url = f"http://127.0.0.1:{server.server_port}/v1"
    return EndpointModel("some-model", url, read=5, patience=Patience(tries=3), pause=waits.append)


def write(model: EndpointModel) -> list[str]:
    return list(model.generate(ASKED, max_tokens=7))


def test_a_stream(server: Any, model: EndpointModel) -> None:
    server.replies = [says("It", " rained", " ☂.")]
    assert list(model.generate(ASKED, max_tokens=7, temperature=0.5, seed=3, stop=["\n"])) == ["It", " rained", " ☂."]
    (request,) = server.requests
    assert request["path"] == "/v1/chat/completions"
    assert request["key"] is None
    assert request["body"] == {
        "model": "some-model",
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hello?"}],
        "max_tokens": 7,
        "temperature": 0.5,
        "seed": 3,
        "stop": ["\n"],
        "stream": True,
    }


def test_pieces_come_before_the_end(server: Any, model: EndpointModel) -> None:
    def reply(handler: Handler) -> None:
        handler.begin()
        handler.piece("first")
        server.released.wait(10)
        handler.piece("second", "stop")

    server.replies = [reply]
    pieces = model.generate(ASKED, max_tokens=7)
    assert next(pieces) == "first"
    server.released.set()
    assert list(pieces) == ["second"]


def test_an_end_without_done_and_an_endpoint_that_does_not_stream(server: Any, model: EndpointModel) -> None:
    whole = '{"choices": [{"message": {"content": "Hello"}}]}'
    server.replies = [says("Hi", done=False), raw(whole, "application/json")]
    assert (write(model), write(model)) == (["Hi"], ["Hello"])


def test_the_key(server: Any, model: EndpointModel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-other")
    write(model)
    monkeypatch.setenv("LONGFORM_API_KEY", KEY)
    write(model)
    assert [request["key"] for request in server.requests] == ["Bearer sk-other", f"Bearer {KEY}"]
    assert KEY not in repr(model)
    assert KEY not in model.name


def test_openais_key_is_not_sent_in_the_clear(monkeypatch: pytest.MonkeyPatch) -> None:
    from longform.models.language.endpoint import _key

    monkeypatch.delenv("LONGFORM_API_KEY", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    assert _key("http://example.org/v1") is None
    assert _key("https://example.org/v1") == _key("http://localhost:1/v1") == KEY
    monkeypatch.setenv("LONGFORM_API_KEY", "mine")
    assert _key("http://example.org/v1") == "mine"


@pytest.mark.parametrize("status", [401, 403])
def test_a_wrong_key_is_named_and_not_shown(
    server: Any, model: EndpointModel, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    server.replies = [fails(status, {"error": {"message": f"Incorrect API key provided: {KEY}."}})]
    with pytest.raises(InputError, match=r"wants a key \(40[13]\): set LONGFORM_API_KEY to one that it takes"):
        write(model)
    monkeypatch.setenv("LONGFORM_API_KEY", KEY)
    with pytest.raises(InputError, match="refuses the key in the environment") as caught:
        write(model)
    assert KEY not in str(caught.value)


def test_a_key_that_an_endpoint_repeats_is_taken_out(
    server: Any, model: EndpointModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LONGFORM_API_KEY", KEY)
    server.replies = [fails(400, {"error": {"message": f"Bad header Bearer {KEY}."}})]
    with pytest.raises(InputError, match=r"refuses the request \(400\): Bad header Bearer …\."):
        write(model)


def test_too_many_requests_then_an_answer(server: Any, model: EndpointModel, waits: list[float]) -> None:
    server.replies = [fails(429, Retry_After="3"), fails(503), says("Hi")]
    assert write(model) == ["Hi"]
    assert waits[0] == 3.0
    assert 1.0 <= waits[1] <= 2.0, "1 s, doubled after the second failure, less up to a half"


def test_an_error_for_ever(server: Any, model: EndpointModel, waits: list[float]) -> None:
    server.replies = [fails(500)]
    with pytest.raises(FailureError, match=r"does not answer, tried 3 times \(an error of the server, 500\)"):
        write(model)
    assert (len(server.requests), len(waits)) == (3, 2)


def test_an_endpoint_that_asks_for_an_hour(server: Any, model: EndpointModel, waits: list[float]) -> None:
    server.replies = [fails(429, Retry_After="3600")]
    with pytest.raises(FailureError, match="it asks to come back in 3,600 seconds"):
        write(model)
    assert waits == []


def test_nobody_there(server: Any, model: EndpointModel, waits: list[float]) -> None:
    nobody = EndpointModel("m", "http://127.0.0.1:1/v1", patience=Patience(tries=2), pause=waits.append)
    with pytest.raises(FailureError, match=r"tried 2 times \(nothing listens there, or the network is down\)"):
        write(nobody)
    assert len(waits) == 1


def test_a_connection_that_closes_before_the_first_word_is_tried_again(server: Any, model: EndpointModel) -> None:
    def closes(handler: Handler) -> None:
        handler.connection.close()

    server.replies = [closes, says("Hi")]
    assert write(model) == ["Hi"]


def kept(model: EndpointModel) -> tuple[str, str]:
    """What was written before a stream broke, and what the error says."""
    text = ""
    with pytest.raises(BrokenStreamError) as caught:
        for piece in model.generate(ASKED, max_tokens=7):
            text += piece
    return text, str(caught.value)


def test_a_stream_that_ends_in_the_middle(server: Any, model: EndpointModel) -> None:
    server.replies = [says("It", " rain", done=False, finish=None)]
    text, said = kept(model)
    assert text == "It rain"
    assert said.endswith("broke off in the middle of the answer: the stream ended before the answer did.")
    assert len(server.requests) == 1, "not tried again: the words would come twice"


def test_a_connection_that_is_lost_in_the_middle(server: Any, model: EndpointModel) -> None:
    def reply(handler: Handler) -> None:
        handler.begin(Content_Length="9999")
        handler.piece("It rain")
        handler.close_connection = True

    server.replies = [reply]
    text, said = kept(model)
    assert text == "It rain"
    assert "broke off in the middle of the answer: it closed the connection" in said


def test_silence_in_the_middle(server: Any, model: EndpointModel) -> None:
    def reply(handler: Handler) -> None:
        handler.begin()
        handler.piece("It rain")
        server.released.wait(10)

    server.replies = [reply]
    impatient = EndpointModel("m", model.url, read=0.3)
    assert kept(impatient) == (
        "It rain",
        f"{model.url} broke off in the middle of the answer: nothing came for 0.3 seconds.",
    )


def test_silence_from_the_beginning(server: Any, model: EndpointModel) -> None:
    server.replies = [lambda handler: server.released.wait(10) and None]
    with pytest.raises(FailureError, match=r"did not answer within 0\.3 seconds"):
        write(EndpointModel("m", model.url, read=0.3))


def test_an_error_or_nonsense_in_the_middle(server: Any, model: EndpointModel) -> None:
    def error(handler: Handler) -> None:
        handler.begin()
        handler.piece("It rain")
        handler.event(error={"message": "overloaded"})

    def nonsense(handler: Handler) -> None:
        handler.begin()
        handler.piece("It rain")
        handler.wfile.write(b"data: {not json\n\n")

    server.replies = [error, nonsense]
    assert kept(model)[1].endswith("it sent an error.")
    assert kept(model)[1].endswith("what it sent is no JSON.")


@pytest.mark.parametrize(
    ("text", "kind", "said"),
    [
        ("data: {not json\n\n", "text/event-stream", "what it sent is no JSON"),
        ("<html>Welcome</html>", "text/html", "the stream ended before the answer did"),
        ("Welcome", "application/json", "what it sent is no JSON"),
        ('{"hello": 1}', "application/json", "what it sent has no choices"),
        ('data: ["x"]\n\n', "text/event-stream", "it sent an error"),
    ],
)
def test_what_is_no_endpoint(server: Any, model: EndpointModel, text: str, kind: str, said: str) -> None:
    server.replies = [raw(text, kind)]
    with pytest.raises(FailureError, match=f"does not answer as an OpenAI-compatible endpoint does .{said}"):
        write(model)


@pytest.mark.parametrize(
    ("status", "message", "said"),
    [
        (404, "No such model", "has no model some-model, or is not the address of an endpoint"),
        (400, "This model's maximum context length is 9 tokens", "context of some-model is too small for this prompt"),
        (301, "", "refuses the request .301.: it has moved: give its new address"),
        (422, "Nope.", "refuses the request .422.: Nope\\.$"),
    ],
)
def test_refusals(server: Any, model: EndpointModel, status: int, message: str, said: str) -> None:
    server.replies = [fails(status, {"error": {"message": message}})]
    with pytest.raises(InputError, match=said):
        write(model)
    assert len(server.requests) == 1


def test_options_that_a_model_does_not_know_are_left_out(server: Any, model: EndpointModel) -> None:
    server.replies = [
        fails(400, {"error": {"message": "Unsupported parameter", "param": "max_tokens"}}),
        fails(400, {"error": {"message": "'temperature' does not support 0.0"}}),
        says("Hi"),
    ]
    assert write(model) == ["Hi"]
    body = server.requests[-1]["body"]
    assert (body["max_completion_tokens"], "max_tokens" in body, "temperature" in body) == (7, False, False)


def test_the_estimate_of_tokens(model: EndpointModel) -> None:
    assert (model.count(""), model.count("abcd"), model.count("日本")) == (0, 2, 2)


def test_dates_to_come_back_at() -> None:
    assert wished_wait("Wed, 21 Oct 2015 07:28:00 GMT") == 0.0
    assert (wished_wait("Wed, 21 Oct 2099 07:28:00 GMT") or 0) > 1e9
    assert wished_wait("nan") is None
