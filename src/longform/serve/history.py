"""What was asked, what was answered, and what people thought of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import orjson
from sqlalchemy import and_, delete, exists, func, insert, select, update
from sqlalchemy.dialects.sqlite import insert as upsert

from longform.serve.database import Database, now
from longform.serve.tables import answers, feedback

__all__ = ["History", "Rated"]


@dataclass(frozen=True, slots=True)
class Rated:
    """An answer that somebody rated; ``record`` is the whole answer as JSON."""

    id: str
    question: str
    answer: str
    answered: bool
    rating: int
    reason: str
    correction: str
    record: dict[str, Any]


class History:
    """The history and the feedback in the database; all processes of a server share it."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def keep(self, index: str, record: dict[str, Any]) -> None:
        """Keep an answer: ``record`` is what its client gets."""
        row = {
            "id": record["id"],
            "asked_at": now(),
            "index_name": index,
            "question": record["asked"],
            "understood_as": record.get("understood_as"),
            "answer": record["answer"],
            "answered": record["answered"],
            "model": record["model"],
            "record": orjson.dumps(record).decode(),
            "hidden": False,
        }
        with self._database.writing.begin() as connection:
            connection.execute(insert(answers), row)

    def record(self, answer_id: str) -> dict[str, Any] | None:
        """The whole answer with an id."""
        with self._database.reading.begin() as connection:
            found = connection.execute(select(answers.c.record).where(answers.c.id == answer_id)).scalar()
        if found is None:
            return None
        row: dict[str, Any] = orjson.loads(found)
        return row

    def rate(self, answer_id: str, rating: int, reason: str, correction: str) -> bool:
        """Keep what somebody thinks of an answer, in place of what was said before; false where there is none."""
        said = {"rating": rating, "reason": reason, "correction": correction, "given_at": now()}
        with self._database.writing.begin() as connection:
            if not connection.execute(select(exists().where(answers.c.id == answer_id))).scalar():
                return False
            new = upsert(feedback).values(answer_id=answer_id, **said)
            connection.execute(new.on_conflict_do_update(index_elements=["answer_id"], set_=said))
        return True

    def items(self, limit: int) -> list[dict[str, Any]]:
        """The newest answers, newest first."""
        columns = {
            "id": answers.c.id,
            "asked_at": answers.c.asked_at,
            "index": answers.c.index_name,
            "question": answers.c.question,
            "answer": answers.c.answer,
            "rating": feedback.c.rating,
        }
        query = (
            select(*columns.values())
            .outerjoin(feedback, feedback.c.answer_id == answers.c.id)
            .where(answers.c.hidden.is_(False))
            .order_by(answers.c.asked_at.desc(), answers.c.id)
            .limit(limit)
        )
        with self._database.reading.begin() as connection:
            return [dict(zip(columns, row, strict=True)) for row in connection.execute(query)]

    def clear(self, *, rated: bool = False) -> None:
        """Empty the list. What was rated is still there to learn from, unless ``rated`` says that it goes too."""
        has_rating = exists().where(feedback.c.answer_id == answers.c.id)
        with self._database.writing.begin() as connection:
            if rated:
                connection.execute(delete(answers))
            else:
                connection.execute(delete(answers).where(~has_rating))
                connection.execute(update(answers).where(has_rating).values(hidden=True))

    def rated(self) -> Iterator[Rated]:
        """Every answer with a rating, oldest first."""
        query = (
            select(answers, feedback.c.rating, feedback.c.reason, feedback.c.correction)
            .join(feedback, and_(feedback.c.answer_id == answers.c.id))
            .order_by(answers.c.asked_at, answers.c.id)
        )
        with self._database.reading.begin() as connection:
            rows = connection.execute(query).mappings().all()
        for row in rows:
            yield Rated(
                row["id"],
                row["understood_as"] or row["question"],
                row["answer"],
                row["answered"],
                row["rating"],
                row["reason"],
                row["correction"],
                orjson.loads(row["record"]),
            )

    def count(self) -> int:
        """How many answers are kept."""
        with self._database.reading.begin() as connection:
            return int(connection.execute(select(func.count()).select_from(answers)).scalar_one())
