"""What every language model has in common, wherever it runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from longform.errors import FailureError

__all__ = ["BrokenStreamError", "LanguageModel", "Message"]


@dataclass(frozen=True, slots=True)
class Message:
    """A turn of a conversation: ``role`` is "system", "user" or "assistant".

    >>> Message("user", "Who sang?").to_json()
    {'role': 'user', 'content': 'Who sang?'}
    """

    role: str
    content: str

    def to_json(self) -> dict[str, str]:
        """The message as chat endpoints take it."""
        return {"role": self.role, "content": self.content}


class LanguageModel(Protocol):
    """Goes on with a conversation.

    ``name`` is what answers carry as their model; ``context`` is how many tokens prompt and answer have together.
    """

    @property
    def name(self) -> str: ...

    @property
    def context(self) -> int: ...

    def count(self, text: str) -> int:
        """How many tokens a text is; an estimate on the safe side where the model's tokenizer is out of reach."""
        ...

    def generate(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int,
        temperature: float = 0.0,
        seed: int = 0,
        stop: Sequence[str] = (),
    ) -> Iterator[str]:
        """The answer in pieces, as they come; closing the iterator ends the writing.

        With a temperature of 0 the likeliest token is taken each time. ``stop`` are strings that end the answer and
        are no part of it. A model that fails after its first piece raises :class:`BrokenStreamError`.
        """
        ...


class BrokenStreamError(FailureError):
    """A language model failed in the middle of its answer: what it wrote so far has been given out, and stays good."""
