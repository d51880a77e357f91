"""``longform serve`` as a process: ends, kills, load, two workers."""

from __future__ import annotations

import itertools
import json
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
from serve_helpers import PATIENCE, Server, Writer, until

from longform.client import Client, Reply, ServerBusyError
from longform.errors import FailureError, InputError
from longform.serve.running import _bound

pytestmark = pytest.mark.slow

QUESTION = "What is tea?"
Start = Callable[..., Server]


def refused(*arguments: object, whole: bool = False) -> str:
    """What the command says when it does not start."""
    code = "from longform.cli.serve import command; command.main(prog_name='longform', standalone_mode=False)"
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode != 0
    return done.stderr if whole else done.stderr.strip().splitlines()[-1]


def test_a_wider_address_needs_a_token(drinks: Path, tmp_path: Path) -> None:
    home = ("--home", tmp_path, "--port", 0)
    assert "give it a token with --token" in refused(drinks, "--host", "0.0.0.0", *home)
    assert "The token must be 16 or more" in refused(drinks, "--host", "0.0.0.0", "--token", "short", *home)
    assert "There is no index and no folder of documents at nothing" in refused("nothing", *home)
    assert "There is no re-ranker nothing" in refused(drinks, "--rerank", "nothing", *home)


def test_the_client_and_a_server_that_ends_well(start: Start, tmp_path: Path) -> None:
    server = start()
    (tmp_path / "jam.txt").write_text("Jam is made of fruit and sugar.")
    with Client(server.address) as client:
        reply = client.ask(QUESTION, k=2)
        assert reply.answer.answered and reply.before
        *pieces, last = client.stream(QUESTION)
        assert isinstance(last, Reply) and "".join(map(str, pieces)) == last.answer.text
        assert client.search("coffee", k=1)[0].passage.title == "Coffee"
        client.rate(reply.id, 1, "good")
        job = client.wait(client.upload("food", [tmp_path / "jam.txt"]))
        assert job.state == "done"
        assert [(one.name, one.uploaded) for one in client.indexes()] == [("drinks", False), ("food", True)]
        client.delete("food")
        assert [one.name for one in client.indexes()] == ["drinks"]
        with pytest.raises(InputError, match="There is no collection 'x'"):
            client.ask(QUESTION, index="x")
        with pytest.raises(InputError, match=r"none\.txt cannot be read"):
            client.upload("food", [tmp_path / "none.txt"])
    port = server.address.rsplit(":", 1)[1]
    assert "cannot be had (address already in use): choose another with --port" in refused(
        "--port", port, "--home", tmp_path / "other"
    )
    assert server.end() == (0, "")
    with pytest.raises(FailureError, match="cannot be reached"):
        Client(server.address).indexes()


def test_a_server_that_is_told_to_end_finishes_what_runs(start: Start, writer: Writer) -> None:
    writer.go_on.clear()
    server = start("--model", writer.model)
    with ThreadPoolExecutor() as pool:
        answer = pool.submit(lambda: server.client.post("/v1/ask", json={"question": QUESTION}))
        until(lambda: writer.started == 1)
        server.process.terminate()
        # Nobody new is let in, and what runs goes on.
        until(lambda: not reached(server.address))
        assert server.process.poll() is None
        writer.go_on.set()
        assert answer.result(PATIENCE).json()["answer"] == "Tea is a hot drink [1]."
    assert server.process.wait(PATIENCE) == 0


def reached(address: str) -> bool:
    try:
        return httpx.get(f"{address}/healthz", timeout=5, trust_env=False).status_code == 200
    except httpx.HTTPError:
        return False


@pytest.mark.parametrize("stream", [True, False])
def test_a_client_that_goes_stops_its_work(start: Start, writer: Writer, stream: bool) -> None:
    writer.go_on.clear()
    # It would write for ever: it ends because it is hung up on, or not at all.
    writer.words = itertools.chain(["Tea ", "is "], itertools.repeat("more "))
    server = start("--model", writer.model, "--running", 1, "--queue", 0)
    body = json.dumps({"question": QUESTION, "stream": stream}).encode()
    head = (
        f"POST /v1/ask HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n"
    )
    port = int(server.address.rsplit(":", 1)[1])
    with socket.create_connection(("127.0.0.1", port)) as leaving:
        leaving.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        until(lambda: writer.started == 1)
    # The writer still waits: it is hung up on at its next word, and the only place is free again.
    writer.go_on.set()
    until(lambda: writer.dropped == 1)
    until(lambda: "longform_work_taken 0.0" in server.client.get("/metrics").text)
    writer.words = ["Tea ", "is ", "hot [1]."]
    assert server.client.post("/v1/ask", json={"question": QUESTION}).json()["answer"] == "Tea is hot [1]."
    assert len(server.client.get("/v1/history").json()["items"]) == 1


