"""The tables of the server's database, as the newest migration leaves them."""

from __future__ import annotations

from sqlalchemy import Boolean, Column, ForeignKey, Integer, MetaData, Table, Text

__all__ = ["answers", "collections", "feedback", "jobs", "metadata"]

metadata = MetaData()

answers = Table(
    "answers",
    metadata,
    Column("id", Text, primary_key=True),
    Column("asked_at", Text, nullable=False, index=True),
    Column("index_name", Text, nullable=False),
    Column("question", Text, nullable=False),
    Column("understood_as", Text),
    Column("answer", Text, nullable=False),
    Column("answered", Boolean, nullable=False),
    Column("model", Text, nullable=False),
    Column("record", Text, nullable=False),
    Column("hidden", Boolean, nullable=False),
)

feedback = Table(
    "feedback",
    metadata,
    Column("answer_id", Text, ForeignKey("answers.id", ondelete="CASCADE"), primary_key=True),
    Column("rating", Integer, nullable=False),
    Column("reason", Text, nullable=False),
    Column("correction", Text, nullable=False),
    Column("given_at", Text, nullable=False),
)

collections = Table(
    "collections",
    metadata,
    Column("name", Text, primary_key=True),
    Column("folder", Text, nullable=False, unique=True),
    Column("created_at", Text, nullable=False),
)

jobs = Table(
    "jobs",
    metadata,
    Column("id", Text, primary_key=True),
    Column("name", Text, nullable=False),
    Column("state", Text, nullable=False, index=True),
    Column("stage", Text, nullable=False),
    Column("done", Integer, nullable=False),
    Column("total", Integer),
    Column("message", Text),
    Column("files", Text, nullable=False),
    Column("dense", Boolean, nullable=False),
    Column("created_at", Text, nullable=False),
    Column("updated_at", Text, nullable=False),
)
