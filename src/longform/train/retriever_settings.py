"""How a retriever is trained: the settings, each of which the command line has an option for."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from longform.errors import InputError

__all__ = ["RetrieverSettings"]


@dataclass(frozen=True, slots=True)
class RetrieverSettings:
    """How to train; ``batch`` counts for the loss, ``mini_batch`` for the memory, lengths are in tokens.

    With ``titles`` an answer whose page is known stands after the page's title, as passages do in an index.

    >>> RetrieverSettings(batch=1).check()
    Traceback (most recent call last):
    longform.errors.InputError: batch must be at least 2, so that there is an answer to be told apart from, not 1.
    """

    epochs: float = 1.0
    batch: int = 512
    mini_batch: int = 32
    learning_rate: float = 1e-4
    weight_decay: float = 0.01
    warmup: float = 0.1
    scale: float = 20.0
    max_length: int = 128
    titles: bool = False
    train_embeddings: bool = False
    validation: float = 0.05
    looks: int = 4
    seed: int = 0

    def check(self) -> None:
        """Refuse what cannot be meant."""
        if self.batch < 2:
            raise InputError(
                f"batch must be at least 2, so that there is an answer to be told apart from, not {self.batch}."
            )
        for name, least in (("mini_batch", 1), ("looks", 1), ("max_length", 8)):
            if getattr(self, name) < least:
                raise InputError(f"{name.replace('_', ' ')} must be at least {least}, not {getattr(self, name)}.")
        for name in ("epochs", "learning_rate", "scale"):
            if not getattr(self, name) > 0:
                raise InputError(f"{name.replace('_', ' ')} must be above 0, not {getattr(self, name)}.")
        for name in ("validation", "warmup"):
            if not 0 <= getattr(self, name) < 1:
                raise InputError(f"{name} must be at least 0 and below 1, not {getattr(self, name)}.")

    def to_json(self) -> dict[str, Any]:
        """The fields as a JSON object."""
        return asdict(self)

    def rows(self, *without: str) -> list[list[object]]:
        """Name and value of each field for a card, but for those named."""
        fields = {name: value for name, value in self.to_json().items() if name not in without}
        return [
            [name.replace("_", " "), f"{value:g}" if isinstance(value, float) else value]
            for name, value in fields.items()
        ]
