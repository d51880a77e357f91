"""Turn an 8-bit ONNX encoder that Longform exported back into 32-bit BERT weights.

The way back of :mod:`longform.train.export` and :mod:`longform.train.quantise`: every weight column is multiplied by
its step, every row by the factor that tamed its channel, packed queries, keys and values are taken apart, and what the
graph keeps in 32 bits (biases, layer norms, positions) is taken as it is. What rounding lost stays lost: the vectors of
all-MiniLM-L6-v2, taken from the shipped 8 bits, have a cosine of 0.998 to those of the original weights at the worst of
twelve texts. That is a start for training, not a copy.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from longform.errors import FailureError, InputError

__all__ = ["Bert", "bert_of", "write_bert"]

Weights = dict[str, NDArray[np.float32]]

_BODY = "body."
# What an edge is the output of: the torch module, by its path, and then the operator.
_EDGE = re.compile(r"/body/(embeddings|encoder/layer\.\d+)/(.+)/[^/]+")

# The parts of BERT's own vocabulary; a tokenizer.json does not say which token plays which part.
_SPECIAL = {
    "unk_token": "[UNK]",
    "sep_token": "[SEP]",
    "pad_token": "[PAD]",
    "cls_token": "[CLS]",
    "mask_token": "[MASK]",
}


class Bert(NamedTuple):
    """A BERT without its pooler, which no sentence encoder has: transformers' configuration and weights."""

    config: dict[str, Any]
    weights: Weights


def bert_of(model: Path) -> Bert:
    """The BERT inside a ``model.onnx``, of 8 or of 32 bits, that :func:`longform.train.export.export` wrote.

    >>> from longform.models.registry import find_model
    >>> bert = bert_of(find_model("encoder", "encoder").folder / "model.onnx")
    >>> bert.config["num_hidden_layers"], bert.weights["encoder.layer.0.attention.self.query.weight"].shape
    (6, (384, 384))
    """
    import onnx
    from onnx import numpy_helper

    try:
        graph = onnx.load(str(model)).graph
    except Exception as error:
        raise InputError(f"{model} is not a readable ONNX file: get the model folder anew.") from error
    tensors = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    weights = _tables(tensors)
    heads = 0
    for node in graph.node:
        edge = _EDGE.fullmatch(node.output[0])
        if edge is None:
            continue
        module = f"{edge[1]}/{edge[2]}".replace("/", ".")
        # By what the node reads, not by its name: equal tensors of several layers are stored once.
        held = [name for name in node.input if name in tensors]
        if node.op_type in ("QAttention", "Attention"):
            heads = next(found.i for found in node.attribute if found.name == "num_heads")
            _unpack_attention(_product(node, tensors), tensors[node.input[2]], module, weights)
        elif node.op_type in ("MatMulInteger", "MatMul") and held:
            weights[f"{module}.weight"] = _product(node, tensors).T
        elif node.op_type == "Add" and held:
            weights[f"{module}.bias"] = tensors[held[0]]
        elif node.op_type == "LayerNormalization" and len(held) == 2:
            weights[f"{module}.weight"], weights[f"{module}.bias"] = (tensors[name] for name in held)
    weights = {name: np.array(value, dtype=np.float32, order="C") for name, value in weights.items()}
    return Bert(_config(model, graph, weights, heads), weights)


def write_bert(bert: Bert, source: Path, out: Path) -> None:
    """Write ``bert`` to ``out`` as a sentence-transformers folder; ``source`` has its tokenizer and settings."""
    from safetensors.numpy import save_file

    from longform.models.encoder_settings import read_settings

    settings = read_settings(source)
    save_file(bert.weights, out / "model.safetensors", {"format": "pt"})
    words = json.loads((source / "tokenizer.json").read_text(encoding="utf-8"))
    known = {token["content"] for token in words.get("added_tokens", [])}
    modules = ("Transformer", "Pooling", *(["Normalize"] if settings.normalise else []))
    paths = ("", "1_Pooling", "2_Normalize")
    similarity = {} if settings.normalise else {"similarity_fn_name": "dot"}
    prompts = {"query": settings.question_prompt, "document": settings.passage_prompt}
    files: dict[str, Any] = {
        "config.json": bert.config,
        "tokenizer.json": words,
        "tokenizer_config.json": {
            # The tokenizer.json as it is; transformers' BertTokenizer would build another one from its words.
            "tokenizer_class": "PreTrainedTokenizerFast",
            "model_max_length": bert.config["max_position_embeddings"],
            **{part: token for part, token in _SPECIAL.items() if token in known},
        },
        "modules.json": [
            {"idx": place, "name": str(place), "path": path, "type": f"sentence_transformers.models.{module}"}
            for place, (module, path) in enumerate(zip(modules, paths, strict=False))
        ],
        "1_Pooling/config.json": {
            "word_embedding_dimension": bert.config["hidden_size"],
            "pooling_mode_cls_token": settings.pooling == "cls",
            "pooling_mode_mean_tokens": settings.pooling == "mean",
        },
        "sentence_bert_config.json": {"max_seq_length": settings.max_length, "do_lower_case": settings.lowercase},
        "config_sentence_transformers.json": {
            "prompts": {part: prompt for part, prompt in prompts.items() if prompt},
            **similarity,
        },
    }
    for name in ("1_Pooling", "2_Normalize"):
        (out / name).mkdir()
    for name, value in files.items():
        (out / name).write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")


