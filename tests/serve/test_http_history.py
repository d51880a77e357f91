"""History, feedback, and what is learned from it."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import inspect
from starlette.testclient import TestClient

from longform.corpus import read_training_questions
from longform.errors import FailureError, InputError
from longform.serve.database import DATABASE, Database
from longform.serve.history import History, Rated
from longform.serve.migrations import STEPS, migrate
from longform.serve.tables import metadata
from longform.serve.training import training_questions


def asked(client: TestClient, question: str = "What is tea?") -> dict[str, Any]:
    row: dict[str, Any] = client.post("/v1/ask", json={"question": question}).json()
    return row


def test_the_history_is_newest_first_and_shared(serving: Callable[..., TestClient]) -> None:
    one, two = serving(), serving()
    first, second = asked(one), asked(two, "What is coffee?")
    items = one.get("/v1/history").json()["items"]
    assert [item["id"] for item in items] == [second["id"], first["id"]]
    assert items[1] == {
        "id": first["id"],
        "asked_at": items[1]["asked_at"],
        "index": "drinks",
        "question": "What is tea?",
        "answer": first["answer"],
        "rating": None,
    }
    assert items[1]["asked_at"].endswith("Z")
    assert len(one.get("/v1/history?limit=1").json()["items"]) == 1
    assert one.get(f"/v1/history/{second['id']}").json() == second
    assert one.get("/v1/history/none").status_code == 404
    assert one.get("/v1/history?limit=0").status_code == 400


def test_feedback_replaces_what_was_said_before(client: TestClient) -> None:
    row = asked(client)
    for rating in (1, -1):
        assert client.post("/v1/feedback", json={"answer_id": row["id"], "rating": rating}).status_code == 204
        assert client.get("/v1/history").json()["items"][0]["rating"] == rating
    assert client.post("/v1/feedback", json={"answer_id": "none", "rating": 1}).status_code == 404
    for rating in (0, 2, "1", None, True):
        reply = client.post("/v1/feedback", json={"answer_id": row["id"], "rating": rating})
        assert reply.status_code == (204 if rating is True else 400)


def test_clearing_keeps_what_was_rated_to_learn_from(client: TestClient) -> None:
    rated, other = asked(client), asked(client, "What is milk?")
    client.post("/v1/feedback", json={"answer_id": rated["id"], "rating": 1})
    assert client.delete("/v1/history").status_code == 204
    assert client.get("/v1/history").json()["items"] == []
    history: History = client.app.state.engine.history  # type: ignore[attr-defined]
    assert [one.id for one in history.rated()] == [rated["id"]]
    assert client.get(f"/v1/history/{other['id']}").status_code == 404
    client.delete("/v1/history?rated=true")
    assert list(history.rated()) == [] and history.count() == 0


def test_an_answer_that_cannot_be_kept_is_still_given(client: TestClient, tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "home" / DATABASE) as connection:
        connection.execute("ALTER TABLE answers RENAME TO gone")
    row = asked(client)
    assert row["answered"] and row["warnings"] == ["This answer could not be kept in the history."]


def test_migrations_give_the_tables(tmp_path: Path) -> None:
    database = Database(tmp_path / "new")
    found = inspect(database.reading)
    for table in metadata.sorted_tables:
        columns = {column["name"]: column for column in found.get_columns(table.name)}
        assert set(columns) == {column.name for column in table.columns}
        for column in table.columns:
            assert columns[column.name]["nullable"] == column.nullable
    assert migrate(database.writing) == 0
    with database.reading.connect() as connection:
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
        assert connection.exec_driver_sql("PRAGMA foreign_keys").scalar() == 1
    assert (tmp_path / "new" / DATABASE).stat().st_mode & 0o077 == 0


def test_an_old_database_is_brought_up_with_all_it_holds(tmp_path: Path) -> None:
    tmp_path.joinpath("old").mkdir()
    with sqlite3.connect(tmp_path / "old" / DATABASE) as connection:
        for statement in STEPS[0]:
            connection.execute(statement)
        connection.execute("CREATE TABLE version (step INTEGER NOT NULL)")
        connection.execute("INSERT INTO version VALUES (1)")
        row = ("id", "2024", "drinks", "Q?", None, "A.", 1, "extractive", "{}")
        connection.execute("INSERT INTO answers VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
    database = Database(tmp_path / "old")
    assert History(database).items(10)[0]["question"] == "Q?"


def test_a_step_that_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    database = Database(tmp_path)
    with pytest.raises(Exception, match="nonsense"):
        migrate(database.writing, (*STEPS, ("CREATE TABLE half (a TEXT)", "nonsense")))
    assert "half" not in inspect(database.reading).get_table_names()
    assert migrate(database.writing) == 0


def test_a_newer_database_is_refused(tmp_path: Path) -> None:
    database = Database(tmp_path)
    migrate(database.writing, (*STEPS, ("CREATE TABLE more (a TEXT)",)))
    with pytest.raises(InputError, match="was written by a newer Longform"):
        Database(tmp_path)


def test_a_file_that_is_no_database(tmp_path: Path) -> None:
    (tmp_path / DATABASE).write_bytes(b"this is not a database, is it?" * 100)
    with pytest.raises(FailureError, match=r"cannot be opened \(file is not a database\)"):
        Database(tmp_path)


def test_many_write_at_once(tmp_path: Path) -> None:
    databases = [Database(tmp_path) for _ in range(4)]

    def write(place: int) -> None:
        for number in range(25):
            row = {"id": f"{place}-{number}", "asked": "Q", "answer": "A", "answered": True, "model": "m"}
            History(databases[place]).keep("drinks", row)

    threads = [threading.Thread(target=write, args=(place,)) for place in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert History(databases[0]).count() == 100


def rated(id: str, question: str, rating: int, **options: Any) -> Rated:
    given: dict[str, Any] = {"answer": "Tea is hot [1][2].", "answered": True, "reason": "", "correction": ""}
    record = {
        "sentences": [{"citations": [2]}],
        "passages": [{"title": "Milk"}, {"title": "Tea"}],
        **options.pop("record", {}),
    }
    return Rated(id=id, question=question, rating=rating, record=record, **{**given, **options})


def test_what_is_learned_from() -> None:
    found = training_questions(
        [
            rated("1", "What is tea?", 1),
            rated("2", "what is Tea", -1, correction="Tea is a drink."),
            rated("3", "What is wine?", -1),
            rated("4", "What is beer?", 1, answered=False),
            rated("5", "Which drinks?", 1, record={"items": [{"text": "Tea", "aliases": ["Chai"]}]}),
        ]
    )
    assert found.left_out == 2
    tea, drinks = found.questions
    assert (tea.id, tea.question, tea.pages) == ("feedback-1", "What is tea?", ("Tea",))
    assert tea.long_answers == ("Tea is hot.", "Tea is a drink.")
    assert drinks.short_answers == (("Tea", "Chai"),) and drinks.long_answers == () and drinks.pages == ("Milk", "Tea")


def test_export(client: TestClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from click.testing import CliRunner

    from longform.cli.feedback import command

    home = str(tmp_path / "home")
    run = CliRunner()
    output = str(tmp_path / "qa.jsonl")
    nothing = run.invoke(command, ["export", "-o", output, "--home", home])
    assert isinstance(nothing.exception, InputError) and "was liked or corrected" in str(nothing.exception)
    missing = run.invoke(command, ["export", "-o", output, "--home", str(tmp_path / "none")])
    assert isinstance(missing.exception, InputError) and "holds no feedback" in str(missing.exception)
    folder = run.invoke(command, ["export", "-o", str(tmp_path), "--home", home])
    assert "is a folder" in str(folder.exception)
    good, bad = asked(client), asked(client, "What is milk?")
    client.post("/v1/feedback", json={"answer_id": good["id"], "rating": 1})
    client.post("/v1/feedback", json={"answer_id": bad["id"], "rating": -1, "reason": "wrong"})
    done = run.invoke(command, ["export", "-o", output, "--home", home])
    assert done.exit_code == 0 and "Wrote 1 question to" in done.output and "Left out 1 rating" in done.output
    (question,) = read_training_questions(output)
    assert question.question == "What is tea?" and "[" not in question.long_answers[0] and "Tea" in question.pages
    as_json = run.invoke(command, ["export", "-o", output, "--home", home, "--json"])
    assert '"left_out":1' in as_json.output
