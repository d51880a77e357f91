"""``longform chat`` as a process of its own: lines on stdin, and a terminal with its Ctrl-C."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
PAGES = {
    "charles": "# Charles X\n\nCharles X was King of France until 1830. He died at Görz in 1836.\n\n"
    "## Exile\n\nIn exile Charles X lived in Prague. The July Revolution had driven him out.\n",
    "july": "# July Revolution\n\nThe July Revolution was a rising in Paris in 1830. It lasted for three days.\n",
}


@pytest.fixture(autouse=True)
def index(here: None, longform: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("LONGFORM_HOME", str(tmp_path / "home"))
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy", "LONGFORM_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    Path("pages").mkdir()
    for name, text in PAGES.items():
        Path(f"pages/{name}.md").write_text(text, encoding="utf-8")
    assert longform("index", "pages", "-o", "my.index", "--words", "20").code == 0


class Talks(BaseHTTPRequestHandler):
    """An endpoint: rewrites nothing, answers with one sentence, hangs or breaks where the question says so."""

    def do_POST(self) -> None:
        server: Any = self.server
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["messages"][-1]["content"]
        if "Sulk" in asked:
            self.send_response(400)
            self.end_headers()
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        pieces = [""] if "rewritten" in asked else ["Charles X was King of France", " until 1830 [1]."]
        for piece in pieces:
            self.wfile.write(f"data: {json.dumps({'choices': [{'delta': {'content': piece}}]})}\n\n".encode())
            self.wfile.flush()
            if "Hang" in asked and "rewritten" not in asked:
                server.released.wait(60)
                return
        self.wfile.write(b'data: {"choices": [{"delta": {}, "finish_reason": "stop"}]}\n\ndata: [DONE]\n\n')

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def endpoint() -> Iterator[str]:
    server: Any = ThreadingHTTPServer(("127.0.0.1", 0), Talks)
    server.released = threading.Event()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"openai:parrot@http://127.0.0.1:{server.server_port}/v1"
    server.released.set()
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def chat(spawn: Run, endpoint: str) -> Run:
    """Talks to a chat with an endpoint's model; gives exit code, output and errors."""

    def talk(*lines: str, options: tuple[str, ...] = ()) -> tuple[int, str, str]:
        process = spawn("chat", "my.index", "--rerank", "none", "--model", endpoint, *options, stdin=subprocess.PIPE)
        out, err = process.communicate("\n".join(lines).encode() + b"\n", timeout=120)
        return process.returncode, out.decode(), err.decode()

    return talk


