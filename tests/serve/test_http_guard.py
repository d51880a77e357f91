"""Who may ask, from where, how much; and the headers of every reply."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from longform.errors import InputError
from longform.serve import Settings
from longform.serve.guard import SECURITY_HEADERS, cookie_of
from longform.serve.settings import check_token, default_home, is_loopback

TOKEN = "a-token-of-enough-signs"


@pytest.mark.parametrize("path", ["/", "/v1/indexes", "/nothing", "/docs", "/static/index.html", "/metrics"])
def test_every_reply_has_the_headers(client: TestClient, path: str) -> None:
    reply = client.get(path)
    for name, value in SECURITY_HEADERS.items():
        assert reply.headers[name] == value
    assert "default-src 'self'" in reply.headers["content-security-policy"]
    assert "unsafe" not in reply.headers["content-security-policy"]
    assert "server" not in reply.headers


def test_no_page_has_scripts_or_styles_inside(client: TestClient) -> None:
    for path in ("/", "/docs"):
        text = client.get(path).text
        assert "<style" not in text and "style=" not in text and "javascript:" not in text
        assert text.count("<script") == text.count('<script type="module" src=') + text.count("<script src=")
    assert "/v1/ask" in client.get("/docs").text and "//" not in client.get("/docs.css").text


def test_static_files_are_only_those(client: TestClient) -> None:
    assert client.get("/static/main.js").headers["content-type"].startswith("text/javascript")
    for path in ("/static/../app.py", "/static/..%2fapp.py", "/static/%2e%2e/app.py", "/static//etc/passwd"):
        assert client.get(path).status_code == 404


def test_a_token_is_needed_everywhere_but_for_the_page(serving: Callable[..., TestClient]) -> None:
    client = serving(token=TOKEN)
    for path in ("/v1/indexes", "/v1/history", "/metrics", "/openapi.json", "/docs", "/v1/jobs/x", "/nothing"):
        reply = client.get(path)
        assert reply.status_code == 401 and reply.headers["www-authenticate"] == "Bearer"
        assert reply.json()["error"]["type"] == "input"
    assert client.post("/v1/ask", json={"question": "x"}).status_code == 401
    for path in ("/", "/healthz", "/static/main.js"):
        assert client.get(path).status_code == 200
    for wrong in ("Bearer", "Bearer x", f"Basic {TOKEN}", f"Bearer {TOKEN}x", f"Bearer {TOKEN[:-1]}", "Bearer ö"):
        assert client.get("/v1/indexes", headers={"Authorization": wrong.encode()}).status_code == 401
    assert client.get("/v1/indexes", headers={"Authorization": f"bearer {TOKEN}"}).status_code == 200
    # With a token, any name will do: it may stand behind another server.
    headers = {"Authorization": f"Bearer {TOKEN}", "Host": "answers.example.org"}
    assert client.get("/v1/indexes", headers=headers).status_code == 200


def test_a_token_in_the_address_becomes_a_cookie(serving: Callable[..., TestClient]) -> None:
    client = serving(token=TOKEN)
    reply = client.get(f"/?token={TOKEN}&q=tea", follow_redirects=False)
    assert (reply.status_code, reply.headers["location"]) == (303, "./?q=tea")
    cookie = reply.headers["set-cookie"]
    assert "HttpOnly" in cookie and "SameSite=strict" in cookie and TOKEN not in cookie
    assert client.get("/v1/indexes").status_code == 200
    client.cookies.clear()
    assert "set-cookie" not in client.get("/?token=wrong", follow_redirects=False).headers
    assert client.get("/v1/indexes", headers={"Cookie": f"longform={cookie_of(TOKEN)[:-1]}"}).status_code == 401
    assert client.get(f"/v1/indexes?token={TOKEN}").status_code == 401


def test_pages_of_other_sites_may_not_act(client: TestClient) -> None:
    for headers in (
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:9999"},
        {"Sec-Fetch-Site": "cross-site"},
    ):
        assert client.delete("/v1/history", headers=headers).status_code == 403
    assert client.delete("/v1/history", headers={"Origin": "http://127.0.0.1"}).status_code == 204


def test_without_a_token_only_names_of_this_machine_are_answered(client: TestClient) -> None:
    for host in ("evil.example", "127.0.0.1.evil.example", "", "[", "evil.example:80"):
        reply = client.get("/v1/indexes", headers={"Host": host})
        assert reply.status_code == 400 and "localhost" in reply.json()["error"]["message"]
    for host in ("localhost:8080", "127.0.0.1", "[::1]:8080", "LOCALHOST"):
        assert client.get("/v1/indexes", headers={"Host": host}).status_code == 200


def test_bodies_are_limited(serving: Callable[..., TestClient]) -> None:
    client = serving(body_bytes=1000)
    reply = client.post("/v1/ask", json={"question": "x" * 2000})
    assert reply.status_code == 413 and reply.json()["error"]["type"] == "input"

    def pieces() -> object:  # without a length that could be looked at first
        for _ in range(20):
            yield b" " * 100

    reply = client.post("/v1/ask", content=pieces(), headers={"Content-Type": "application/json"})  # type: ignore[arg-type]
    assert reply.status_code == 413


def test_the_log_holds_neither_tokens_nor_questions(
    serving: Callable[..., TestClient], caplog: pytest.LogCaptureFixture
) -> None:
    client = serving(token=TOKEN)
    with caplog.at_level(logging.DEBUG):
        client.get(f"/?token={TOKEN}")
        client.post("/v1/search", json={"question": "a secret question"}, headers={"Authorization": f"Bearer {TOKEN}"})
        client.get(f"/v1/indexes/drinks/documents/secret?token={TOKEN}")
    assert "POST /v1/search 200" in caplog.text
    ours = "\n".join(record.getMessage() for record in caplog.records if record.name.startswith("longform"))
    assert "secret" not in ours and TOKEN not in ours
    assert TOKEN not in repr(client.app.state.engine.settings)  # type: ignore[attr-defined]


def test_metrics_count_by_route(client: TestClient) -> None:
    client.post("/v1/ask", json={"question": "What is tea?"})
    client.get("/v1/indexes/drinks/documents/tea.txt")
    client.get("/nobody/knows/this")
    client.request("MADEUP", "/")
    text = client.get("/metrics").text
    assert 'longform_requests_total{method="POST",route="/v1/ask",status="200"} 1.0' in text
    assert 'route="/v1/indexes/{name}/documents/{id:path}"' in text
    assert 'route="other",status="404"' in text and "nobody" not in text
    assert 'method="other"' in text and "MADEUP" not in text
    assert 'longform_answers_total{model="extractive",outcome="answered"} 1.0' in text
    assert "longform_work_taken 0.0" in text


def test_settings_that_cannot_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for token in ("short", "with spaces in between it", "a" * 15, "ö" * 20):
        with pytest.raises(InputError, match="The token must be 16 or more"):
            check_token(token)
    for options in ({"running": 0}, {"queue": -1}, {"time_limit": 0.0}, {"models": ()}, {"time_limit": float("nan")}):
        with pytest.raises(InputError):
            Settings(home=tmp_path, **options)  # type: ignore[arg-type]
    assert is_loopback("::1") and not is_loopback("192.168.0.1")
    monkeypatch.setenv("LONGFORM_HOME", str(tmp_path))
    assert default_home() == tmp_path / "serve"
