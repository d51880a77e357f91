"""A client of ``longform serve``: ask, stream, search and upload from Python."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import orjson

from longform.answer.from_json import answer_from_json, hit_from_json
from longform.errors import FailureError, InputError, reason_of
from longform.records import Answer, Hit

__all__ = ["Client", "Collection", "Job", "Reply", "ServerBusyError"]


class ServerBusyError(FailureError):
    """The server has all the work that it can take; ``seconds`` says when to come again."""

    def __init__(self, message: str, seconds: float) -> None:
        super().__init__(message)
        self.seconds = seconds


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer; how the question was understood, where it leaned on those before it; the first stage's order."""

    answer: Answer
    id: str
    understood_as: str | None = None
    before: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Collection:
    """A collection of the server; one that is not ready is being indexed, one that was uploaded can be deleted."""

    name: str
    passages: int
    documents: int
    dense: bool
    ready: bool
    uploaded: bool = False


@dataclass(frozen=True, slots=True)
class Job:
    """How far the indexing of an upload is; ``state`` is ``running``, ``done`` or ``failed``."""

    id: str
    name: str
    state: str
    stage: str
    done: int
    total: int | None = None
    message: str | None = None


class Client:
    """A connection to a server.

    ``Client("http://127.0.0.1:8080").ask("Who was the ruler of France in 1830?").answer.text`` is the answer. Where the
    server is busy, a request is made again for up to ``patience`` seconds. ``transport`` is httpx's, for tests.
    """

    def __init__(
        self,
        address: str = "http://127.0.0.1:8080",
        token: str | None = None,
        *,
        timeout: float = 120.0,
        patience: float = 0.0,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self.address, self.patience = address.rstrip("/"), patience
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._client = httpx.Client(base_url=self.address, headers=headers, timeout=timeout, transport=transport)

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the connection."""
        self._client.close()

    def ask(self, question: str, **options: Any) -> Reply:
        """The whole answer; ``options`` are fields of ``/v1/ask``: index, model, k, words, rerank, list, history."""
        row = self._call("POST", "/v1/ask", json={"question": question, **options})
        return _reply(row)

    def stream(self, question: str, **options: Any) -> Iterator[str | Reply]:
        """Pieces of the answer's text as they come, then the whole answer."""
        body = {"question": question, **options, "stream": True}
        try:
            with self._client.stream("POST", "/v1/ask", json=body) as response:
                if response.status_code != 200:
                    response.read()
                    raise _refused(response)
                for name, data in _events(response.iter_lines()):
                    if name == "text":
                        yield data["text"]
                    elif name == "error":
                        raise FailureError(data["message"])
                    elif name == "answer":
                        yield _reply(data)
                        return
        except httpx.HTTPError as error:
            raise self._lost(error) from error
        raise FailureError(f"{self.address} broke off in the middle of an answer.")

    def search(self, question: str, **options: Any) -> list[Hit]:
        """Passages; ``options`` are the fields of ``/v1/search``: index, k, mode, rerank."""
        row = self._call("POST", "/v1/search", json={"question": question, **options})
        return [hit_from_json(hit) for hit in row["hits"]]

    def indexes(self) -> list[Collection]:
        """The collections that can be asked."""
        return [Collection(**row) for row in self._call("GET", "/v1/indexes")["indexes"]]

    def upload(self, name: str, files: Sequence[str | Path], *, dense: bool = False) -> Job:
        """Upload files to a new collection, or to one that is there; :meth:`wait` for the job before asking it."""
        with ExitStack() as stack:
            try:
                parts = [("files", (Path(file).name, stack.enter_context(Path(file).open("rb")))) for file in files]
            except OSError as error:
                raise InputError(f"{error.filename} cannot be read: {reason_of(error)}.") from None
            data = {"name": name, "dense": "true" if dense else "false"}
            row = self._call("POST", "/v1/indexes", data=data, files=parts)
        return self.job(row["job"])

    def delete(self, name: str) -> None:
        """Delete a collection that was uploaded, with its documents."""
        self._call("DELETE", f"/v1/indexes/{quote(name, safe='')}")

    def job(self, job: str) -> Job:
        """How far a job is."""
        return Job(**self._call("GET", f"/v1/jobs/{job}"))

    def wait(self, job: Job | str, seconds: float = 600.0, on_step: Callable[[Job], None] | None = None) -> Job:
        """Wait until a job is done; one that failed raises its message."""
        identifier = job if isinstance(job, str) else job.id
        deadline = time.monotonic() + seconds
        while True:
            found = self.job(identifier)
            if on_step is not None:
                on_step(found)
            if found.state == "failed":
                raise InputError(found.message or f"{found.name} could not be indexed.")
            if found.state == "done":
                return found
            if time.monotonic() > deadline:
                raise FailureError(f"{found.name} is not indexed after {seconds:g} s: wait longer.")
            time.sleep(0.1)

    def rate(self, answer_id: str, rating: int, reason: str = "", correction: str = "") -> None:
        """Say what you think of an answer: 1 or −1, why, and what would have been better."""
        body = {"answer_id": answer_id, "rating": rating, "reason": reason, "correction": correction}
        self._call("POST", "/v1/feedback", json=body)

    def _call(self, method: str, path: str, **content: Any) -> Any:
        deadline = time.monotonic() + self.patience
        while True:
            try:
                response = self._client.request(method, path, **content)
            except httpx.HTTPError as error:
                raise self._lost(error) from error
            if response.is_success:
                return orjson.loads(response.content) if response.content else None
            refused = _refused(response)
            left = deadline - time.monotonic()
            if not isinstance(refused, ServerBusyError) or left <= 0 or "files" in content:
                raise refused
            time.sleep(min(refused.seconds, left))

    def _lost(self, error: httpx.HTTPError) -> FailureError:
        if isinstance(error, httpx.TimeoutException):
            return FailureError(f"{self.address} did not answer in time: give it longer with timeout.")
        return FailureError(f"{self.address} cannot be reached ({type(error).__name__}): is `longform serve` running?")


def _reply(row: dict[str, Any]) -> Reply:
    return Reply(answer_from_json(row), row["id"], row.get("understood_as"), tuple(row.get("before", ())))


def _refused(response: httpx.Response) -> InputError | FailureError:
    try:
        message = str(orjson.loads(response.content)["error"]["message"])
    except (orjson.JSONDecodeError, KeyError, TypeError):
        message = f"{response.url} answered with status {response.status_code}."
    if response.status_code == 429:
        given = response.headers.get("Retry-After", "1")
        return ServerBusyError(message, float(given) if given.isdecimal() else 1.0)
    return InputError(message) if response.status_code < 500 else FailureError(message)


def _events(lines: Iterator[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The events of a stream: a name and its data."""
    name = ""
    for line in lines:
        field, _, value = line.partition(": ")
        if field == "event":
            name = value
        elif field == "data":
            yield name, orjson.loads(value)
