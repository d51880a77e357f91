"""Starting a server: the socket, one process or several, and what they write to the log."""

from __future__ import annotations

import logging
import os
import shutil
import signal
import socket
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import uvicorn
from fastapi import FastAPI
from uvicorn.config import STARTUP_FAILURE
from uvicorn.supervisors import Multiprocess

from longform.errors import FailureError, InputError, LongformError
from longform.serve.app import create_app
from longform.serve.metrics import SHARED_FOLDER
from longform.serve.settings import Settings, is_loopback

__all__ = ["log_settings", "run"]

logger = logging.getLogger("longform.serve")
# What runs when the server is told to end has its own time limit; this is for what hangs beyond it.
GRACE_SECONDS = 5
# For how long one of several processes may say nothing before it is replaced; also until one that died early is missed.
HEALTH_SECONDS = 15


def run(settings: Settings, port: int, workers: int, ready: Callable[[str], None], verbose: bool = False) -> None:
    """Serve until told to end (Ctrl-C or SIGTERM); what runs by then is finished first.

    ``ready`` is called with the address once the port is ours. More than this machine reaches it only with a token.
    """
    if settings.token is None and not is_loopback(settings.host):
        raise InputError(
            f"Others could reach a server at {settings.host}: give it a token with --token, or leave --host out."
        )
    with _bound(settings.host, port) as listening, _shared_metrics(workers):
        config = uvicorn.Config(
            partial(_worker_app, settings) if workers > 1 else _opened(settings),
            factory=workers > 1,
            workers=workers,
            log_config=log_settings(verbose),
            access_log=False,
            server_header=False,
            proxy_headers=False,
            ws="none",
            lifespan="on",
            timeout_graceful_shutdown=int(settings.time_limit) + GRACE_SECONDS,
        )
        # A process that reads a large model, or shares its core, is slow and not dead: killed, it loses its answers.
        config.timeout_worker_healthcheck = HEALTH_SECONDS
        host = f"[{settings.host}]" if ":" in settings.host else settings.host
        ready(f"http://{host}:{listening.getsockname()[1]}")
        if workers > 1:
            processes = Multiprocess(config, sockets=[listening])
            processes.run()
            if any(process.exitcode == STARTUP_FAILURE for process in processes.processes):
                raise FailureError("The server could not start: the line above says why.")
            return
        # uvicorn sends itself the signal again when all is finished: by then it has nothing more to say.
        before = signal.signal(signal.SIGTERM, lambda *_: None)
        server = uvicorn.Server(config)
        try:
            server.run(sockets=[listening])
        except KeyboardInterrupt:
            pass
        finally:
            signal.signal(signal.SIGTERM, before)


def _opened(settings: Settings) -> FastAPI:
    """The app with everything loaded: what is wrong with a model is said before the server says that it is there."""
    app = create_app(settings)
    if settings.warm:
        app.state.engine.warm()
    return app


def _worker_app(settings: Settings) -> FastAPI:
    """The app of one of several processes; an error is one line in the log, and the end of all of them."""
    try:
        return _opened(settings)
    except LongformError as error:
        logger.error("%s", error)
        sys.exit(STARTUP_FAILURE)


@contextmanager
def _bound(host: str, port: int) -> Iterator[socket.socket]:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Named as TCP, so that asyncio sends small replies at once: else each would wait 40 ms for the client's word that
    # its head has come.
    with socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((host, port))
        except (OSError, OverflowError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise InputError(
                f"Port {port} of {host} cannot be had ({reason.lower()}): choose another with --port."
            ) from None
        listening.set_inheritable(True)
        yield listening


@contextmanager
def _shared_metrics(workers: int) -> Iterator[None]:
    """A folder through which several processes add up their numbers."""
    if workers == 1 or os.environ.get(SHARED_FOLDER):
        yield
        return
    folder = tempfile.mkdtemp(prefix="longform-metrics-")
    os.environ[SHARED_FOLDER] = folder
    try:
        yield
    finally:
        del os.environ[SHARED_FOLDER]
        shutil.rmtree(folder, ignore_errors=True)


def log_settings(verbose: bool) -> dict[str, Any]:
    """A line for every request with ``verbose``; without, only what went wrong."""
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(message)s"}},
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
        "loggers": {
            "longform.serve": {
                "handlers": ["stderr"],
                "level": logging.INFO if verbose else logging.WARNING,
                "propagate": False,
            },
            "uvicorn": {"handlers": ["stderr"], "level": logging.WARNING, "propagate": False},
        },
    }
