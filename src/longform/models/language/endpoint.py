"""Any OpenAI-compatible endpoint as a language model: hosted ones, vLLM, Ollama, llama.cpp's server.

The key comes from the environment, ``LONGFORM_API_KEY`` or else ``OPENAI_API_KEY``. It is sent in the header and goes
nowhere else: into no message, no log, no ``repr``.
"""

from __future__ import annotations

import math
import os
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx

from longform.errors import FailureError, InputError
from longform.models.language.protocol import BrokenStreamError, Message
from longform.models.language.retries import Patience, RefusedError, TryAgainError, refusal, wait_or_give_up
from longform.models.language.sse import NotEventsError, text_pieces

__all__ = ["EndpointModel"]

# What an endpoint takes is not told by the protocol; today's smallest hosted contexts are 8,192 tokens.
CONTEXT = 8192
# English has about 4.5 bytes to a token, other languages down to 3: an estimate that is rarely too low.
BYTES_PER_TOKEN = 3

_FORM = re.compile(r"(?P<model>.+?)@(?P<url>https?://.*)", re.IGNORECASE)
_LOCAL = ("localhost", "127.0.0.1", "::1")
# Newer hosted models refuse these, and say so by their names; the request goes out again without.
_OPTIONAL = {"max_tokens": "max_completion_tokens", "temperature": None, "seed": None, "stop": None}


@dataclass(frozen=True)
class EndpointModel:
    """A model behind ``URL/chat/completions``, streamed.

    ``connect`` and ``read`` are the seconds to wait for a connection and for the next bytes. Before the first word a
    request is repeated, as ``patience`` says; after it, a failure is a :class:`BrokenStreamError`.

    >>> EndpointModel.open("some-model@http://localhost:8000/v1/").url
    'http://localhost:8000/v1'
    """

    model: str
    url: str
    context: int = CONTEXT
    connect: float = 10.0
    read: float = 120.0
    patience: Patience = field(default_factory=Patience)
    pause: Callable[[float], None] = field(default=time.sleep, repr=False)
    _clients: list[httpx.Client] = field(default_factory=list, repr=False, compare=False)

    @classmethod
    def open(cls, name_at_url: str, *, context: int | None = None) -> EndpointModel:
        """The model of ``NAME@URL``."""
        found = _FORM.fullmatch(name_at_url.strip())
        if found is None:
            raise InputError(
                f"{_without_secrets(name_at_url)} is no NAME@URL: write a model's name, @, and the http or https "
                "address of an endpoint, as in openai:gpt-4o-mini@https://api.openai.com/v1."
            )
        return cls(found["model"], _checked(found["url"]), context or CONTEXT)

    @property
    def name(self) -> str:
        """The name that the model was opened by."""
        return f"openai:{self.model}@{self.url}"

    def count(self, text: str) -> int:
        """An estimate: a token for every three bytes."""
        return math.ceil(len(text.encode("utf-8", "replace")) / BYTES_PER_TOKEN)

    def generate(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int,
        temperature: float = 0.0,
        seed: int = 0,
        stop: Sequence[str] = (),
    ) -> Iterator[str]:
        """The answer in pieces."""
        body: dict[str, Any] = {
            "model": self.model,
            "messages": [message.to_json() for message in messages],
            "max_tokens": max_tokens,
            "temperature": temperature,
            "seed": seed,
            "stream": True,
        }
        if stop:
            body["stop"] = list(stop)
        begun, failures = False, 0
        while True:
            problem: Exception
            try:
                for piece in self._pieces(body):
                    begun = True
                    yield piece
                return
            except (TryAgainError, NotEventsError, RefusedError, httpx.TimeoutException) as error:
                problem = error
            if begun:
                raise BrokenStreamError(
                    f"{self.url} broke off in the middle of the answer: {self._reason(problem)}."
                ) from problem
            if isinstance(problem, TryAgainError):
                failures += 1
                self.pause(wait_or_give_up(self.patience, failures, problem, f"{self.url} does not answer"))
            elif not (isinstance(problem, RefusedError) and _adapted(body, problem)):
                raise self._failure(problem) from problem

    def _pieces(self, body: dict[str, Any]) -> Iterator[str]:
        headers = {"Authorization": f"Bearer {key}"} if (key := _key(self.url)) else {}
        try:
            with self._client().stream("POST", f"{self.url}/chat/completions", json=body, headers=headers) as response:
                if response.status_code != 200:
                    response.read()
                    raise refusal(response, secret=key)
                yield from text_pieces(response)
        except (httpx.ReadTimeout, httpx.WriteTimeout, httpx.PoolTimeout):
            raise
        except httpx.TransportError as error:
            # Not the error's own words, which may hold an address with what is secret in it.
            raise TryAgainError(_REASONS.get(type(error), "the connection failed")) from error

    def _client(self) -> httpx.Client:
        """One client for the model's life, made when first used: its connections are kept open."""
        if not self._clients:
            self._clients.append(httpx.Client(timeout=httpx.Timeout(self.read, connect=self.connect)))
        return self._clients[0]

    def _reason(self, problem: Exception) -> str:
        return (
            f"nothing came for {self.read:g} seconds" if isinstance(problem, httpx.TimeoutException) else str(problem)
        )

    def _failure(self, problem: Exception) -> Exception:
        """What a person reads of a failure before the first word."""
        if isinstance(problem, RefusedError):
            return self._refused(problem)
        if isinstance(problem, NotEventsError):
            return FailureError(
                f"{self.url} does not answer as an OpenAI-compatible endpoint does ({problem}): check the address, "
                "which often ends in /v1."
            )
        return FailureError(
            f"{self.url} did not answer within {self.read:g} seconds: it may be overloaded; try again later."
        )

    def _refused(self, error: RefusedError) -> Exception:
        if error.status in (401, 403):
            what = "refuses the key in the environment" if _key(self.url) else "wants a key"
            return InputError(f"{self.url} {what} ({error.status}): set LONGFORM_API_KEY to one that it takes.")
        if error.status == 404:
            return InputError(
                f"{self.url} has no model {self.model}, or is not the address of an endpoint (404): check both."
            )
        if "context" in error.said.lower():
            return InputError(
                f"The context of {self.model} is too small for this prompt ({error.said}): give fewer or "
                "shorter passages."
            )
        said = f": {error.said}" if error.said else ""
        return InputError(f"{self.url} refuses the request ({error.status}){said}.")


