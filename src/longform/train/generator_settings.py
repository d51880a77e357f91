"""The settings of a writer's fine-tuning."""

from __future__ import annotations

import math
from dataclasses import dataclass

from longform.answer.prompts import STYLES
from longform.errors import InputError

__all__ = ["PRECISIONS", "GeneratorSettings"]

# What the weights of the written folder are kept in.
PRECISIONS = ("fp32", "fp16", "bf16")


@dataclass(frozen=True, slots=True)
class GeneratorSettings:
    """Everything that a fine-tuned writer depends on beside its data and its base.

    One epoch and five passages are the paper's (Christmann et al., 2024, section 3.1); the paper tunes all weights of a
    13B model, here low-rank additions to them are learnt (Hu et al., 2022, "LoRA").
    """

    k: int = 5
    """Passages in a prompt."""
    pool: int = 100
    """Candidates that the first stage finds, for the re-ranker."""
    prompt: str = "instruct"
    """Which of the run-time's prompts (:data:`longform.answer.prompts.STYLES`)."""
    best_last: bool = False
    """Whether the best passage stands next to the question."""
    cite: bool | None = None
    """Whether the answers that are learnt carry citations; without it they do where the prompt asks for them."""
    epochs: float = 1.0
    batch: int = 8
    """Answers of a step."""
    mini_batch: int = 1
    """Answers that are computed at once; a step adds up their gradients."""
    learning_rate: float = 2e-4
    warmup: float = 0.05
    weight_decay: float = 0.0
    rank: int = 16
    """Rank of the additions to each weight matrix."""
    alpha: int = 32
    """The additions are scaled by alpha / rank."""
    dropout: float = 0.05
    max_length: int = 2048
    """Tokens of a prompt and its answer; passages are cut to stay within it, answers never."""
    validation: float = 0.05
    split_seed: int = 0
    validation_questions: int = 50
    """The most held-out questions that are looked at."""
    looks: int = 4
    """Checkpoints, each with its held-out loss; the best is kept."""
    seed: int = 0

    @property
    def cites(self) -> bool:
        """Whether the answers that are learnt carry citations."""
        return self.prompt == "instruct" if self.cite is None else self.cite

    def check(self) -> None:
        """Refuse what cannot be meant."""
        if self.prompt not in STYLES:
            raise InputError(f"There is no prompt {self.prompt}: choose {' or '.join(STYLES)}.")
        for name in ("k", "pool", "batch", "mini_batch", "rank", "alpha", "looks", "validation_questions"):
            if getattr(self, name) < 1:
                raise InputError(f"{name.replace('_', ' ')} must be at least 1, not {getattr(self, name)}.")
        for name in ("epochs", "learning_rate"):
            if not 0 < getattr(self, name) < math.inf:
                raise InputError(f"{name.replace('_', ' ')} must be above 0 and finite, not {getattr(self, name)}.")
        for name in ("validation", "warmup", "dropout"):
            if not 0 <= getattr(self, name) < 1:
                raise InputError(f"{name} must be at least 0 and below 1, not {getattr(self, name)}.")
        if not self.weight_decay >= 0:
            raise InputError(f"weight decay must not be negative, and {self.weight_decay} is.")
        if self.pool < self.k:
            raise InputError(f"A pool of {self.pool} is too small to choose {self.k} passages from: raise --pool.")
        if self.batch % self.mini_batch:
            raise InputError(
                f"batch must be a multiple of mini batch, and {self.batch} is none of {self.mini_batch}: change one."
            )
        if self.max_length < 64:
            raise InputError(f"max length must be at least 64 tokens, not {self.max_length}.")
