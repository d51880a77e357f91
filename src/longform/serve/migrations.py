"""How the database came to its present form: numbered steps, each run once, in order, whole or not at all.

A step that was released is never changed; a new form is a new step at the end.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, Engine, text

from longform.errors import InputError

__all__ = ["STEPS", "migrate", "version_of"]

Step = Sequence[str]

STEPS: tuple[Step, ...] = (
    (  # 1: what was asked and answered, and what people thought of it
        "CREATE TABLE answers (id TEXT NOT NULL PRIMARY KEY, asked_at TEXT NOT NULL, index_name TEXT NOT NULL, "
        "question TEXT NOT NULL, understood_as TEXT, answer TEXT NOT NULL, answered BOOLEAN NOT NULL, "
        "model TEXT NOT NULL, record TEXT NOT NULL)",
        "CREATE INDEX ix_answers_asked_at ON answers (asked_at)",
        "CREATE TABLE feedback (answer_id TEXT NOT NULL PRIMARY KEY REFERENCES answers (id) ON DELETE CASCADE, "
        "rating INTEGER NOT NULL, reason TEXT NOT NULL, correction TEXT NOT NULL, given_at TEXT NOT NULL)",
    ),
    (  # 2: collections that were uploaded, and their indexing
        "CREATE TABLE collections (name TEXT NOT NULL PRIMARY KEY, folder TEXT NOT NULL UNIQUE, "
        "created_at TEXT NOT NULL)",
        "CREATE TABLE jobs (id TEXT NOT NULL PRIMARY KEY, name TEXT NOT NULL, state TEXT NOT NULL, "
        "stage TEXT NOT NULL, done INTEGER NOT NULL, total INTEGER, message TEXT, files TEXT NOT NULL, "
        "dense BOOLEAN NOT NULL, created_at TEXT NOT NULL, updated_at TEXT NOT NULL)",
        "CREATE INDEX ix_jobs_state ON jobs (state)",
    ),
    (  # 3: clearing the history takes rated answers out of the list, and leaves them to learn from
        "ALTER TABLE answers ADD COLUMN hidden BOOLEAN NOT NULL DEFAULT 0",
    ),
)


def version_of(connection: Connection) -> int:
    """How many steps the database has seen."""
    connection.execute(text("CREATE TABLE IF NOT EXISTS version (step INTEGER NOT NULL)"))
    found = connection.execute(text("SELECT max(step) FROM version")).scalar()
    return int(found or 0)


def migrate(engine: Engine, steps: Sequence[Step] = STEPS) -> int:
    """Run the steps that the database has not seen; how many there were. ``engine`` must begin by locking.

    Two processes that start at once wait for each other: the second finds nothing left to do.
    """
    with engine.begin() as connection:
        before = version_of(connection)
        if before > len(steps):
            raise InputError(
                f"{engine.url.database} was written by a newer Longform (step {before}, this one knows {len(steps)}): "
                "use that one, or another --home."
            )
        for number, step in enumerate(steps[before:], before + 1):
            for statement in step:
                connection.execute(text(statement))
            connection.execute(text("INSERT INTO version (step) VALUES (:step)"), {"step": number})
        return len(steps) - before
