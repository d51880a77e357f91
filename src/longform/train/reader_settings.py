"""The settings of a reader's training."""

from __future__ import annotations

from dataclasses import dataclass

from longform.errors import InputError
from longform.models.heads import SHORTEST

__all__ = ["ReaderSettings"]


@dataclass(frozen=True, slots=True)
class ReaderSettings:
    """Everything that a trained reader depends on beside its data and its base."""

    epochs: int = 3
    batch: int = 16
    learning_rate: float = 1e-4
    warmup: float = 0.1
    weight_decay: float = 0.01
    max_length: int = 256
    """Tokens of a window, question and text together."""
    stride: int = 64
    """Tokens of the text that a window repeats of the one before it."""
    question_length: int = 64
    """Tokens of a question that count."""
    layers: tuple[int, ...] | None = None
    """Which layers of the base are kept; all without it."""
    train_embeddings: bool = False
    """Whether the word table learns too."""
    held_out: float = 0.15
    """Share of the articles for validation, and again for the test."""
    limit: int | None = None
    """Only so many questions of each part, drawn at random: for trying a command out."""
    save_steps: int = 100
    seed: int = 0

    def __post_init__(self) -> None:
        for name, least in (("epochs", 1), ("batch", 1), ("max_length", SHORTEST), ("stride", 0), ("save_steps", 1)):
            if getattr(self, name) < least:
                raise InputError(f"--{name.replace('_', '-')} must be {least} or more, not {getattr(self, name)}.")
        if self.question_length < 1 or (self.limit is not None and self.limit < 1):
            raise InputError("--question-length and --limit must be 1 or more.")
        if not 0 < self.learning_rate <= 1:
            raise InputError(f"--lr must be more than 0 and at most 1, not {self.learning_rate}.")
        if not 0 <= self.warmup <= 1 or not 0 <= self.weight_decay < 1:
            raise InputError("--warmup must lie between 0 and 1, and --weight-decay be at least 0 and below 1.")
