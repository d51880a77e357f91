"""Export a sentence encoder to one ONNX file that plain onnxruntime runs.

``python -m longform.train.export FOLDER --out OUT [--int8 | --fp32] [--max-length N]`` reads a
sentence-transformers or transformers folder with safetensors weights and writes ``model.onnx`` (inputs
``input_ids`` and ``attention_mask``, output ``sentence_embedding``: pooled and normalised inside the graph),
``tokenizer.json`` and ``config.json``. The new model is then compared with the torch one on a few sentences;
where they disagree nothing is written. Pickled weights are never opened and code in the folder is never run.
The same input gives the same bytes with the same versions of torch, transformers, onnx and onnxruntime.
"""

from __future__ import annotations

import inspect
import json
import os
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from longform.errors import FailureError, InputError, reason_of
from longform.files import atomic_write, sha256_of
from longform.models.encoder_settings import EncoderSettings, read_settings
from longform.train.export_command import export_parser, exported
from longform.train.quiet import quiet_libraries

__all__ = ["export", "main"]

# The newest opset and file version that onnxruntime 1.17 is sure to read with the fused operators below.
OPSET = 17
IR_VERSION = 8

# Graphs whose attention onnxruntime's BERT optimiser finds; others are left as they are exported.
FUSED = ("bert", "roberta", "xlm-roberta", "camembert", "electra", "distilbert")

# The least cosine between the torch and the ONNX vector of each check sentence. All-MiniLM-L6-v2 in 8 bits
# has 0.993 at the worst of 2,000 passages.
AGREEMENT = {"fp32": 0.9999, "int8": 0.98}

# Protocol buffers end at 2 GB.
MOST_PARAMETERS = 500_000_000

CALIBRATION = (
    "The capital of France is Paris.",
    "What is the role of mitochondria in the cell?",
    "how do i fix a leaking tap",
    "Prices rose by 3.2% in March, the central bank said on Tuesday; economists had expected 2.9%.",
    "Mice lacking the gene showed reduced insulin sensitivity and a higher body weight than controls.",
    "She played the cello in the Berlin Philharmonic (1987–1994) before she turned to conducting.",
    "In 1969 two astronauts walked on the Moon while a third stayed in orbit above them. They gathered "
    "stones, set up a mirror and a seismometer, and came back to Earth four days later. The stones are "
    "still studied: their age tells when the seas of the Moon were molten, and their make-up that it "
    "once was part of the Earth.",
    "The recipe needs flour, two eggs, a pinch of salt and a glass of milk. Stir them until no lumps "
    "are left, let the batter rest for half an hour, and bake it thin in a hot pan. The first pancake "
    "is never good.",
)

CHECK = (
    "Who wrote the first symphony for full orchestra?",
    "A glacier is a large body of ice that moves under its own weight.",
    "The council voted 7 to 2 in favour of the new tram line, which will open in 2031 at the earliest.",
    "Python lists grow in place; tuples do not.",
    "",
)


def export(
    folder: str | Path,
    out: str | Path,
    *,
    int8: bool = True,
    max_length: int | None = None,
    name: str | None = None,
) -> Path:
    """Write the encoder in ``folder`` to ``out`` as ONNX and return ``out``.

    ``export("all-MiniLM-L6-v2", "encoder")`` writes a ``model.onnx`` of 23.6 MB; with ``int8=False`` it has
    90.3 MB.
    """
    folder, out = Path(folder), Path(out)
    settings = read_settings(folder)
    settings = replace(settings, name=name or settings.name, max_length=max_length or settings.max_length)
    weights = _weights_of(folder)
    torch, transformers = _imports()
    with quiet_libraries(transformers):
        tokens = _tokenizer_json(weights[0].parent, transformers)
        model = _sentence_model(weights[0].parent, settings, torch, transformers)
        graph = _graph(model, torch)
        feeds = [_feed(tokens, settings, text) for text in CALIBRATION]
        if int8:
            from longform.train.quantise import quantise

            graph = quantise(graph, feeds)
    data = _finished(graph, int(model.body.config.hidden_size))
    checks = [_feed(tokens, settings, text) for text in CHECK]
    lowest = _agreement(model, data, checks, settings.max_length, torch)
    precision = "int8" if int8 else "fp32"
    if not lowest >= AGREEMENT[precision]:
        mend = "export it with --fp32" if int8 else "this kind of model cannot be exported"
        raise FailureError(
            f"{folder} in ONNX ({precision}) disagrees with the model in torch (cosine {lowest:.4f}): {mend}."
        )
    config = {
        **settings.to_json(),
        "precision": precision,
        "source_sha256": {path.name: sha256_of(path) for path in weights},
        "made_with": {part: version(part).partition("+")[0] for part in ("torch", "transformers", "onnxruntime")},
    }
    write_model(out, tokens, config, data)
    return out


