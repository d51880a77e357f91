"""How good a reader is, in torch or as it ships: the same windows and the same rules, whatever runs the model."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from longform.errors import FailureError
from longform.models.heads import Head
from longform.models.reader import Reader
from longform.score.report import Report
from longform.train.squad import SquadExample
from longform.train.squad_score import Threshold, best_threshold, score_squad

__all__ = ["LEAST_AGREEMENT", "Reading", "agreement", "check_agreement", "read_examples", "torch_reader"]

# The share of test questions that the exported reader must answer as the one in torch does.
LEAST_AGREEMENT = 0.9

# Tokens that torch reads at a time: about ten windows, which keeps all cores busy.
BATCH_TOKENS = 2048


@dataclass(frozen=True)
class Reading:
    """What a reader says to each question when it must answer, and how much it rather would not."""

    examples: Sequence[SquadExample]
    answers: dict[str, str]
    null_odds: dict[str, float]
    """Score of "no answer" less that of the answer, in logits."""

    def best(self) -> Threshold:
        """The threshold with the best F1 on these questions, rounded up so that its own question is answered.

        Where it is best never to answer, it lies below all odds; the official search leaves it at 0, which is that
        for probabilities, and not for logits.
        """
        found = best_threshold(self.examples, self.answers, self.null_odds)
        if found.score <= 100 * sum(not example.answers for example in self.examples) / len(self.examples):
            return found._replace(threshold=math.floor(min(self.null_odds.values())) - 1.0)
        return found._replace(threshold=math.ceil(found.threshold * 10_000) / 10_000)

    def final(self, threshold: float) -> dict[str, str]:
        """The answers, empty where "no answer" is ahead by more than the threshold."""
        return {key: "" if self.null_odds[key] > threshold else text for key, text in self.answers.items()}

    def score(self, threshold: float) -> Report:
        """SQuAD's scores at a threshold."""
        return score_squad(self.examples, self.final(threshold))


def read_examples(
    reader: Reader,
    examples: Sequence[SquadExample],
    batch_tokens: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> Reading:
    """Put every question to a reader that must answer."""
    forced = replace(reader, null_threshold=math.inf)
    pairs = [(example.question, example.context) for example in examples]
    found = forced.read(pairs, batch_tokens=batch_tokens, progress=progress)
    named = list(zip(examples, found, strict=True))
    return Reading(
        examples,
        {example.id: answer.text for example, answer in named},
        {example.id: answer.null_score - answer.score for example, answer in named},
    )


def agreement(first: dict[str, str], second: dict[str, str]) -> float:
    """The share of the first one's questions to which two readers give the very same answer.

    >>> agreement({"1": "tea", "2": ""}, {"1": "tea", "2": "milk"})
    0.5
    """
    return sum(first[key] == second[key] for key in first) / max(len(first), 1)


def check_agreement(share: float, out: Path, int8: bool) -> None:
    """Refuse a reader that lost too much on its way out of torch."""
    if share < LEAST_AGREEMENT:
        mend = "train it with --fp32, which goes on from the trained weights" if int8 else "this is a fault of Longform"
        raise FailureError(
            f"The exported reader gives the same answer as the one in torch to only {100 * share:.1f} % of the test "
            f"questions, so {out} was not written: {mend}."
        )


class _TorchSession:
    """A torch model in the place of an onnxruntime session."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def run(self, outputs: Sequence[str], feed: dict[str, NDArray[np.int64]]) -> list[NDArray[np.float32]]:
        import torch

        training = self.model.training
        self.model.eval()
        with torch.inference_mode():
            given = {name: torch.from_numpy(value).to(self.model.device) for name, value in feed.items()}
            found = self.model(**given)
        self.model.train(training)
        return [getattr(found, name).float().cpu().numpy() for name in outputs]


def torch_reader(model: Any, folder: Path, max_length: int, inputs: Sequence[str], padding: int) -> Reader:
    """A reader that runs a torch model, with the tokenizer in ``folder``."""
    head = Head(
        name=folder.name,
        folder=folder,
        model=folder / "model.safetensors",
        max_length=max_length,
        fingerprint="",
        # One batch at a time: torch itself uses all cores.
        threads=1,
        config={"pad_token_id": padding, "type_vocab_size": 2 if "token_type_ids" in inputs else 1},
        outputs={"start_logits": (), "end_logits": ()},
        _session=_TorchSession(model),
        _inputs=dict.fromkeys(inputs, np.int64),
    )
    return Reader.of(head)
