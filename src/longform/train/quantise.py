"""Eight-bit weights for an ONNX encoder that are right on every CPU and lose little.

Weights are rounded to 7 bits per output column (``reduce_range``): the AVX2 kernels add two products into 16
bits, and 8-bit weights overflow there on CPUs without VNNI. Activations are rounded when the model runs, one
scale per tensor, so one channel that is ten times as large as the others costs the others their bits: such
channels are scaled down before each product and their weight rows up, which leaves the product as it was
(Xiao et al. 2023, SmoothQuant, https://arxiv.org/abs/2211.10438, section 4, with a cap in place of the
exponent).

Mean cosine to the 32-bit vectors of all-MiniLM-L6-v2 over 2,000 Wikipedia passages: see the model card in
``longform/weights/encoder``.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic

__all__ = ["cap_channels", "quantise"]

PRODUCTS = ("MatMul", "Attention")

# The quantile of the channels' largest values that the rest is capped at. Mean cosine to 32 bits over 200
# passages: no cap 0.9943, 0.98 0.9964, 0.99 0.9971; the best of six quantiles for each product by itself
# 0.9971 too.
CAP = 0.99

# Tables with fewer rows (positions, token types) stay in 32 bits: they are under 1 MB.
LARGE_TABLE = 1000

Feed = dict[str, NDArray[np.int64]]


def quantise(model: onnx.ModelProto, feeds: list[Feed]) -> onnx.ModelProto:
    """An 8-bit twin of a 32-bit model; ``feeds`` are the inputs of a few texts, one text each."""
    model = cap_channels(model, feeds)
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "float.onnx"), Path(folder, "int8.onnx")
        onnx.save(model, str(source))
        quantize_dynamic(
            str(source),
            str(target),
            op_types_to_quantize=list(PRODUCTS),
            per_channel=True,
            reduce_range=True,
            weight_type=QuantType.QInt8,
            extra_options={"DefaultTensorType": TensorProto.FLOAT},
        )
        quantised = onnx.load(str(target))
    _shrink_tables(quantised)
    return quantised


def cap_channels(model: onnx.ModelProto, feeds: list[Feed]) -> onnx.ModelProto:
    """Move the size of outlying channels from the activations into the weights; the results stay."""
    capped = onnx.ModelProto()
    capped.CopyFrom(model)
    graph = capped.graph
    weights = {tensor.name: tensor for tensor in graph.initializer}
    uses = Counter(name for node in graph.node for name in node.input)
    products = [
        node
        for node in graph.node
        if node.op_type in PRODUCTS and node.input[1] in weights and uses[node.input[1]] == 1
    ]
    inputs = _largest(model, [node.input[0] for node in products], feeds)
    for node in products:
        weight = numpy_helper.to_array(weights[node.input[1]])
        largest = inputs[node.input[0]]
        scale = np.maximum(1.0, largest / max(float(np.quantile(largest, CAP)), 1e-6)).astype(np.float32)
        weights[node.input[1]].CopyFrom(numpy_helper.from_array(weight * scale[:, None], node.input[1]))
        # Not "_scale": the quantiser names its own tensors so.
        small = f"{node.output[0]}_capped"
        graph.initializer.append(numpy_helper.from_array(1 / scale, f"{small}_by"))
        place = list(graph.node).index(node)
        graph.node.insert(place, helper.make_node("Mul", [node.input[0], f"{small}_by"], [small], name=small))
        graph.node[place + 1].input[0] = small
    return capped


def _largest(model: onnx.ModelProto, names: list[str], feeds: list[Feed]) -> dict[str, NDArray[np.float32]]:
    """The largest absolute value that each channel of the named edges takes over all texts."""
    names = list(dict.fromkeys(names))
    watched = onnx.ModelProto()
    watched.CopyFrom(model)
    watched.graph.output.extend(helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in names)
    session = onnxruntime.InferenceSession(watched.SerializeToString(), providers=["CPUExecutionProvider"])
    seen: dict[str, list[NDArray[np.float32]]] = {name: [] for name in names}
    for feed in feeds:
        for name, value in zip(names, session.run(names, feed), strict=True):
            seen[name].append(np.abs(value).reshape(-1, value.shape[-1]).max(axis=0))
    return {name: np.max(values, axis=0) for name, values in seen.items()}


def _shrink_tables(model: onnx.ModelProto) -> None:
    """Store large embedding tables as 8-bit rows, each with its own scale (half a step is 1/254)."""
    graph = model.graph
    tables = {tensor.name: tensor for tensor in graph.initializer}
    for node in list(graph.node):
        tensor = tables.get(node.input[0]) if node.op_type == "Gather" else None
        if tensor is None or tensor.data_type != TensorProto.FLOAT:
            continue
        if len(tensor.dims) != 2 or tensor.dims[0] < LARGE_TABLE:
            continue
        table = numpy_helper.to_array(tensor)
        step = np.abs(table).max(axis=1, keepdims=True) / np.float32(127)
        step[step == 0] = 1
        (name, ids), output = node.input, node.output[0]
        rows = np.rint(table / step).astype(np.int8)
        graph.initializer.remove(tensor)
        graph.initializer.append(numpy_helper.from_array(rows, f"{name}_rows"))
        graph.initializer.append(numpy_helper.from_array(step, f"{name}_steps"))
        place = list(graph.node).index(node)
        graph.node.remove(node)
        steps = [
            helper.make_node("Gather", [f"{name}_rows", ids], [f"{output}_rows"], name=f"{output}_rows"),
            helper.make_node("Cast", [f"{output}_rows"], [f"{output}_float"], name=f"{output}_float", to=1),
            helper.make_node("Gather", [f"{name}_steps", ids], [f"{output}_steps"], name=f"{output}_steps"),
            helper.make_node("Mul", [f"{output}_float", f"{output}_steps"], [output], name=f"{output}_table"),
        ]
        for offset, step_node in enumerate(steps):
            graph.node.insert(place + offset, step_node)
