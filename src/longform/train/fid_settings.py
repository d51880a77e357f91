"""The settings of a Fusion-in-Decoder reader's training."""

from __future__ import annotations

from dataclasses import dataclass

from longform.errors import InputError

__all__ = ["FidSettings"]


@dataclass(frozen=True, slots=True)
class FidSettings:
    """Everything that a trained Fusion-in-Decoder reader depends on beside its data and its base.

    >>> FidSettings(passages=0)
    Traceback (most recent call last):
    ...
    longform.errors.InputError: --passages must be 1 or more, not 0.
    """

    passages: int = 50
    """Passages of a question that are read: 50 in QAMPARI, 100 in the paper of the method."""
    max_length: int = 200
    """Tokens of a passage with its question and title."""
    answer_length: int = 200
    """Tokens of the list of answers."""
    epochs: int = 3
    batch: int = 1
    """Questions in a step; each has all its passages with it."""
    accumulate: int = 8
    """Steps whose gradients are added before the weights move."""
    learning_rate: float = 1e-4
    warmup: float = 0.1
    weight_decay: float = 0.01
    held_out: float = 0.1
    """Share of the questions that are only reported."""
    limit: int | None = None
    """Only so many questions, drawn at random: for trying a command out."""
    save_steps: int = 50
    seed: int = 0

    def __post_init__(self) -> None:
        least = {"passages": 1, "max_length": 16, "answer_length": 8, "epochs": 1, "batch": 1, "accumulate": 1}
        for name, value in {**least, "save_steps": 1}.items():
            if getattr(self, name) < value:
                raise InputError(f"--{name.replace('_', '-')} must be {value} or more, not {getattr(self, name)}.")
        if self.limit is not None and self.limit < 2:
            raise InputError(f"--limit must be 2 or more, to learn from one and report another, not {self.limit}.")
        if not 0 < self.learning_rate <= 1:
            raise InputError(f"--lr must be more than 0 and at most 1, not {self.learning_rate}.")
        if not 0 <= self.warmup <= 1 or not 0 <= self.weight_decay < 1:
            raise InputError("--warmup must lie between 0 and 1, and --weight-decay be at least 0 and below 1.")
        if not 0 < self.held_out < 1:
            raise InputError(f"--held-out must lie between 0 and 1, not {self.held_out:g}.")
