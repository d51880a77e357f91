"""Answers that another program has given, as a system."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from longform.data.dataset import Dataset
from longform.data.example import Example
from longform.data.values import list_of, read_values, text_of, whole_value
from longform.errors import InputError
from longform.records import Passage
from longform.score.citations import remove_citations
from longform.study.systems.protocol import Outcome, Said, System
from longform.study.systems.settings import Settings
from longform.study.systems.tools import Tools

__all__ = ["Stored"]


@dataclass(frozen=True, kw_only=True)
class Stored(Settings):
    """Answers out of a file: rows of ``id``, ``answer`` (or ``output``) and, at choice, ``passages`` (or ``docs``).

    A file that ends in ``.json`` may be one object from ids to answers.
    """

    kind: ClassVar[str] = "stored"
    row: ClassVar[str] = "any system whose answers are published"

    file: str | None = None

    def __post_init__(self) -> None:
        if self.file is None:
            raise InputError("it needs a file of answers: set file.")

    def check(self, tools: Tools, dataset: Dataset) -> None:
        found = self._outcomes(tools)
        missing = [example.id for example in dataset if example.id not in found]
        if missing:
            more = f" and to {len(missing) - 1:,} more" if len(missing) > 1 else ""
            raise InputError(f"{self.file} has no answer to the question {missing[0]}{more}.")

    def open(self, tools: Tools, task: str) -> System:  # noqa: ARG002
        assert self.file is not None
        return _Answers(self.file, self._outcomes(tools))

    def _outcomes(self, tools: Tools) -> dict[str, Outcome]:
        assert self.file is not None
        path = str(tools.place(self.file))
        return tools.once(("stored", path), lambda: _read(path))


@dataclass(frozen=True)
class _Answers:
    file: str
    outcomes: Mapping[str, Outcome]

    def answer(self, example: Example) -> Outcome:
        if example.id not in self.outcomes:
            raise InputError(f"{self.file} has no answer to the question {example.id}.")
        return self.outcomes[example.id]


def _read(path: str) -> dict[str, Outcome]:
    if path.endswith((".json", ".json.gz")):
        value = whole_value(path)
        if isinstance(value, dict) and all(isinstance(text, str) for text in value.values()):
            return {key: Outcome((_said(text),)) for key, text in value.items()}
    found: dict[str, Outcome] = {}
    for where, _, row in read_values(path):
        if not isinstance(row, dict) or row.get("id") is None:
            raise InputError(f"{where}: a stored answer needs an id, an answer, and at choice passages.")
        field = "answer" if "answer" in row and "output" not in row else "output"
        answer = row.get(field)
        if not isinstance(answer, str):
            raise InputError(f"{where}: there is no answer, which may be empty but must be a string.")
        passages = tuple(
            _passage(one, f"{row['id']}-{place}", where)
            for place, one in enumerate(list_of(row, "passages" if "passages" in row else "docs", where), 1)
        )
        if str(row["id"]) in found:
            raise InputError(f"{where}: there is an answer to the question {row['id']} already.")
        found[str(row["id"])] = Outcome((_said(answer),), passages, passages)
    return found


def _said(text: str) -> Said:
    plain = remove_citations(text)
    return Said(plain, cited=text if text != plain else "")


def _passage(row: Any, identifier: str, where: str) -> Passage:
    text = text_of(row, "text", where)
    return Passage(str(row.get("id") or identifier), identifier, str(row.get("title") or ""), text, 0, len(text))
