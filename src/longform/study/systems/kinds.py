"""The kinds of systems by name, and a system as a study names it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from longform.errors import InputError
from longform.study.dataset_spec import DatasetSpec
from longform.study.systems.answering import Extractive, OpenBook
from longform.study.systems.closed_book import ClosedBook
from longform.study.systems.copying import Question, RandomAnswer
from longform.study.systems.gold import Gold, Human
from longform.study.systems.oracle import Oracle
from longform.study.systems.passages import Bm25, Dense, Diverse, Hybrid, Reranked
from longform.study.systems.protocol import System
from longform.study.systems.settings import Settings, settings_from
from longform.study.systems.stored import Stored
from longform.study.systems.tools import Tools
from longform.study.systems.training_answers import TrainingAnswer

__all__ = ["DEFAULTS", "KINDS", "SystemSpec"]

KINDS: Mapping[str, type[Settings]] = {
    kind.kind: kind
    for kind in (
        Question,
        RandomAnswer,
        Bm25,
        Dense,
        Hybrid,
        Reranked,
        Diverse,
        ClosedBook,
        OpenBook,
        Oracle,
        Human,
        Gold,
        TrainingAnswer,
        Extractive,
        Stored,
    )
}

# What a study may set once for all of its systems.
DEFAULTS = ("index", "train", "model", "reader", "rerank")

_NAME = re.compile(r"[\w][\w@.+=-]*")
# Settings that name files: what they hold decides a run, not what they are called.
_FILES = (*DEFAULTS, "file", "encoder")


@dataclass(frozen=True)
class SystemSpec:
    """A system of a study: its name, which is also that of its folder, and its settings.

    >>> SystemSpec.parse("bm25@5", {"index": "my.index"}, Path(".")).settings
    Bm25(index='my.index', k=5, depth=100)
    """

    name: str
    settings: Settings

    @classmethod
    def parse(cls, value: Any, defaults: Mapping[str, Any], base: Path) -> SystemSpec:
        """From a study file: a kind, ``kind@k``, or a table with ``kind``, its settings, and at choice a ``name``."""
        table = _short(value) if isinstance(value, str) else value
        if not isinstance(table, Mapping) or not isinstance(table.get("kind"), str):
            raise InputError(f'A system is a kind, such as "bm25@5", or a table with its kind, not {value!r}.')
        kind = KINDS.get(table["kind"])
        if kind is None:
            close = get_close_matches(table["kind"], KINDS, 1, 0.5)
            meant = f"did you mean {close[0]}?" if close else f"there are {', '.join(KINDS)}."
            raise InputError(f"There is no kind of system {table['kind']}: {meant}")
        given = {key: found for key, found in table.items() if key not in ("kind", "name")}
        known = {field.name for field in fields(kind)}
        settings = {key: found for key, found in defaults.items() if key in known} | given
        if "train" in settings and not isinstance(settings["train"], DatasetSpec):
            settings["train"] = DatasetSpec.parse(settings["train"], base, split="train")
        made = settings_from(kind, settings, str(table.get("name") or table["kind"]))
        name = table.get("name") or made.label
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise InputError(
                f"The name {name!r} of a system cannot be that of a folder: use letters, digits and @.+=-_."
            )
        return cls(name, made)

    def open(self, tools: Tools, task: str) -> System:
        """The system, ready to answer."""
        return self.settings.open(tools, task)

    def to_json(self) -> dict[str, Any]:
        """Kind and settings as plain values, those that are not set left out."""
        found = {field.name: getattr(self.settings, field.name) for field in fields(self.settings)}
        row = {"kind": self.settings.kind}
        for name, value in found.items():
            if isinstance(value, DatasetSpec):
                row[name] = value.label if value.split is None else f"{value.label}, {value.split}"
            elif value is not None:
                row[name] = value
        return row

    def identity(self, tools: Tools) -> dict[str, Any]:
        """What decides the answers: the settings, with the hash of every file in place of its name."""
        row: dict[str, Any] = {"kind": self.settings.kind}
        for field in fields(self.settings):
            value = getattr(self.settings, field.name)
            if field.name in _FILES and value is not None:
                row[field.name] = tools.fingerprint(field.name, value) or value
            elif value is not None:
                row[field.name] = value
        return row


def _short(value: str) -> dict[str, Any]:
    kind, at, k = value.partition("@")
    if at and not k.isdigit():
        raise InputError(f"{value} names no system: behind the @ stands how many passages, as in bm25@5.")
    if at and kind in KINDS and "k" not in {field.name for field in fields(KINDS[kind])}:
        raise InputError(f"{value} names no system: a {kind} has no k.")
    return {"kind": kind, **({"k": int(k)} if at else {})}
