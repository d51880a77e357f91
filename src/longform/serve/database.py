"""The server's database: SQLite with a write-ahead log, so that several processes read while one writes."""

from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event
from sqlalchemy.exc import DBAPIError

from longform.errors import FailureError, reason_of
from longform.serve.migrations import migrate

__all__ = ["DATABASE", "Database", "now"]

DATABASE = "longform.db"
# How long a writer waits for another.
BUSY_MILLISECONDS = 10_000


def now() -> str:
    """The time in UTC, so that times sort as text."""
    return datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Database:
    """``reading`` and ``writing`` are the same database; the second takes the write lock as it begins.

    A transaction that reads first and locks when it writes can find that another wrote in between, and fails.
    """

    def __init__(self, home: Path) -> None:
        self.path = home / DATABASE
        try:
            home.mkdir(parents=True, exist_ok=True, mode=0o700)
            self.reading = create_engine(URL.create("sqlite", database=str(self.path)))
            event.listen(self.reading, "connect", _connected)
            event.listen(self.reading, "begin", _begun)
            self.writing: Engine = self.reading.execution_options(writes=True)
            migrate(self.writing)
            # Questions are nobody else's business.
            self.path.chmod(0o600)
        except OSError as error:
            raise FailureError(f"{home} cannot be written ({reason_of(error)}).") from error
        except DBAPIError as error:
            raise FailureError(f"{self.path} cannot be opened ({str(error.orig).lower()}).") from error

    def close(self) -> None:
        """Let go of the file."""
        self.reading.dispose()


def _connected(connection: Any, _record: Any) -> None:
    # The driver's own idea of when transactions begin is switched off: _begun says it.
    connection.isolation_level = None
    for pragma in (
        f"busy_timeout = {BUSY_MILLISECONDS}",
        "journal_mode = WAL",
        "synchronous = NORMAL",
        "foreign_keys = ON",
    ):
        connection.execute(f"PRAGMA {pragma}")


def _begun(connection: Connection) -> None:
    writes = connection.get_execution_options().get("writes")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
