"""The ONNX file of a model folder; a folder that has only safetensors weights is converted once, into the cache."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from longform.errors import InputError
from longform.files import sha256_of
from longform.models.registry import ModelFiles, cache_folder, onnx_file

__all__ = ["onnx_of"]


def onnx_of(files: ModelFiles, description: Callable[[], str], exporter: str) -> tuple[Path, Path]:
    """The folder of the settings, and the ONNX file in it.

    ``description`` says what beside the weights makes the converted model what it is: when it changes, another one is
    made. ``exporter`` is the function of :mod:`longform.train` that converts, as ``module:function``.
    """
    folder = files.folder
    model = onnx_file(folder)
    if model is not None:
        return folder, model
    weights = sorted(folder.glob("*.safetensors")) or sorted(folder.glob("0_Transformer/*.safetensors"))
    if not weights:
        pickled = " only pickled weights, which Longform does not open," if list(folder.rglob("*.bin")) else ""
        raise InputError(
            f"{folder} has{pickled or ' no ONNX file'} and no safetensors weights: "
            "put a model.onnx or a model.safetensors in it."
        )
    identity = hashlib.sha256("".join([description(), *map(sha256_of, weights)]).encode()).hexdigest()
    target = cache_folder() / "converted" / f"{folder.resolve().name}-{identity[:16]}"
    if not (target / "model.onnx").is_file():
        if find_spec("torch") is None or find_spec("transformers") is None:
            raise InputError(
                f"{folder} has no ONNX file; `pip install 'longform[train]'` lets Longform convert it, "
                "or put a model.onnx in it."
            )
        module, function = exporter.split(":")
        convert = getattr(import_module(f"longform.train.{module}"), function)
        convert(folder, target, **({} if files.kind == "encoder" else {"kind": files.kind}), int8=False)
    return target, target / "model.onnx"
