"""A server with the interface of ``longform serve`` whose answers are written down, for what the real one does not do
on demand: stop in the middle of a sentence, be full, invent words, fail.

A question names its script: ``"slow"`` waits before every piece for ``proceed``, ``"busy"`` is refused once,
``"broken"`` breaks off. The page comes from the package, with the same Content-Security-Policy.
"""

from __future__ import annotations

import json
import mimetypes
import threading
import urllib.parse
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import longform

STATIC = Path(longform.__file__).parent / "serve" / "static"
CSP = "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'; object-src 'none'"

# The wolf is one character and two UTF-16 units, before the words that are cited.
WOLF = "The \U0001f43a is a wolf. Wolves hunt in packs at night. <script>window.attacked = 1</script> & <b>bold</b>"
DOCUMENTS = {
    "animals/wolf.md": ("Wolf", "Wolves\n\n" + WOLF + "\n\nFood\n\n" + "They eat deer. " * 400 + "\n\nThe end."),
    "animals/owl.md": ("Owl", "Owls hunt alone at night. They see well."),
    "towns/ulm.md": ("Ulm", "Ulm stands on the Danube. Its church is high."),
}


def passage(rank: int, document: str, start: int, end: int, bm25: float, rerank: float) -> dict[str, Any]:
    """A hit as the server writes it."""
    title, text = DOCUMENTS[document]
    found = {"rank": rank, "score": rerank, "scores": {"bm25": bm25, "rerank": rerank}, "id": f"{document}#{start}"}
    return found | {"document": document, "title": title, "text": text[start:end], "start": start, "end": end}


def _sentence(text: str, evidence: list[tuple[int, int, int]], **more: Any) -> dict[str, Any]:
    places = [{"passage": number, "start": start, "end": end} for number, start, end in evidence]
    row = {"text": text, "citations": [number for number, _, _ in evidence], "groundedness": 1.0, "supported": True}
    return row | {"evidence": places, "ungrounded": []} | more


HITS = [
    passage(1, "animals/wolf.md", 8, 8 + len(WOLF), 4.5, 2.25),
    passage(2, "animals/owl.md", 0, 40, 7.25, 1.5),
    passage(3, "towns/ulm.md", 0, 45, 1.0, -3.0),
]
BEFORE = [HITS[1]["id"], "animals/fox.md#0", HITS[0]["id"]]
EVIDENCE = "Wolves hunt in packs at night."
AT = WOLF.index(EVIDENCE)


def answer(question: str) -> dict[str, Any]:
    """The one answer that this server knows, in a form with a list for questions that begin with "which"."""
    row: dict[str, Any] = {
        "id": "answer-1",
        "question": question,
        "answer": "Wolves hunt in packs at night [1]. Owls hunt alone at midnight [2]. They sing [2].",
        "answered": True,
        "complete": True,
        "model": "extractive",
        "groundedness": 0.9,
        "sentences": [
            _sentence("Wolves hunt in packs at night.", [(1, AT, AT + len(EVIDENCE))]),
            _sentence("Owls hunt alone at midnight.", [(2, 0, 25)], ungrounded=[[19, 27]], groundedness=0.75),
            _sentence("They sing.", [(2, 26, 40)], supported=False, ungrounded=[[5, 9]], groundedness=0.0),
        ],
        "follow_ups": ["What do wolves eat?", "Do owls sing?"],
        "passages": HITS[:2],
        "warnings": [],
        "seconds": {"search": 0.01, "rerank": 0.2, "answer": 0.3},
        "before": BEFORE,
    }
    if question.lower().startswith("which"):
        row["answer"] = "1. wolf [1]\n2. owl [2]"
        row["sentences"] = [_sentence("wolf", [(1, 11, 15)]), _sentence("owl", [(2, 0, 4)])]
        row["items"] = [
            {"text": "wolf", "aliases": ["grey wolf"], "support": 0.9, "evidence": [_place(1, 11, 15)]},
            {"text": "owl", "aliases": [], "support": 0.3, "evidence": [_place(2, 0, 4)]},
        ]
    return row


def _place(number: int, start: int, end: int) -> dict[str, int]:
    return {"passage": number, "start": start, "end": end}


class StandIn(ThreadingHTTPServer):
    """The server, and what it was asked."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self.server_port}/"
        self.proceed = threading.Semaphore(0)
        self.asked: list[dict[str, Any]] = []
        self.feedback: list[dict[str, Any]] = []
        self.uploads: list[bytes] = []
        self.indexes = [_index("animals", 3, 9), _index("towns", 1, 2)]
        self.history: list[dict[str, Any]] = []
        self.history_fails = False
        self.indexed = threading.Event()  # set when the job of an upload shall be done
        self.refuse_upload = False
        self.token: str | None = None
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that goes away is no error."""


def _index(name: str, documents: int, passages: int) -> dict[str, Any]:
    return {"name": name, "documents": documents, "passages": passages, "dense": False, "ready": True}


