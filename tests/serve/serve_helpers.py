"""Servers in processes of their own, a language model that can be made to wait, and what tests read and wait for."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx
import orjson

# The longest wait for something that has to come: a machine with other work takes its time.
PATIENCE = 300.0


class Writer(ThreadingHTTPServer):
    """An OpenAI-compatible endpoint that writes a sentence word by word, and can be made to wait."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.words: Iterable[str] = ["Tea ", "is ", "a ", "hot ", "drink ", "[1]."]
        self.go_on = threading.Event()
        self.go_on.set()
        self.hold_after = 2
        self.started = 0
        self.finished = 0
        self.dropped = 0

    @property
    def model(self) -> str:
        return f"openai:slow@http://127.0.0.1:{self.server_address[1]}/v1"


class _Handler(BaseHTTPRequestHandler):
    server: Writer

    def log_message(self, *_: Any) -> None:
        pass

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.server.started += 1
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        try:
            for number, word in enumerate(self.server.words):
                if number == self.server.hold_after:
                    while not self.server.go_on.wait(0.05):
                        self.wfile.write(b": waiting\n\n")
                        self.wfile.flush()
                self._send({"choices": [{"index": 0, "delta": {"content": word}}]})
            self._send({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
            self.wfile.write(b"data: [DONE]\n\n")
            self.server.finished += 1
        except OSError:
            self.server.dropped += 1

    def _send(self, value: Any) -> None:
        self.wfile.write(b"data: " + orjson.dumps(value) + b"\n\n")
        self.wfile.flush()


class Server:
    """``longform serve`` in a process of its own."""

    def __init__(self, *arguments: object) -> None:
        code = "from longform.cli.serve import command; command.main(prog_name='longform serve')"
        self.process = subprocess.Popen(
            [sys.executable, "-c", code, *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        found = re.search(r"http://\S+", line)
        if found is None:
            raise AssertionError(f"{line}{self.process.communicate(timeout=PATIENCE)[1]}")
        self.address = found.group()
        self.client = httpx.Client(base_url=self.address, timeout=PATIENCE, trust_env=False)
        until(self._healthy)

    def _healthy(self) -> bool:
        try:
            return self.client.get("/healthz").status_code == 200
        except httpx.HTTPError:
            return False

    def end(self) -> tuple[int, str]:
        """Its exit code, and what it wrote to stderr."""
        self.client.close()
        self.process.terminate()
        _, errors = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, errors


def until(true: Callable[[], bool], seconds: float = PATIENCE) -> None:
    """Wait until something is so."""
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, "it did not come about"
        time.sleep(0.02)


def events_of(text: str) -> list[tuple[str, dict[str, Any]]]:
    """The events of a stream."""
    found = []
    for block in text.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
        if fields:
            found.append((fields["event"], orjson.loads(fields["data"])))
    return found
