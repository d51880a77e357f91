"""What every answerer has in common."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from longform.records import Answer, Hit

__all__ = ["Answerer", "finish"]


class Answerer(Protocol):
    """Makes an answer to a question out of the passages that were found for it.

    ``name`` is what its answers carry as ``model``; ``wants`` is how many passages it makes use of.
    """

    @property
    def name(self) -> str: ...

    @property
    def wants(self) -> int: ...

    def stream(self, question: str, hits: Sequence[Hit]) -> Iterator[str | Answer]:
        """Pieces of the answer's text as they come, then the whole answer; the pieces together are its text."""
        ...

    def answer(self, question: str, hits: Sequence[Hit]) -> Answer:
        """The whole answer at once."""
        ...


def finish(parts: Iterator[str | Answer]) -> Answer:
    """The answer at the end of a stream."""
    found = [part for part in parts if isinstance(part, Answer)]
    assert len(found) == 1, "a stream ends with one answer"
    return found[0]