def test_a_conversation_with_the_models_that_ship(spawn: Run) -> None:
    process = spawn("chat", "my.index", "--always", "--save", "talk.jsonl", stdin=subprocess.PIPE)
    lines = ["Who was King of France until 1830?", "Where did he die?", "/sources", "1", "/quit", "Never asked?"]
    out, err = process.communicate("\n".join(lines).encode(), timeout=120)
    assert (process.returncode, err) == (0, b"")
    text = out.decode()
    assert "Understood as: Where did Charles X die?" in text
    assert "[1] Charles X · pages/charles.md" in text
    rows = [json.loads(line) for line in Path("talk.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [row["asked"] for row in rows][:2] == lines[:2]
    assert rows[1]["question"] == "Where did Charles X die?"
    assert all(row["answered"] and row["complete"] for row in rows)
    assert rows[2]["question"] in rows[1]["follow_ups"]
    assert "Never asked?" not in text


def test_commands(chat: Run) -> None:
    code, out, err = chat(
        "/passages", "", "Who was Charles X?", "/passages", "/why", "/nonsense", "8", "/new", "/why", "/help", "/quit"
    )
    assert (code, err) == (0, "")
    assert out.count("There is no answer yet.") == 2
    assert "[1] Charles X" in out
    assert "pages/charles.md#0" in out
    assert "[1] 1.00: Charles X was King of France until 1830." in out
    assert "There is no command /nonsense: /help lists them." in out
    assert "There is no question 8 on offer." in out
    assert "The conversation is forgotten." in out
    assert "/sources    the documents that it cites" in out


def test_passages_behind_every_answer(chat: Run) -> None:
    assert "pages/charles.md#0" in chat("Who was Charles X?", options=("--show",))[1]
    assert "pages/charles.md#0" not in chat("Who was Charles X?")[1]


def test_after_new_nothing_is_understood_from_before(chat: Run) -> None:
    out = chat("Who was Charles X?", "Where did he die?", "/new", "Where did he die?")[1]
    assert out.count("Understood as: Where did Charles X die?") == 1


def test_an_error_is_a_sentence_and_the_chat_goes_on(chat: Run) -> None:
    code, out, err = chat("Sulk, Charles X?", "x" * 10_001, "Who was Charles X?", options=("--save", "talk.jsonl"))
    assert code == 0
    assert len(err.strip().splitlines()) == 2
    assert "Error: The question has 10,001 characters" in err
    assert "Traceback" not in err
    assert "Charles X was King of France until 1830 [1]." in out
    rows = [json.loads(line) for line in Path("talk.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [row["complete"] for row in rows] == [False, False, True]


def test_what_is_saved_is_added_to(chat: Run) -> None:
    Path("talk.jsonl").write_text('{"asked": "Before?"}\n')
    chat("Who was Charles X?", options=("--save", "talk.jsonl"))
    rows = [json.loads(line) for line in Path("talk.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [row["asked"] for row in rows] == ["Before?", "Who was Charles X?"]


def test_mistakes_before_the_chat(longform: Run) -> None:
    result = longform("chat", "none.index")
    assert (result.code, "There is no index and no folder of documents at none.index" in result.err) == (2, True)
    result = longform("chat", "my.index", "--save", "no/such/talk.jsonl")
    assert (result.code, result.err.strip()) == (
        2,
        "Error: no/such/talk.jsonl cannot be written: no such file or directory.",
    )


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
class TestTerminal:
    """A chat at a terminal."""

    @pytest.fixture
    def terminal(self, endpoint: str) -> Iterator[tuple[subprocess.Popen[bytes], Run, Run]]:
        import pty

        ours, theirs = pty.openpty()
        code = "from longform.cli import main; main()"
        options = ["chat", "my.index", "--rerank", "none", "--model", endpoint, "--save", "talk.jsonl"]
        process = subprocess.Popen(
            [sys.executable, "-c", code, *options],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
            preexec_fn=_own_terminal,
            env={**os.environ, "TERM": "dumb"},
        )
        os.close(theirs)
        unread = ""

        def say(typed: str, until: str, again: bool = False) -> str:
            """Type something, ``again`` and again, until something is on the screen; what was there up to it."""
            nonlocal unread
            os.write(ours, typed.encode())
            end = time.monotonic() + 60
            while until not in unread:
                assert time.monotonic() < end, f"{until!r} did not come: {unread}"
                if again:
                    time.sleep(0.5)
                    os.write(ours, typed.encode())
                if select.select([ours], [], [], 0.2)[0]:
                    unread += os.read(ours, 4096).decode("utf-8", "replace")
            before, _, unread = unread.partition(until)
            return before

        def type_in(typed: str) -> None:
            with suppress(OSError):  # Where it ended meanwhile.
                os.write(ours, typed.encode())

        yield process, say, type_in
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        os.close(ours)

    def test_control_c_stops_an_answer_and_control_d_ends(self, terminal: Any) -> None:
        process, say, type_in = terminal
        say("", "\n> ")
        say("Hang on, who was Charles X?\n", "Charles X was King")
        say("\x03", "Stopped.")
        say("", "\n> ")
        assert "Charles X was King of France" in say("Who was Charles X?\n", "groundedness")
        say("", "\n> ")
        # readline does not see a signal that comes between its prompt and its waiting.
        say("\x03", "Ctrl-D or /quit ends", again=True)
        end = time.monotonic() + 60
        while process.poll() is None and time.monotonic() < end:
            type_in("\x04")  # Nor does it see a key that comes before its prompt.
            time.sleep(0.3)
        assert process.poll() == 0
        rows = [json.loads(line) for line in Path("talk.jsonl").read_text(encoding="utf-8").splitlines()]
        assert [row["complete"] for row in rows] == [False, True]
        assert rows[0]["answer"].startswith("Charles X was")


def _own_terminal() -> None:
    """Make the terminal on stdin that of the process, so that Ctrl-C reaches it."""
    import fcntl
    import termios

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