def write_model(out: Path, tokens: Any, config: dict[str, Any], data: bytes) -> None:
    """Write the three files of a model folder; ``model.onnx`` comes last, and makes it one."""
    out.mkdir(parents=True, exist_ok=True)
    for name, content in (
        ("tokenizer.json", json.dumps(tokens, ensure_ascii=False).encode()),
        ("config.json", (json.dumps(config, indent=2, ensure_ascii=False) + "\n").encode()),
        ("model.onnx", data),
    ):
        with atomic_write(out / name) as file:
            file.write(content)


def _weights_of(folder: Path) -> list[Path]:
    """The safetensors files of a folder; other weights are refused, because reading them can run code."""
    if not folder.is_dir():
        raise InputError(f"{folder} is not a folder: give a sentence-transformers or transformers model folder.")
    found = sorted(folder.glob("*.safetensors")) or sorted(folder.glob("0_Transformer/*.safetensors"))
    if found:
        return found
    pickled = sorted(path.name for path in folder.rglob("*.bin"))
    if pickled:
        raise InputError(
            f"{folder} has only pickled weights ({pickled[0]}), which Longform does not open "
            "because they can run code: get the model.safetensors of the model."
        )
    raise InputError(f"{folder} has no *.safetensors file: get the model.safetensors of the model.")


def _imports() -> tuple[Any, Any]:
    try:
        import onnx  # noqa: F401
        import torch
        import transformers
    except ImportError as error:
        raise InputError(
            f"Exporting a model needs {error.name}: `pip install 'longform[train]'` installs it."
        ) from error
    return torch, transformers