class _Handler(BaseHTTPRequestHandler):
    server: StandIn

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def _send(self, status: int, body: Any = None, kind: str = "application/json", **headers: str) -> None:
        content = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        self.send_response(status)
        for name, value in {
            "Content-Type": kind,
            "Content-Length": str(len(content)),
            "Content-Security-Policy": CSP,
            "Cache-Control": "no-store",
            **headers,
        }.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(content)

    def _fail(self, status: int, message: str, kind: str, **headers: str) -> None:
        self._send(status, {"error": {"message": message, "type": kind}}, **headers)

    def _allowed(self) -> bool:
        token = self.server.token
        if token is None or self.headers.get("Authorization") == f"Bearer {token}":
            return True
        self._fail(401, "This server needs its token.", "input")
        return False

    def do_GET(self) -> None:
        path = urllib.parse.unquote(urllib.parse.urlsplit(self.path).path)
        if path == "/" or path.startswith("/static/"):
            file = STATIC / (path.removeprefix("/static/") if path != "/" else "index.html")
            kind = "text/javascript" if file.suffix == ".js" else mimetypes.guess_type(file.name)[0]
            self._send(200, file.read_bytes(), kind or "application/octet-stream")
        elif not self._allowed():
            pass
        elif path == "/v1/indexes":
            models = ["extractive", "gguf:small"]
            defaults = {"k": 5, "words": 90, "rerank": True}
            shown = {"indexes": self.server.indexes, "default": "animals", "models": models, "defaults": defaults}
            shown["uploads"] = {"types": [".txt", ".md"], "files": 5, "bytes": 1000}
            self._send(200, shown)
        elif path == "/v1/history" and self.server.history_fails:
            self._fail(500, "The history cannot be read: the disk is full.", "failure")
        elif path == "/v1/history":
            self._send(200, {"items": self.server.history})
        elif path == "/v1/history/answer-1":
            self._send(200, answer("How do wolves hunt?"))
        elif path.startswith("/v1/jobs/"):
            self._job()
        elif "/documents/" in path:
            name = path.split("/documents/", 1)[1]
            title, text = DOCUMENTS[name]
            marks = [{"offset": text.index("Food"), "label": "Food"}] if "Food" in text else []
            self._send(200, {"id": name, "title": title, "text": text, "marks": marks})
        else:
            self._fail(404, f"There is nothing at {path}.", "input")

    def do_DELETE(self) -> None:
        name = urllib.parse.unquote(self.path).removeprefix("/v1/indexes/")
        if name == self.path:
            self.server.history.clear()
        else:
            self.server.indexes = [one for one in self.server.indexes if one["name"] != name]
        self._send(204)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if not self._allowed():
            return
        if self.path == "/v1/ask":
            self._ask(json.loads(body))
        elif self.path == "/v1/feedback":
            self.server.feedback.append(json.loads(body))
            self._send(204)
        elif self.path == "/v1/indexes":
            self.server.uploads.append(body)
            if self.server.refuse_upload:
                self._fail(415, "notes.exe is no document that Longform reads: give txt, md, html or pdf.", "input")
            else:
                self._send(202, {"job": "job-1", "name": "notes"})

    def _job(self) -> None:
        done = self.server.indexed.is_set()
        if done and all(one["name"] != "notes" for one in self.server.indexes):
            self.server.indexes.append(_index("notes", 2, 4) | {"uploaded": True})
        row = {"id": "job-1", "state": "done" if done else "running", "stage": "passages", "name": "notes"}
        self._send(200, row | {"done": 4 if done else 1, "total": 4})

    def _ask(self, body: dict[str, Any]) -> None:
        self.server.asked.append(body)
        question = body["question"]
        if question == "busy" and len(self.server.asked) == 1:
            self._fail(429, "The server is busy.", "busy", Retry_After="7")
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Content-Security-Policy", CSP)
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        for name, data in self._events(question):
            self.wfile.write(f"event: {name}\r\ndata: {json.dumps(data)}\r\n\r\n".encode())
            self.wfile.flush()

    def _events(self, question: str) -> Iterator[tuple[str, Any]]:
        whole = answer(question)
        start = {"id": "answer-1"}
        if question == "And owls?":
            start["understood_as"] = whole["understood_as"] = "How do owls hunt?"
        yield "start", start
        yield "hits", {"hits": HITS, "before": BEFORE}
        for piece in whole["answer"].replace(". ", ". |").split("|"):
            if question == "slow" and not self.server.proceed.acquire(timeout=120):
                return
            yield "text", {"text": piece}
            if question == "broken":
                return
            if question == "failing":
                yield "error", {"message": "The model ran out of memory: choose a smaller one.", "type": "failure"}
                return
        if question == "slow" and not self.server.proceed.acquire(timeout=120):
            return
        yield "answer", whole
