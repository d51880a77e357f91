"""A writer from a GGUF file, and a fine-tuned one as such a file, for llama.cpp, where it is of the Llama family.

Tokens, chat template and sizes are taken over from the base's file, and each of its tensors is replaced by the trained
one. A base that is no GGUF file does not say how llama.cpp is to cut its texts into tokens, so none is written then.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from longform.errors import FailureError, InputError
from longform.files import sync_file

__all__ = ["GGUF_KINDS", "as_dense", "can_write_gguf", "write_gguf"]

GGUF_KINDS = ("q8_0", "f16")
ARCHITECTURE = "llama"

# Not a weight: a table that some models have, taken over as it is.
ROTATIONS = "rope_freqs.weight"


def as_dense(model: Any, name: str) -> Any:
    """The model as one of plain weights, which it is where they were unpacked when it was loaded.

    Transformers goes on to take a model that came out of a GGUF file for a packed one, which it neither trains nor
    saves.
    """
    quantizer = getattr(model, "hf_quantizer", None)
    if quantizer is None:
        return model
    if getattr(quantizer, "packed_modules", None):
        raise InputError(
            f"The weights of {name} stay packed where the package kernels is installed, and packed ones cannot learn: "
            "`pip uninstall kernels`, or give a transformers folder as --base."
        )
    model.hf_quantizer, model.is_quantized = None, False
    for place, mark in ((model, "quantization_method"), (model.config, "quantization_config")):
        if hasattr(place, mark):
            delattr(place, mark)
    return model


def can_write_gguf(base: Path) -> bool:
    """Whether ``base`` is a GGUF file that a trained model can be written after."""
    if not base.is_file() or base.suffix.lower() != ".gguf":
        return False
    from gguf import GGUFReader

    field = GGUFReader(base).get_field("general.architecture")
    return field is not None and field.contents() == ARCHITECTURE


def write_gguf(model: Any, base: Path, target: Path, kind: str, name: str) -> None:
    """Write the weights of ``model`` (a transformers Llama) after the pattern of its base, as 8-bit blocks or 16 bits.

    A matrix whose rows do not divide into blocks of 32 is kept in 16 bits, and vectors in 32, as llama.cpp does.
    """
    import gguf

    reader = gguf.GGUFReader(base)
    writer = gguf.GGUFWriter(str(target), ARCHITECTURE)
    quantised = {"q8_0": gguf.GGMLQuantizationType.Q8_0, "f16": gguf.GGMLQuantizationType.F16}[kind]
    changed = {"general.name": name, "general.file_type": int(_file_types(gguf)[kind])}
    _copy_fields(gguf, reader, writer, changed)
    weights = _weights(gguf, model)
    for tensor in reader.tensors:
        values = weights.get(tensor.name)
        if values is None:
            if tensor.name != ROTATIONS:
                raise FailureError(f"{base} holds {tensor.name}, which no GGUF can be written with: add --gguf none.")
            writer.add_tensor(tensor.name, tensor.data, raw_dtype=tensor.tensor_type)
            continue
        if values.ndim == 1:
            writer.add_tensor(tensor.name, values)
            continue
        fits = values.shape[-1] % gguf.GGML_QUANT_SIZES[quantised][0] == 0
        chosen = quantised if fits else gguf.GGMLQuantizationType.F16
        writer.add_tensor(tensor.name, gguf.quants.quantize(values, chosen), raw_dtype=chosen)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    sync_file(target)


def _file_types(gguf: Any) -> dict[str, Any]:
    return {"q8_0": gguf.LlamaFileType.MOSTLY_Q8_0, "f16": gguf.LlamaFileType.MOSTLY_F16}


def _copy_fields(gguf: Any, reader: Any, writer: Any, changed: Mapping[str, Any]) -> None:
    for field in reader.fields.values():
        # The writer makes these itself.
        if field.name == "general.architecture" or field.name.startswith("GGUF."):
            continue
        kind = field.types[0]
        inner = field.types[-1] if kind == gguf.GGUFValueType.ARRAY else None
        writer.add_key_value(field.name, changed.get(field.name, field.contents()), kind, sub_type=inner)


def _weights(gguf: Any, model: Any) -> dict[str, NDArray[np.float32]]:
    """The weights by the names, and in the order of rows, that GGUF has for them."""
    config = model.config
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.LLAMA, config.num_hidden_layers)
    heads = {"q_proj": config.num_attention_heads, "k_proj": config.num_key_value_heads}
    found = {}
    for ours, tensor in model.state_dict().items():
        its = names.get_name(ours, try_suffixes=(".weight", ".bias"))
        if its is None:
            continue
        values: NDArray[np.float32] = tensor.detach().cpu().float().numpy()
        part = ours.split(".")[-2]
        if part in heads:
            # GGUF keeps the two numbers that rotate together beside each other, transformers half a head apart.
            halves = values.reshape(heads[part], 2, -1, *values.shape[1:])
            values = halves.swapaxes(1, 2).reshape(values.shape)
        found[its] = np.ascontiguousarray(values)
    return found
