"""Opening ONNX files and tokenizers: the settings that every model of the package runs with."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from longform.errors import InputError, reason_of

__all__ = ["available_cores", "open_session", "open_tokenizer", "text_inputs"]


def available_cores() -> int:
    """The cores that this process may use, which in a container are fewer than the machine has.

    >>> available_cores() >= 1
    True
    """
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def open_session(path: Path, threads: int = 1) -> Any:
    """An onnxruntime session on the CPU that uses ``threads`` threads for each run."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    # Threads that spin between runs take the cores from the other runs.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    try:
        return onnxruntime.InferenceSession(
            str(path),
            options,
            providers=["CPUExecutionProvider"],
            # Fused, this operator takes 0.32 ms for 137 tokens; Add and LayerNormalization apart take 0.07
            # ms.
            disabled_optimizers=["SkipLayerNormFusion"],
        )
    except Exception as error:
        reason = reason_of(error)
        raise InputError(f"{path} cannot be opened by onnxruntime ({reason}): get the file anew.") from error


def open_tokenizer(folder: Path, max_length: int) -> Any:
    """The tokenizer of a model folder, cutting at ``max_length`` tokens and never padding."""
    from tokenizers import Tokenizer

    path = folder / "tokenizer.json"
    if not path.is_file():
        raise InputError(f"{folder} has no tokenizer.json: put the model's tokenizer.json in it.")
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:
        raise InputError(f"{path} cannot be read ({error}): get the file anew.") from error
    tokenizer.no_padding()
    tokenizer.enable_truncation(max_length)
    return tokenizer


def text_inputs(session: Any, model: Path, otherwise: str) -> dict[str, Any]:
    """The names and number types of the inputs of a model that reads text; any other is refused as ``otherwise``."""
    types = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}
    given = {found.name: types.get(found.type) for found in session.get_inputs()}
    if not set(given) <= {"input_ids", "attention_mask", "token_type_ids"} or None in given.values():
        raise InputError(
            f"{model} is {otherwise}: it takes {', '.join(given)}, not input_ids, attention_mask and token_type_ids."
        )
    return given
