"""What a system is to a study: from an example to what is said of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from longform.data.example import Example
from longform.records import Passage

__all__ = ["Outcome", "Said", "System"]


@dataclass(frozen=True, slots=True)
class Said:
    """An answer, without citations, and which of the gold long answers it is compared with (``None``: all).

    ``cited`` is the same answer with its citations, where the system gives any.
    """

    text: str
    references: tuple[int, ...] | None = None
    cited: str = ""

    def to_json(self) -> dict[str, Any]:
        """The answer as a JSON object; what is empty is left out."""
        row: dict[str, Any] = {"text": self.text}
        if self.references is not None:
            row["references"] = list(self.references)
        if self.cited:
            row["cited"] = self.cited
        return row


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a system made of an example.

    There is one answer, or several that are scored each by itself and then averaged. ``passages`` are those that the
    answer was made from, ``ranking`` all that were found, best first. ``items`` are the members of an answer that is
    a list. ``note`` holds what else a reader of the run may ask for, as plain JSON values.
    """

    answers: tuple[Said, ...]
    passages: tuple[Passage, ...] = ()
    ranking: tuple[Passage, ...] = ()
    items: tuple[str, ...] | None = None
    model: str = ""
    warnings: tuple[str, ...] = ()
    seconds: Mapping[str, float] = field(default_factory=dict)
    note: Mapping[str, Any] = field(default_factory=dict)


class System(Protocol):
    """Answers one example after the other; what it says of one does not depend on those before."""

    def answer(self, example: Example) -> Outcome: ...