def _sentence_model(folder: Path, settings: EncoderSettings, torch: Any, transformers: Any) -> Any:
    """A transformer with pooling and normalisation after it, as one torch module."""

    class Sentence(torch.nn.Module):  # type: ignore[misc, name-defined, unused-ignore]
        def __init__(self, body: Any) -> None:
            super().__init__()
            self.body = body

        def forward(self, input_ids: Any, attention_mask: Any) -> Any:
            tokens = self.body(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
            if settings.pooling == "cls":
                pooled = tokens[:, 0]
            else:
                weight = attention_mask.unsqueeze(-1).to(tokens.dtype)
                pooled = (tokens * weight).sum(1) / weight.sum(1).clamp(min=1e-9)
            return torch.nn.functional.normalize(pooled, p=2.0, dim=1) if settings.normalise else pooled

    try:
        body = transformers.AutoModel.from_pretrained(
            str(folder),
            # Scaled-dot-product attention hides the pattern that the optimiser fuses.
            attn_implementation="eager",
            local_files_only=True,
            trust_remote_code=False,
            use_safetensors=True,
        )
    except Exception as error:
        raise InputError(f"{folder} cannot be opened by transformers: {reason_of(error)}.") from error
    model = Sentence(body.to(torch.float32)).eval()
    if sum(parameter.numel() for parameter in model.parameters()) > MOST_PARAMETERS:
        raise InputError(f"{folder} has more than {MOST_PARAMETERS:,} parameters, too many for one ONNX file.")
    positions = getattr(body.config, "max_position_embeddings", None)
    if positions is not None and settings.max_length > positions:
        raise InputError(f"{folder} has {positions} positions: set --max-length to {positions} or less.")
    return model


def _graph(
    model: Any,
    torch: Any,
    inputs: Sequence[str] = ("input_ids", "attention_mask"),
    outputs: Sequence[str] = ("sentence_embedding",),
) -> Any:
    """The model as an ONNX graph, its attention and activations fused where the optimiser knows how."""
    import onnx

    examples = {
        "input_ids": torch.tensor([[5, 6, 7, 8, 9], [5, 6, 7, 8, 9]]),
        "attention_mask": torch.tensor([[1, 1, 1, 1, 0], [1, 1, 1, 1, 1]]),
        "token_type_ids": torch.tensor([[0, 0, 1, 1, 0], [0, 0, 1, 1, 1]]),
    }
    axes = {0: "batch", 1: "length"}
    # One number per token, or one row per text.
    shapes = {name: axes if name in ("start_logits", "end_logits") else {0: "batch"} for name in outputs}
    # The tracing exporter is asked for by name: its graphs are those that the optimiser knows.
    by_name = {"dynamo": False} if "dynamo" in inspect.signature(torch.onnx.export).parameters else {}
    with tempfile.TemporaryDirectory() as temporary:
        path = os.path.join(temporary, "traced.onnx")  # noqa: PTH118 - the exporter wants a string
        try:
            with torch.no_grad():
                torch.onnx.export(
                    model,
                    tuple(examples[name] for name in inputs),
                    path,
                    input_names=list(inputs),
                    output_names=list(outputs),
                    dynamic_axes={**dict.fromkeys(inputs, axes), **shapes},
                    opset_version=OPSET,
                    **by_name,
                )
        except Exception as error:
            kind = type(model.body).__name__
            raise FailureError(f"torch cannot export a {kind} to ONNX: {reason_of(error)}.") from error
        if getattr(model.body.config, "model_type", "") not in FUSED:
            return onnx.load(path)
        from onnxruntime.transformers import optimizer
        from onnxruntime.transformers.fusion_options import FusionOptions

        options = FusionOptions("bert")
        # Fused, these three are slower on a CPU or lose precision in 8 bits: SkipLayerNormalization took 3.8
        # ms of 29 ms per passage where Add and LayerNormalization take 0.9 ms; the bias of BiasGelu is free
        # inside the product; EmbedLayerNormalization can only be rounded with one scale for the whole table.
        options.enable_skip_layer_norm = False
        options.enable_bias_skip_layer_norm = False
        options.enable_bias_gelu = False
        options.enable_embed_layer_norm = False
        config = model.body.config
        fused = optimizer.optimize_model(
            path,
            "bert",
            num_heads=getattr(config, "num_attention_heads", 0),
            hidden_size=getattr(config, "hidden_size", 0),
            optimization_options=options,
            opt_level=0,
        )
        # Saving declares the fused operators' domain and sorts the nodes, which keeps the bytes the same
        # every time.
        fused.topological_sort(is_deterministic=True)
        fused.save_model_to_file(path)
        return onnx.load(path)


def _finished(graph: Any, width: int | None) -> bytes:
    """The bytes of the model: no names of places or tools in it, and a version that old runtimes read."""
    if width is not None:
        graph.graph.output[0].type.tensor_type.shape.dim[1].dim_value = width
    graph.ir_version = IR_VERSION
    graph.producer_name, graph.producer_version, graph.doc_string = "longform", "", ""
    del graph.metadata_props[:]
    for node in graph.graph.node:
        node.doc_string = ""
    del graph.graph.value_info[:]
    used = {node.domain for node in graph.graph.node}
    for opset in [opset for opset in graph.opset_import if opset.domain and opset.domain not in used]:
        graph.opset_import.remove(opset)
    return bytes(graph.SerializeToString(deterministic=True))


def _tokenizer_json(folder: Path, transformers: Any) -> Any:
    """The folder's tokenizer without padding and truncation, which the encoder sets itself."""
    path = folder / "tokenizer.json"
    if path.is_file():
        tokens = json.loads(path.read_text(encoding="utf-8"))
    else:
        try:
            loaded = transformers.AutoTokenizer.from_pretrained(
                str(folder), local_files_only=True, trust_remote_code=False, use_fast=True
            )
            tokens = json.loads(loaded.backend_tokenizer.to_str())
        except (OSError, ValueError, AttributeError) as error:
            raise InputError(f"{folder} has no tokenizer.json and none can be made: {reason_of(error)}.") from error
    tokens["truncation"] = None
    tokens["padding"] = None
    return tokens


def _feed(tokens: Any, settings: EncoderSettings, text: str) -> dict[str, NDArray[np.int64]]:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_str(json.dumps(tokens))
    tokenizer.enable_truncation(settings.max_length)
    ids = np.asarray([tokenizer.encode(text.lower() if settings.lowercase else text).ids], dtype=np.int64)
    return {"input_ids": ids, "attention_mask": np.ones_like(ids)}


def _agreement(
    model: Any, data: bytes, feeds: Sequence[dict[str, NDArray[np.int64]]], max_length: int, torch: Any
) -> float:
    """The least cosine between the two models' vectors, alone and padded to twice the length at most."""
    import onnxruntime

    session = onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"])
    lowest = 1.0
    for feed in feeds:
        with torch.no_grad():
            expected = model(*(torch.from_numpy(feed[name]) for name in ("input_ids", "attention_mask"))).numpy()[0]
        length = feed["input_ids"].shape[1]
        padding = ((0, 0), (0, min(length, max_length - length)))
        padded = {name: np.pad(value, padding) for name, value in feed.items()}
        for given in (feed, padded):
            found = session.run(["sentence_embedding"], given)[0][0]
            cosine = float(found @ expected / max(np.linalg.norm(found) * np.linalg.norm(expected), 1e-12))
            lowest = min(lowest, cosine) if np.isfinite(cosine) else -1.0
    return lowest


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line of the module; returns the exit code."""
    parser = export_parser("longform.train.export", __doc__, "a sentence-transformers or transformers folder")
    given = parser.parse_args(arguments)
    return exported(
        given,
        3,
        lambda: export(given.folder, given.out, int8=given.int8, max_length=given.max_length, name=given.name),
    )


if __name__ == "__main__":
    sys.exit(main())
