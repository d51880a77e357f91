"""The settings of re-ranker training."""

from __future__ import annotations

import math
from dataclasses import dataclass

from longform.errors import InputError

__all__ = ["HEADS", "LOSSES", "RerankerSettings"]

LOSSES = ("bce", "list")
HEADS = ("similarity", "cls")


@dataclass(frozen=True, slots=True)
class RerankerSettings:
    """How to train; the defaults are the paper's, but for ``head``, ``max_length`` and what only a CPU asks for."""

    loss: str = "bce"
    graded: bool = False
    positives: int = 5
    negatives: int = 50
    hard: float = 0.0
    epochs: float = 1.0
    batch: int = 16
    learning_rate: float = 1e-5
    weight_decay: float = 0.01
    warmup: float = 0.04
    head: str = "similarity"
    layers: tuple[int, ...] = ()
    max_length: int = 256
    question_tokens: int = 40
    title_tokens: int = 24
    train_embeddings: bool = False
    teacher_lift: float = 1.0
    validation: float = 0.05
    split_seed: int = 0
    validation_questions: int = 100
    looks: int = 4
    seed: int = 0

    def check(self) -> None:
        """Refuse what cannot be meant."""
        if self.loss not in LOSSES:
            raise InputError(f"There is no loss {self.loss}: choose {' or '.join(LOSSES)}.")
        if self.head not in HEADS:
            raise InputError(f"There is no head {self.head}: choose {' or '.join(HEADS)}.")
        for name in ("positives", "negatives", "batch", "looks", "validation_questions", "question_tokens"):
            if getattr(self, name) < 1:
                raise InputError(f"{name.replace('_', ' ')} must be at least 1, not {getattr(self, name)}.")
        for name in ("epochs", "learning_rate"):
            if not 0 < getattr(self, name) < math.inf:
                raise InputError(f"{name.replace('_', ' ')} must be above 0 and finite, not {getattr(self, name)}.")
        for name in ("validation", "warmup"):
            if not 0 <= getattr(self, name) < 1:
                raise InputError(f"{name} must be at least 0 and below 1, not {getattr(self, name)}.")
        if not 0 <= self.hard <= 1:
            raise InputError(f"hard must be from 0 to 1, not {self.hard}.")
        if self.max_length < self.question_tokens + self.title_tokens + 16:
            least = self.question_tokens + self.title_tokens + 16
            raise InputError(
                f"max length must be at least {least}: less leaves no text beside --question-tokens and --title-tokens."
            )
