"""A fine-tuned writer as files: one transformers folder with the additions merged into the weights.

What is written is opened again, as the run-time opens it, and must give the held-out answers the same loss.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from longform.errors import FailureError
from longform.files import sync_file
from longform.train.generator_fit import held_out_loss
from longform.train.generator_tokens import Row
from longform.train.likelihood import CausalModel
from longform.train.quiet import quiet_libraries
from longform.train.running import Report, no_report

__all__ = ["check_export", "merged", "write_folder"]

# How far the loss of a written model may lie from that of the trained one, for each token of an answer.
TOLERANCE = {"fp32": 1e-3, "fp16": 5e-3, "bf16": 3e-2, "f16": 5e-3, "q8_0": 3e-2}


def merged(model: Any) -> Any:
    """The plain model, each weight with its addition added."""
    found = model.merge_and_unload()
    found.eval()
    return found


def write_folder(model: Any, tokenizer: Any, folder: Path, precision: str) -> None:
    """Write weights (safetensors), settings and tokenizer; ``model`` has that precision afterwards."""
    import torch
    import transformers

    kinds = {"fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}
    model.to(kinds[precision])
    with quiet_libraries(transformers):
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
    for path in folder.iterdir():
        sync_file(path)


def check_export(place: Path, rows: Sequence[Row], loss: float, precision: str, report: Report = no_report) -> float:
    """The loss of the model at ``place``; one that lies away from ``loss`` is refused."""
    found = held_out_loss(CausalModel.load(place)._model, rows, report)
    if not abs(found - loss) <= TOLERANCE[precision]:
        raise FailureError(
            f"The model written as {place.name} ({precision}) is not the one that was trained: its loss is "
            f"{found:.4f} where that one has {loss:.4f}; start the same command with another precision to write the "
            "finished training again."
        )
    return found
