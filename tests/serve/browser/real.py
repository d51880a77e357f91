"""The real server in a process of its own, and a wire to it that can be held."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path

__all__ = ["Wire", "running_server"]

# What `longform serve` does, without its command line.
_SERVE = """
import socket
import sys
from pathlib import Path
import uvicorn
from longform.serve import create_app
from longform.serve.settings import Settings, named_indexes
home, *folders = sys.argv[1:]
settings = Settings(indexes=named_indexes(folders), home=Path(home), threads=1)
server = uvicorn.Server(uvicorn.Config(create_app(settings), log_level="warning"))
with socket.create_server(("127.0.0.1", 0)) as listening:
    print(listening.getsockname()[1], flush=True)
    server.run(sockets=[listening])
"""


class Running:
    """A server that answers at ``url``."""

    def __init__(self, process: subprocess.Popen[bytes], port: int) -> None:
        self.process, self.port, self.url = process, port, f"http://127.0.0.1:{port}/"

    def kill(self) -> None:
        """End it as a crash does."""
        self.process.kill()
        self.process.wait()


@contextlib.contextmanager
def running_server(home: Path, folders: Sequence[Path]) -> Iterator[Running]:
    """Start a server over index folders; its own data are kept in ``home``."""
    arguments = [sys.executable, "-c", _SERVE, str(home), *map(str, folders)]
    process = subprocess.Popen(arguments, env={**os.environ, "OMP_NUM_THREADS": "1"}, stdout=subprocess.PIPE)
    assert process.stdout is not None
    port = process.stdout.readline()
    assert port, "the server ended before it had a port"
    running = Running(process, int(port))
    try:
        until = time.monotonic() + 300
        while True:
            assert process.poll() is None, "the server ended before it answered"
            with contextlib.suppress(urllib.error.URLError, ConnectionError, TimeoutError):
                urllib.request.urlopen(f"{running.url}healthz", timeout=30).close()
                break
            assert time.monotonic() < until, "the server did not start in time"
            time.sleep(0.1)
        yield running
    finally:
        running.kill()


class Wire:
    """Carries bytes to a server and back, until ``word`` comes back: from there on nothing passes but the end.

    ``held`` is set when that happens. So a test can end the server in the middle of an answer, however fast it is.
    """

    def __init__(self, port: int, word: bytes) -> None:
        self._port, self._word = port, word
        self.held = threading.Event()
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}/"
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """Accept no more."""
        self._socket.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                near, _ = self._socket.accept()
                far = socket.create_connection(("127.0.0.1", self._port))
                for one, other, word in ((near, far, None), (far, near, self._word)):
                    threading.Thread(target=self._carry, args=(one, other, word), daemon=True).start()

    def _carry(self, one: socket.socket, other: socket.socket, word: bytes | None) -> None:
        seen = b""
        with contextlib.suppress(OSError):
            while data := one.recv(65536):
                seen = seen[-200:] + data if word else b""
                if word and word in seen:
                    # The rest of the event that holds the word still passes.
                    at = seen.index(word)
                    end = seen.find(b"\n\n", at)
                    if end >= 0:
                        other.sendall(data[: len(data) - (len(seen) - end - 2)])
                        self.held.set()
                        while one.recv(65536):
                            pass
                        break
                other.sendall(data)
        for end in (one, other):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
