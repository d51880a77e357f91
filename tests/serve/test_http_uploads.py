"""Uploads: limits, names, types, indexing in the background, and going on after a kill."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import sqlite3
import threading
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock
from hypothesis import given
from hypothesis import strategies as st
from serve_helpers import until
from starlette.testclient import TestClient

from longform.serve.errors import ApiError
from longform.serve.naming import MOST_CHARACTERS, collection_name, document_names, shown_name

HONEY = f"# Honey\n\nBees make honey. {'They fly far. ' * 60}\n\n## Use\n\nIt is sweet. {'It is eaten. ' * 60}".encode()
JAM = b"Jam is made of fruit and sugar. It is eaten with bread."


def send(client: TestClient, name: str, *files: tuple[str, bytes], **fields: str) -> Any:
    return client.post("/v1/indexes", data={"name": name, **fields}, files=[("files", file) for file in files])


def done(client: TestClient, reply: Any) -> dict[str, Any]:
    assert reply.status_code == 202, reply.text
    rows: list[dict[str, Any]] = []

    def ended() -> bool:
        rows.append(client.get(f"/v1/jobs/{reply.json()['job']}").json())
        return rows[-1]["state"] != "running"

    until(ended)
    return rows[-1]


def swept(folder: Path) -> None:
    """The files of uploads are taken away, after it is told that they are indexed."""
    until(lambda: list((folder / "home" / "uploads").iterdir()) == [])


def test_an_upload_can_be_asked(client: TestClient, tmp_path: Path) -> None:
    reply = send(client, "my notes", ("jam.txt", JAM), ("sub/honey.md", HONEY))
    assert reply.json()["name"] == "my notes"
    row = done(client, reply)
    assert row["state"] == "done" and row["name"] == "my notes" and row["done"] == row["total"] >= 2
    assert "message" not in row
    listing = client.get("/v1/indexes").json()
    assert listing["indexes"][1] == {
        "name": "my notes",
        "passages": row["done"],
        "documents": 2,
        "dense": False,
        "ready": True,
        "uploaded": True,
    }
    assert not listing["indexes"][0]["uploaded"]
    assert listing["default"] == "drinks"
    hits = client.post("/v1/search", json={"question": "Who makes honey?", "index": "my notes"}).json()["hits"]
    assert hits[0]["document"] == "honey.md" and hits[0]["title"] == "Honey"
    document = client.get("/v1/indexes/my notes/documents/honey.md").json()
    assert document["marks"][-1]["label"] == "Use"
    assert document["text"][document["marks"][-1]["offset"] :].startswith("It is ")
    swept(tmp_path)


def test_more_can_be_added_and_replaces_what_has_the_same_name(client: TestClient) -> None:
    done(client, send(client, "food", ("jam.txt", JAM)))
    done(client, send(client, "food", ("bread.txt", b"Bread is baked."), ("jam.txt", b"Jam is sweet.")))
    assert client.get("/v1/indexes").json()["indexes"][1]["documents"] == 2
    assert client.get("/v1/indexes/food/documents/jam.txt").json()["text"] == "Jam is sweet."


def test_an_upload_can_be_encoded(client: TestClient) -> None:
    done(client, send(client, "dense", ("jam.txt", JAM), dense="true"))
    assert client.get("/v1/indexes").json()["indexes"][1]["dense"] is True
    reply = client.post("/v1/search", json={"question": "marmalade", "index": "dense", "mode": "dense", "k": 1})
    assert reply.json()["hits"][0]["document"] == "jam.txt"


@pytest.mark.parametrize(
    "name",
    [
        "../../evil.txt",
        "/etc/cron.d/evil.txt",
        "C:\\Windows\\evil.txt",
        "a\x00b.txt",
        "CON.txt",
        "x" * 900 + ".txt",
        "..txt",
    ],
)
def test_names_are_never_paths(client: TestClient, tmp_path: Path, name: str) -> None:
    before = {path for path in tmp_path.rglob("*") if path.is_file() and "home" not in path.parts}
    row = done(client, send(client, "names", (name, JAM)))
    assert row["state"] == "done"
    hits = client.post("/v1/search", json={"question": "jam", "index": "names"}).json()["hits"]
    document = hits[0]["document"]
    assert "/" not in document and "\\" not in document and "\x00" not in document and len(document) <= MOST_CHARACTERS
    assert {path for path in tmp_path.rglob("*") if path.is_file() and "home" not in path.parts} == before
    kept = {part for path in (tmp_path / "home" / "indexes").rglob("*") for part in path.parts}
    assert document not in kept


@given(st.text(max_size=300))
def test_any_name_is_shown_and_harmless(name: str) -> None:
    shown = shown_name(name)
    assert 0 < len(shown) <= MOST_CHARACTERS
    assert not set(shown) & set("/\\\x00") and not shown.startswith(".")
    assert document_names([f"{name}.txt", f"{name}.txt"])[0] != document_names([f"{name}.txt", f"{name}.txt"])[1]
    try:
        collection = collection_name(name)
    except ApiError:
        return
    assert collection == collection.strip() and "/" not in collection and collection not in (".", "..")


@pytest.mark.parametrize("name", ["", " ", "a/b", "..", "a" * 121, "a\\b", "what?", "\x07", "50%", "a#b"])
def test_names_of_collections(client: TestClient, name: str) -> None:
    reply = send(client, name, ("jam.txt", JAM))
    assert reply.status_code == 400 and "A collection needs a name" in reply.json()["error"]["message"]


def test_what_is_refused(serving: Callable[..., TestClient], tmp_path: Path) -> None:
    client = serving(upload_files=2, upload_bytes=2000)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("a.txt", "x" * 10_000_000)
    for name in ("a.zip", "a.exe", "a", "a.tar.gz", "a.gz", "a.pdf.gz", "a.txt.zip"):
        reply = send(client, "no", (name, packed.getvalue()[:100]))
        assert reply.status_code == 415 and "no readable type" in reply.json()["error"]["message"]
    assert send(client, "no", *[("a.txt", JAM)] * 3).status_code == 413
    assert send(client, "no", ("a.txt", b"x" * 3000)).status_code == 413
    assert client.post("/v1/indexes", data={"name": "no"}).status_code in (400, 415)
    assert client.post("/v1/indexes", files=[("files", ("a.txt", JAM))]).status_code == 400
    assert client.post("/v1/indexes", json={"name": "no"}).status_code == 415
    assert send(client, "no", ("x" * 50_000 + ".txt", JAM)).status_code in (400, 413)
    broken = {"Content-Type": "multipart/form-data; boundary=x"}
    assert client.post("/v1/indexes", content=b"--y\r\n", headers=broken).status_code == 400
    reply = send(client, "drinks", ("a.txt", JAM))
    assert reply.status_code == 400 and "was there when the server started" in reply.json()["error"]["message"]
    assert [row["name"] for row in client.get("/v1/indexes").json()["indexes"]] == ["drinks"]
    uploads = tmp_path / "home" / "uploads"
    assert not uploads.exists() or list(uploads.iterdir()) == []


def test_bombs_are_not_unpacked(serving: Callable[..., TestClient], tmp_path: Path) -> None:
    client = serving(unpacked_bytes=1 << 20)
    bomb = gzip.compress(b"a " * (8 << 20))
    assert len(bomb) < 100_000
    row = done(client, send(client, "bomb", ("notes.txt.gz", bomb)))
    assert row["state"] == "failed"
    assert row["message"] == (
        "notes.txt.gz unpacks to more than the 1 MB that an upload may have: "
        "split it, and upload the parts one after another."
    )
    assert [row["name"] for row in client.get("/v1/indexes").json()["indexes"]] == ["drinks"]
    swept(tmp_path)
    assert done(client, send(client, "fine", ("notes.txt.gz", gzip.compress(JAM))))["state"] == "done"


def test_files_that_cannot_be_read_are_told(client: TestClient) -> None:
    row = done(client, send(client, "some", ("bad.txt", b"\xff\xfe\xff"), ("worse.pdf", b"no pdf"), ("jam.txt", JAM)))
    assert row["state"] == "done" and row["message"].startswith("bad.txt") and "1 more could not" in row["message"]
    row = done(client, send(client, "none", ("worse.pdf", b"no pdf at all")))
    assert row["state"] == "failed" and "worse.pdf" in row["message"]
    row = done(client, send(client, "empty", ("empty.txt", b"")))
    assert row["state"] == "failed" and "no text" in row["message"] and "home" not in row["message"]


def test_a_job_of_a_process_that_died_is_taken_up(serving: Callable[..., TestClient], tmp_path: Path) -> None:
    """A job is left as a killed process leaves it: in the database, with its files, without its lock."""
    client = serving()
    jobs = client.app.state.engine.jobs  # type: ignore[attr-defined]
    jobs._submit = lambda job: None  # this process never gets to it
    job = send(client, "left", ("jam.txt", JAM)).json()["job"]
    assert client.get(f"/v1/jobs/{job}").json()["state"] == "running"
    assert client.get("/v1/indexes").json()["indexes"][1]["ready"] is False
    assert client.post("/v1/ask", json={"question": "x", "index": "left"}).status_code == 503
    with FileLock(tmp_path / "home" / "uploads" / f"{job}.lock"):
        other = serving()
        time.sleep(0.3)
        assert other.get(f"/v1/jobs/{job}").json()["stage"] == "waiting"  # somebody else holds it
    until(lambda: other.get(f"/v1/jobs/{job}").json()["state"] == "done")
    # Both processes see it.
    assert client.post("/v1/search", json={"question": "jam", "index": "left"}).json()["hits"]
    assert client.get(f"/v1/jobs/{job}").json()["state"] == "done"


def test_a_server_that_ends_leaves_its_jobs_to_the_next(serving: Callable[..., TestClient]) -> None:
    client = serving()
    engine = client.app.state.engine  # type: ignore[attr-defined]
    engine.jobs._stop.set()
    job = send(client, "later", ("jam.txt", JAM)).json()["job"]
    assert client.get(f"/v1/jobs/{job}").json()["state"] == "running"
    other = serving()
    until(lambda: other.get(f"/v1/jobs/{job}").json()["state"] == "done")


def test_what_a_killed_process_leaves_of_uploads_is_swept(serving: Callable[..., TestClient], tmp_path: Path) -> None:
    client = serving()
    over = send(client, "food", ("jam.txt", JAM)).json()["job"]
    until(lambda: client.get(f"/v1/jobs/{over}").json()["state"] == "done")
    swept(tmp_path)
    uploads = tmp_path / "home" / "uploads"
    for name in (over, "on its way", "given up"):
        (uploads / name).mkdir()
        (uploads / name / "000001").write_bytes(JAM)
    (uploads / f"{over}.lock").touch()
    yesterday = time.time() - 2 * 24 * 3600
    os.utime(uploads / "given up", (yesterday, yesterday))
    other = serving()
    assert [path.name for path in uploads.iterdir()] == ["on its way"]
    assert other.post("/v1/search", json={"question": "jam", "index": "food"}).json()["hits"]


def test_an_upload_that_fails_does_not_take_along_another_of_the_same_name(
    serving: Callable[..., TestClient], tmp_path: Path
) -> None:
    """Two processes have a file for the same new collection; one of the files cannot be read."""
    home = serving().app.state.engine.collections.home  # type: ignore[attr-defined]
    home.mkdir()
    with FileLock(home / f"{hashlib.sha256(b'food').hexdigest()[:20]}.turn"):
        bad, good = serving(), serving()
        replies = send(bad, "food", ("worse.pdf", b"no pdf")), send(good, "food", ("jam.txt", JAM))
        listed = [row["name"] for row in bad.get("/v1/indexes").json()["indexes"]]
        assert listed == ["drinks", "food"]
    states = [done(client, reply)["state"] for client, reply in zip((bad, good), replies, strict=True)]
    assert states == ["failed", "done"]
    for client in (bad, good):
        assert client.post("/v1/search", json={"question": "jam", "index": "food"}).json()["hits"]
    swept(tmp_path)


def test_an_upload_that_cannot_be_noted_leaves_no_collection(client: TestClient) -> None:
    with sqlite3.connect(client.app.state.engine.database.path) as connection:  # type: ignore[attr-defined]
        connection.execute("ALTER TABLE jobs RENAME TO gone")
    assert send(client, "food", ("jam.txt", JAM)).status_code == 500
    with sqlite3.connect(client.app.state.engine.database.path) as connection:  # type: ignore[attr-defined]
        connection.execute("ALTER TABLE gone RENAME TO jobs")
    assert [row["name"] for row in client.get("/v1/indexes").json()["indexes"]] == ["drinks"]


def test_an_uploaded_collection_can_be_deleted(client: TestClient) -> None:
    home = client.app.state.engine.collections.home  # type: ignore[attr-defined]
    done(client, send(client, "my food", ("jam.txt", JAM)))
    assert client.post("/v1/search", json={"question": "jam", "index": "my food"}).status_code == 200
    assert client.delete("/v1/indexes/my%20food").status_code == 204
    assert [row["name"] for row in client.get("/v1/indexes").json()["indexes"]] == ["drinks"]
    assert not [path for path in home.iterdir() if path.is_dir()]
    asked = client.post("/v1/search", json={"question": "jam", "index": "my food"})
    for again in (asked, client.delete("/v1/indexes/my food")):
        assert again.status_code == 404
        assert again.json()["error"]["message"] == "There is no collection 'my food'; there are: drinks."
    done(client, send(client, "my food", ("honey.md", HONEY)))
    hits = client.post("/v1/search", json={"question": "jam", "index": "my food"}).json()["hits"]
    assert [hit for hit in hits if hit["document"] == "jam.txt"] == []


def test_what_is_not_deleted(client: TestClient) -> None:
    given = client.delete("/v1/indexes/drinks")
    assert given.status_code == 409
    assert given.json()["error"]["message"] == "drinks was there when the server started, and is not deleted over HTTP."
    client.app.state.engine.jobs._submit = lambda job: None  # type: ignore[attr-defined]
    send(client, "food", ("jam.txt", JAM))
    busy = client.delete("/v1/indexes/food")
    assert busy.status_code == 409
    assert "'food' is being indexed: delete it once that is done." in busy.json()["error"]["message"]
    assert [row["name"] for row in client.get("/v1/indexes").json()["indexes"]] == ["drinks", "food"]


def test_asking_while_a_collection_is_deleted(client: TestClient) -> None:
    """Each reply is an answer, or says that the collection is not there: the server itself never fails."""
    seen: list[int] = []
    over = threading.Event()

    def ask() -> None:
        while not over.is_set():
            reply = client.post("/v1/search", json={"question": "jam", "index": "food", "rerank": False})
            seen.append(reply.status_code)

    asking = [threading.Thread(target=ask) for _ in range(2)]
    for thread in asking:
        thread.start()
    for _ in range(5):
        done(client, send(client, "food", ("jam.txt", JAM)))
        assert client.delete("/v1/indexes/food").status_code == 204
    over.set()
    for thread in asking:
        thread.join()
    assert set(seen) <= {200, 404, 503} and 200 in seen


def test_a_deletion_that_was_killed_is_finished(serving: Callable[..., TestClient]) -> None:
    client = serving()
    done(client, send(client, "food", ("jam.txt", JAM)))
    collections = client.app.state.engine.collections  # type: ignore[attr-defined]
    folder = collections.forget("food")
    serving()
    assert folder.is_dir()  # It may be one that is being made.
    yesterday = time.time() - 2 * 24 * 3600
    os.utime(folder, (yesterday, yesterday))
    serving()
    assert not folder.exists()


def test_the_page_is_told_what_can_be_uploaded(serving: Callable[..., TestClient]) -> None:
    given = serving(upload_files=3, upload_bytes=4000).get("/v1/indexes").json()["uploads"]
    assert given["files"] == 3 and given["bytes"] == 4000
    assert {".txt", ".md", ".pdf", ".jsonl.gz"} <= set(given["types"]) and ".pdf.gz" not in given["types"]
    assert document_names(f"a{suffix}" for suffix in given["types"])  # each of them is taken


def test_not_too_many_uploads_wait(serving: Callable[..., TestClient]) -> None:
    client = serving(waiting_jobs=1)
    client.app.state.engine.jobs._submit = lambda job: None  # type: ignore[attr-defined]
    assert send(client, "one", ("jam.txt", JAM)).status_code == 202
    reply = send(client, "two", ("jam.txt", JAM))
    assert reply.status_code == 429 and reply.headers["retry-after"] == "30"


def test_documents(client: TestClient) -> None:
    row = client.get("/v1/indexes/drinks/documents/a/milk.md").json()
    assert row["id"] == "a/milk.md" and "<script>" in row["text"] and row["marks"] == []
    for path in ("/v1/indexes/drinks/documents/none", "/v1/indexes/none/documents/tea.txt", "/v1/jobs/none"):
        reply = client.get(path)
        assert reply.status_code == 404 and reply.json()["error"]["message"].startswith(
            ("The collection", "There is no")
        )