_REASONS: dict[type[Exception], str] = {
    httpx.ConnectError: "nothing listens there, or the network is down",
    httpx.ConnectTimeout: "no connection came about in time",
    httpx.RemoteProtocolError: "it closed the connection",
    httpx.ReadError: "the connection was lost",
}


def _checked(url: str) -> str:
    """The address without a slash at its end; with a password in it, it would end up in answers."""
    try:
        parsed = httpx.URL(url)
    except httpx.InvalidURL as error:
        raise InputError(f"{_without_secrets(url)} is no address of an endpoint: {error}.") from None
    if not parsed.host or parsed.scheme not in ("http", "https"):
        raise InputError(f"{_without_secrets(url)} is no address of an endpoint: give one such as https://host/v1.")
    if parsed.userinfo or parsed.query:
        raise InputError(
            f"{parsed.scheme}://{parsed.host} comes with a password or options in its address: give the key in "
            "LONGFORM_API_KEY instead."
        )
    return str(parsed).rstrip("/")


def _without_secrets(text: str) -> str:
    """What may be shown of a name that cannot be read: nothing between ``://`` and ``@``, nothing after ``?``."""
    return re.sub(r"\?.*", "?…", re.sub(r"://[^/@]*@", "://…@", text))


def _key(url: str) -> str | None:
    """The key for an endpoint. OpenAI's own is never sent in the clear, unless to this machine."""
    if key := os.environ.get("LONGFORM_API_KEY", "").strip():
        return key
    parsed = httpx.URL(url)
    if parsed.scheme != "https" and parsed.host not in _LOCAL:
        return None
    return os.environ.get("OPENAI_API_KEY", "").strip() or None


def _adapted(body: dict[str, Any], error: RefusedError) -> bool:
    """Take out of the request what the endpoint does not know; false where that is not the matter."""
    if error.status not in (400, 422):
        return False
    for option, instead in _OPTIONAL.items():
        if option in body and (error.param == option or (not error.param and f"'{option}'" in error.said)):
            value = body.pop(option)
            if instead:
                body[instead] = value
            return True
    return False
