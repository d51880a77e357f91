"""Kills while an upload is indexed, and two servers at one home: nothing is lost, nothing is broken."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from serve_helpers import PATIENCE, Server, until

from longform.client import Client
from longform.retrieve import is_pending, verify
from longform.serve.database import DATABASE

pytestmark = pytest.mark.slow

Start = Callable[..., Server]
DOCUMENTS = 500


@pytest.fixture
def jams(tmp_path: Path) -> Path:
    """Documents enough for their encoding to take a while."""
    file = tmp_path / "jams.jsonl"
    rows = (
        {"id": f"jam-{n}", "title": f"Jam {n}", "text": f"Jam number {n} is made of fruit."} for n in range(DOCUMENTS)
    )
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


def whole(home: Path) -> None:
    """The database and every index at a home are as they should be, and nothing is left of uploads."""
    with sqlite3.connect(home / DATABASE) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        folders = [folder for (folder,) in connection.execute("SELECT folder FROM collections")]
    assert sorted(path.name for path in (home / "indexes").iterdir() if path.is_dir()) == sorted(folders)
    for folder in folders:
        assert verify(home / "indexes" / folder) == []
    assert list((home / "uploads").iterdir()) == []


def documents(client: Client, name: str) -> int:
    (found,) = (one for one in client.indexes() if one.name == name)
    return found.documents if found.ready else 0


def killed_in_the_middle(server: Server, index: Path) -> None:
    """Killed while an index is made: what it has written by then says that it is not finished."""
    until(lambda: is_pending(index))
    server.process.kill()
    server.process.wait(PATIENCE)
    assert is_pending(index)


def test_a_server_that_is_killed_while_it_indexes(start: Start, jams: Path, tmp_path: Path) -> None:
    """Killed before it begins and in the middle, with documents of an earlier upload in the same collection."""
    (tmp_path / "old.txt").write_text("Quince jam is old.")
    server = start()
    with Client(server.address) as client:
        client.wait(client.upload("food", [tmp_path / "old.txt"]))
        job = client.upload("food", [jams], dense=False)
        new = client.upload("new", [jams], dense=True)
    server.process.kill()
    server.process.wait(PATIENCE)

    again = start()
    with Client(again.address) as client:
        # What was there can be asked whatever has become of the rest.
        assert client.search("quince", index="food")[0].passage.document == "old.txt"
    killed_in_the_middle(again, tmp_path / "home" / "indexes" / new.id)

    last = start()
    with Client(last.address) as client:
        assert client.wait(job, PATIENCE).state == client.wait(new, PATIENCE).state == "done"
        assert documents(client, "food") == DOCUMENTS + 1 and documents(client, "new") == DOCUMENTS
        assert client.search("number 7 fruit", index="new", mode="dense", k=1)
        assert client.search("quince", index="food")[0].passage.document == "old.txt"
    assert last.end() == (0, "")
    whole(tmp_path / "home")


def test_two_servers_at_one_home(start: Start, tmp_path: Path) -> None:
    with ThreadPoolExecutor() as pool:
        servers = list(pool.map(lambda _: start(), range(2)))  # both make the database
        clients = [Client(server.address, patience=PATIENCE) for server in servers]

        def use(number: int) -> str:
            client = clients[number % 2]
            (tmp_path / f"{number}.txt").write_text(f"Jam number {number} is made of fruit.")
            reply = client.ask("What is tea?")
            client.rate(reply.id, 1, "good")
            jobs = [client.upload(name, [tmp_path / f"{number}.txt"]) for name in ("together", f"own {number}")]
            for job in jobs:
                clients[(number + 1) % 2].wait(job, PATIENCE)  # the other one knows it too
            return reply.id

        asked = set(pool.map(use, range(8)))
    for server, client in zip(servers, clients, strict=True):
        items = server.client.get("/v1/history").json()["items"]
        assert {item["id"] for item in items} == asked and {item["rating"] for item in items} == {1}
        assert documents(client, "together") == 8
        assert all(documents(client, f"own {number}") == 1 for number in range(8))
        client.close()
    assert [server.end() for server in servers] == [(0, ""), (0, "")]
    whole(tmp_path / "home")


def test_a_server_takes_up_what_another_leaves(start: Start, jams: Path, tmp_path: Path) -> None:
    first, second = start(), start()
    with Client(first.address) as client:
        job = client.upload("food", [jams], dense=True)
    killed_in_the_middle(first, tmp_path / "home" / "indexes" / job.id)
    with Client(second.address) as client:
        assert client.wait(job, PATIENCE).state == "done"
        assert documents(client, "food") == DOCUMENTS
    assert second.end() == (0, "")
    whole(tmp_path / "home")