def _product(node: Any, tensors: Mapping[str, NDArray[Any]]) -> NDArray[np.float32]:
    """The weights by which a node multiplies, inputs first, as they were before channels were capped."""
    weight = tensors[node.input[1]]
    if weight.dtype == np.int8:
        # Named by onnxruntime's quantiser: w_quantized, w_scale, w_zero_point.
        stem = node.input[1].removesuffix("_quantized")
        weight = weight.astype(np.float32) - tensors[f"{stem}_zero_point"].astype(np.float32)
        weight = weight * tensors[f"{stem}_scale"]
    edge = node.output[0].removesuffix("_output_quantized")
    factors = tensors.get(f"{edge}_capped_by")
    return np.asarray(weight if factors is None else weight * factors[:, None], dtype=np.float32)


def _unpack_attention(packed: NDArray[np.float32], bias: NDArray[Any], module: str, weights: Weights) -> None:
    """Queries, keys and values, which the fused operator holds side by side."""
    parts = zip(("query", "key", "value"), np.split(packed, 3, axis=1), np.split(bias, 3), strict=True)
    for part, columns, values in parts:
        weights[f"{module}.{part}.weight"], weights[f"{module}.{part}.bias"] = columns.T, values


def _tables(tensors: Mapping[str, NDArray[Any]]) -> Weights:
    """The embedding tables; that of words is stored as 8-bit rows, each with its step."""
    found: Weights = {}
    for name in (f"embeddings.{kind}_embeddings.weight" for kind in ("word", "position", "token_type")):
        if f"{_BODY}{name}" in tensors:
            found[name] = tensors[f"{_BODY}{name}"]
        elif f"{_BODY}{name}_rows" in tensors:
            found[name] = tensors[f"{_BODY}{name}_rows"].astype(np.float32) * tensors[f"{_BODY}{name}_steps"]
    return found


def _config(model: Path, graph: Any, weights: Weights, heads: int) -> dict[str, Any]:
    """BERT's configuration, read off the shapes; a graph of another make is refused."""
    layers = len({name.split(".")[2] for name in weights if name.startswith("encoder.layer.")})
    shapes = {name: weight.shape for name, weight in weights.items()}
    foreign = InputError(
        f"{model} is not a BERT that Longform exported: give a folder with a model.safetensors to train from."
    )
    try:
        vocabulary, hidden = shapes["embeddings.word_embeddings.weight"]
        config = {
            "architectures": ["BertModel"],
            "model_type": "bert",
            "vocab_size": vocabulary,
            "hidden_size": hidden,
            "num_hidden_layers": layers,
            "num_attention_heads": heads,
            "intermediate_size": shapes["encoder.layer.0.intermediate.dense.weight"][0],
            "hidden_act": "gelu",
            "max_position_embeddings": shapes["embeddings.position_embeddings.weight"][0],
            "type_vocab_size": shapes["embeddings.token_type_embeddings.weight"][0],
            "pad_token_id": 0,
            "dtype": "float32",
        }
    except KeyError as error:
        raise foreign from error
    # Sixteen tensors a layer and five tables: a layer that was not fully understood would train from noise.
    if heads == 0 or len(weights) != 16 * layers + 5:
        raise foreign
    epsilons = {found.f for node in graph.node for found in node.attribute if found.name == "epsilon"}
    if len(epsilons) != 1:
        raise FailureError(f"{model} has no single epsilon of its layer norms: export it anew.")
    # 1e-12 in 32 bits prints as 9.999999960041972e-13.
    config["layer_norm_eps"] = float(f"{epsilons.pop():.6g}")
    return config
