"""A GGUF file in this process, through llama.cpp (xllamacpp; extra ``gguf``)."""

from __future__ import annotations

import ctypes
import queue
import secrets
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from longform.errors import FailureError, InputError
from longform.models.language.protocol import BrokenStreamError, Message
from longform.models.runtime import available_cores

__all__ = ["GgufModel"]

# Long contexts are paid for in memory whether they are used or not: 8,192 tokens of a model with 7 billion parameters
# take 1 GB. Models that were made for less get what they were made for.
CONTEXT = 8192
MAGIC = b"GGUF"


@dataclass(frozen=True)
class GgufModel:
    """A language model in a GGUF file; with a temperature of 0 the same prompt gives the same answer.

    ``GgufModel.load("SmolLM2-135M-Instruct.Q4_1.gguf")`` loads one; its own chat template shapes the prompt.
    """

    name: str
    context: int
    threads: int
    _server: Any = field(repr=False)
    _client: httpx.Client = field(repr=False)

    @classmethod
    def load(
        cls, path: str | Path, *, name: str | None = None, context: int | None = None, threads: int | None = None
    ) -> GgufModel:
        """Load a file; on all cores without ``threads``, with at most 8,192 tokens of context unless told otherwise."""
        file = Path(path).expanduser()
        _check(file)
        try:
            import xllamacpp
        except ImportError as error:
            raise InputError(
                f"Running {file.name} needs xllamacpp: `pip install 'longform[gguf]'` installs it."
            ) from error
        cores = threads or available_cores()
        key = secrets.token_urlsafe(24)
        parameters = _parameters(xllamacpp, file, context or CONTEXT, cores, key)
        with _signals_kept():
            try:
                server = xllamacpp.Server(parameters)
            except RuntimeError as error:
                raise InputError(
                    f"{file} cannot be loaded: it is damaged, of a kind that this xllamacpp does not know, or too "
                    "large for the memory; get the file anew or choose a smaller one."
                ) from error
        # Only the tokenizer is asked over this connection, which never leaves the machine: no proxy.
        client = httpx.Client(
            base_url=server.listening_address,
            headers={"Authorization": f"Bearer {key}"},
            trust_env=False,
            timeout=60,
        )
        window = int(_asked(client, "GET", "/props")["default_generation_settings"]["n_ctx"])
        return cls(name or f"gguf:{file.name}", window, cores, server, client)

    def count(self, text: str) -> int:
        """How many tokens a text is."""
        return len(_asked(self._client, "POST", "/tokenize", {"content": text, "add_special": False})["tokens"])

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
        request = {
            "messages": [message.to_json() for message in messages],
            "max_tokens": max_tokens,
            "temperature": temperature,
            "seed": seed,
            "stop": list(stop),
            "stream": True,
            # What is left of an earlier prompt changes the order of sums, and with them now and then a token.
            "cache_prompt": False,
            # Thoughts are not part of an answer and would use up its tokens.
            "chat_template_kwargs": {"enable_thinking": False},
        }
        begun = False
        for chunk in _streamed(lambda take: self._server.handle_chat_completions(request, take)):
            if "choices" not in chunk:
                raise self._failure(chunk, begun)
            for choice in chunk["choices"]:
                piece = choice.get("delta", {}).get("content")
                if piece:
                    begun = True
                    yield piece

    def _failure(self, chunk: dict[str, Any], begun: bool) -> Exception:
        error = chunk.get("error", chunk)
        reason = str(error.get("message", error)).strip().rstrip(".")
        if begun:
            return BrokenStreamError(f"{self.name} broke off: {reason}.")
        if error.get("type") == "exceed_context_size_error":
            return InputError(
                f"The context of {self.name} ({self.context:,} tokens) is too small for this prompt: give fewer or "
                "shorter passages, or a model with a longer context."
            )
        return FailureError(f"{self.name} cannot answer: {reason}.")


def _check(file: Path) -> None:
    """Refuse in a sentence what llama.cpp would refuse without one."""
    if file.is_dir():
        raise InputError(f"{file} is a folder: give the GGUF file in it, or hf:{file} for a transformers folder.")
    if not file.exists():
        raise InputError(f"There is no file {file}: give the path of a GGUF file, as in gguf:model.gguf.")
    with file.open("rb") as opened:
        if opened.read(len(MAGIC)) != MAGIC:
            raise InputError(f"{file} is not a GGUF file: it does not begin with the letters GGUF.")


def _parameters(xllamacpp: Any, file: Path, context: int, threads: int, key: str) -> Any:
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(file)
    parameters.n_ctx = context
    parameters.n_parallel = 1
    parameters.cpuparams.n_threads = threads
    parameters.cpuparams_batch.n_threads = threads
    parameters.warmup = False
    parameters.verbosity = -1
    # llama.cpp listens on a port of this machine as soon as it is loaded: nobody else's requests are answered.
    parameters.hostnames = ["127.0.0.1"]
    parameters.api_keys = [key]
    parameters.ui = False
    parameters.endpoint_slots = False
    # Old prompts are not kept: see cache_prompt above.
    parameters.cache_ram_mib = 0
    return parameters


@contextmanager
def _signals_kept() -> Iterator[None]:
    """Keep Ctrl-C ours: llama.cpp puts its own handlers in place, which would stop it and leave us waiting.

    Through the C functions, as :func:`signal.signal` works in the main thread alone.
    """
    get, put = ctypes.pythonapi.PyOS_getsig, ctypes.pythonapi.PyOS_setsig
    get.restype = put.restype = ctypes.c_void_p
    put.argtypes = [ctypes.c_int, ctypes.c_void_p]
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = [get(number) for number in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, before, strict=True):
            put(number, handler)


def _asked(client: httpx.Client, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
    try:
        found: dict[str, Any] = client.request(method, path, json=body).raise_for_status().json()
    except httpx.HTTPError as error:
        raise FailureError(f"llama.cpp does not answer any more ({type(error).__name__}): start again.") from error
    return found


_Take = Callable[[Any], bool]


def _streamed(run: Callable[[_Take], object]) -> Iterator[dict[str, Any]]:
    """What ``run`` hands to its callback, as an iterator; closing it makes the callback ask for the end."""
    chunks: queue.SimpleQueue[Any] = queue.SimpleQueue()
    closed = threading.Event()

    def take(chunk: Any) -> bool:
        # An error comes as the only chunk, everything else as one or a list of them.
        for part in chunk if isinstance(chunk, list) else [chunk]:
            chunks.put(part)
        return closed.is_set()

    def work() -> None:
        try:
            run(take)
        except BaseException as error:
            chunks.put({"error": {"message": str(error) or type(error).__name__}})
        finally:
            chunks.put(None)

    worker = threading.Thread(target=work, name="llama.cpp", daemon=True)
    worker.start()
    try:
        while (chunk := chunks.get()) is not None:
            yield chunk
    finally:
        closed.set()