def test_a_server_that_is_killed_loses_nothing(start: Start, writer: Writer) -> None:
    server = start("--model", writer.model)
    kept = server.client.post("/v1/ask", json={"question": QUESTION}).json()
    writer.go_on.clear()
    got = []
    with (
        pytest.raises(httpx.RemoteProtocolError),
        server.client.stream("POST", "/v1/ask", json={"question": QUESTION, "stream": True}) as response,
    ):
        for line in response.iter_lines():
            got.append(line)
            if len(got) > 6 and server.process.poll() is None:
                server.process.send_signal(signal.SIGKILL)
    assert got[0] == "event: start"
    server.process.wait(PATIENCE)
    again = start("--model", writer.model)
    (item,) = again.client.get("/v1/history").json()["items"]
    assert item["id"] == kept["id"]


def test_more_than_it_can_take_is_sent_away(start: Start, writer: Writer) -> None:
    writer.go_on.clear()
    server = start("--model", writer.model, "--running", 2, "--queue", 3)

    def ask(_: int) -> httpx.Response:
        return httpx.post(f"{server.address}/v1/ask", json={"question": QUESTION}, timeout=PATIENCE, trust_env=False)

    with ThreadPoolExecutor(16) as pool:
        asked = [pool.submit(ask, number) for number in range(16)]
        until(lambda: sum(one.done() for one in asked) == 11)
        away = [one.result() for one in asked if one.done()]
        assert {reply.status_code for reply in away} == {429}
        assert all(1 <= int(reply.headers["retry-after"]) <= 60 for reply in away)
        assert away[0].json()["error"]["type"] == "busy"
        # What is not work is answered all the same.
        assert server.client.get("/v1/indexes").status_code == 200
        assert "longform_refused_total 11.0" in server.client.get("/metrics").text
        with pytest.raises(ServerBusyError), Client(server.address) as client:
            client.ask(QUESTION)
        patient = pool.submit(lambda: Client(server.address, patience=PATIENCE).ask(QUESTION))
        writer.go_on.set()
        replies = [one.result(PATIENCE) for one in asked]
        assert patient.result(PATIENCE).answer.text == "Tea is a hot drink [1]."
    assert sorted(reply.status_code for reply in replies) == [200] * 5 + [429] * 11


def test_a_request_has_only_so_much_time(start: Start, writer: Writer) -> None:
    writer.go_on.clear()
    server = start("--model", writer.model, "--time-limit", 2)
    reply = server.client.post("/v1/ask", json={"question": QUESTION})
    assert reply.status_code == 503 and reply.json()["error"]["type"] == "time"
    text = server.client.post("/v1/ask", json={"question": QUESTION, "stream": True}).text
    assert "event: error\n" in text and "more than the 2 s" in text


def test_two_workers_share_everything(start: Start, tmp_path: Path) -> None:
    server = start("--workers", 2)
    (tmp_path / "jam.txt").write_text("Jam is made of fruit and sugar.")

    def fresh() -> Client:
        return Client(server.address)  # a new connection, which either process may take

    asked = [fresh().ask(QUESTION).id for _ in range(6)]
    for _ in range(6):
        with fresh() as client:
            items = client._call("GET", "/v1/history")["items"]
            assert {item["id"] for item in items} == set(asked)
    job = fresh().upload("food", [tmp_path / "jam.txt"])
    for _ in range(6):
        fresh().wait(job)
        assert fresh().search("jam", index="food")[0].passage.document == "jam.txt"
    counted = httpx.get(f"{server.address}/metrics", trust_env=False).text
    assert 'longform_requests_total{method="POST",route="/v1/ask",status="200"} 6.0' in counted
    code, errors = server.end()
    assert (code, errors) == (0, "")


def test_several_processes_that_cannot_start_say_why_once(drinks: Path, tmp_path: Path) -> None:
    home = ("--home", tmp_path, "--port", 0)
    said = refused(drinks, "--workers", 2, "--model", "gguf:nothing.gguf", *home, whole=True)
    assert "There is no file nothing.gguf" in said and said.strip().endswith(
        "The server could not start: the line above says why."
    )


def test_ctrl_c_ends_it_well(start: Start) -> None:
    server = start()
    timer = threading.Timer(0.1, server.process.send_signal, (signal.SIGINT,))
    timer.start()
    assert server.process.wait(PATIENCE) == 0


def test_small_replies_are_sent_at_once() -> None:
    """asyncio does so for sockets that are named as TCP; else each reply waits 40 ms for the client's delayed word."""
    with _bound("127.0.0.1", 0) as listening:
        assert listening.proto == socket.IPPROTO_TCP
