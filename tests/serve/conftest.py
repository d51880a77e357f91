"""Apps over a small collection, and servers in processes of their own."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi")

from serve_helpers import PATIENCE, Server, Writer
from starlette.testclient import TestClient

from longform import Document, Index
from longform.answer.opening import Models
from longform.serve import Settings, create_app
from longform.serve.settings import named_indexes

ADDRESS = "http://127.0.0.1"
PAGES = [
    Document("tea.txt", "Tea", "Tea is a hot drink. It is brewed from the leaves of Camellia sinensis."),
    Document("coffee.txt", "Coffee", "Coffee is a dark drink. It is brewed from roasted beans of Ethiopia."),
    Document("a/milk.md", "Milk", "Milk is a white drink. Cows give <script>alert(1)</script> milk every day."),
]


@pytest.fixture(scope="session")
def drinks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index of three documents."""
    folder = tmp_path_factory.mktemp("serve") / "drinks.index"
    Index.create(folder, PAGES)
    return folder


@pytest.fixture(scope="session")
def models() -> Models:
    """Loaded once for all tests."""
    return Models()


@pytest.fixture
def serving(drinks: Path, models: Models, tmp_path: Path) -> Iterator[Callable[..., TestClient]]:
    """Makes a client of an app in this process."""
    with ExitStack() as stack:

        def make(**options: Any) -> TestClient:
            given: dict[str, Any] = {"indexes": named_indexes([drinks]), "home": tmp_path / "home", "warm": False}
            app = create_app(Settings(**{**given, **options}), models)
            return stack.enter_context(TestClient(app, base_url=ADDRESS, raise_server_exceptions=False))

        yield make


@pytest.fixture
def client(serving: Callable[..., TestClient]) -> TestClient:
    return serving()


@pytest.fixture
def writer() -> Iterator[Writer]:
    server = Writer()
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    yield server
    server.go_on.set()
    server.shutdown()
    server.server_close()


@pytest.fixture
def start(drinks: Path, tmp_path: Path) -> Iterator[Callable[..., Server]]:
    """Starts servers over the collection at free ports; they are ended with the test."""
    servers: list[Server] = []

    def begin(*arguments: object, home: Path | None = None) -> Server:
        server = Server(drinks, "--port", 0, "--home", home or tmp_path / "home", *arguments)
        servers.append(server)
        return server

    yield begin
    for server in servers:
        server.client.close()
        if server.process.poll() is None:
            server.process.kill()
        server.process.communicate(timeout=PATIENCE)
