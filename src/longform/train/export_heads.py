"""Export a reader, an entailment model or a re-ranker to one ONNX file that plain onnxruntime runs.

``python -m longform.train.export_heads FOLDER --kind reader|entailment|reranker --out OUT [--int8 |
--fp32] [--max-length N]`` reads a transformers folder with safetensors weights and writes ``model.onnx`` (inputs
``input_ids``, ``attention_mask`` and, where the model tells its two texts apart by them, ``token_type_ids``; outputs
``start_logits`` and ``end_logits``, or ``logits``), ``tokenizer.json`` and ``config.json``. The new model is then
compared with the torch one on a few pairs; where they disagree nothing is written. Pickled weights are never opened
and code in the folder is never run.
"""

from __future__ import annotations

import inspect
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from longform.errors import FailureError, InputError, reason_of
from longform.files import sha256_of
from longform.models.encoder_settings import read_settings
from longform.models.heads import HEADS, SHORTEST, head_format
from longform.train.export import (
    CALIBRATION,
    MOST_PARAMETERS,
    _finished,
    _graph,
    _imports,
    _tokenizer_json,
    _weights_of,
    write_model,
)
from longform.train.export_command import export_parser, exported
from longform.train.quiet import quiet_libraries

__all__ = ["export_head", "main"]

OUTPUTS = {"reader": ("start_logits", "end_logits"), "entailment": ("logits",), "reranker": ("logits",)}
CLASSES = {
    "reader": "AutoModelForQuestionAnswering",
    "entailment": "AutoModelForSequenceClassification",
    "reranker": "AutoModelForSequenceClassification",
}

# The least agreement on each check pair. Of a reader: the cosine between the logits of torch and of ONNX, less their
# mean, which no answer depends on. Of an entailment model: 1 less the largest difference of a label's probability.
AGREEMENT = {("reader", "fp32"): 0.9999, ("reader", "int8"): 0.98}
AGREEMENT |= {("entailment", "fp32"): 0.9999, ("entailment", "int8"): 0.9}
# Of a re-ranker: 1 less the largest difference of a score, as a share of the range of torch's scores over all pairs.
AGREEMENT |= {("reranker", "fp32"): 0.999, ("reranker", "int8"): 0.8}

CHECK = (
    ("Who wrote the first symphony?", "The first symphony was written by a court musician in 1731."),
    (
        "When does the tram line open?",
        "The council voted 7 to 2 for the tram line, which opens in 2031 at the earliest.",
    ),
    ("A glacier moves.", "A glacier is a large body of ice that moves under its own weight."),
    ("Python lists grow in place; tuples do not.", "Tuples grow in place."),
    ("What is tea?", ""),
)


def export_head(
    folder: str | Path,
    out: str | Path,
    kind: str,
    *,
    int8: bool = True,
    max_length: int | None = None,
    name: str | None = None,
) -> Path:
    """Write the model in ``folder`` to ``out`` as ONNX and return ``out``.

    ``export_head("roberta-squad", "reader", "reader")`` writes a folder that :meth:`longform.models.Reader.load`
    opens, ``export_head("mnli", "nli", "entailment")`` one for :meth:`longform.models.Entailment.load`, and
    ``export_head("ms-marco", "ranker", "reranker")`` one for :meth:`longform.models.CrossEncoder.load`, which gives
    the pair of the question and "title. text" to it, as other people's re-rankers expect.
    """
    if kind not in HEADS:
        raise InputError(f"There is no kind {kind}: choose {' or '.join(HEADS)}.")
    folder, out = Path(folder), Path(out)
    weights = _weights_of(folder)
    settings = read_settings(folder)
    settings = replace(settings, name=name or folder.resolve().name, max_length=max_length or settings.max_length)
    torch, transformers = _imports()
    with quiet_libraries(transformers):
        tokens = _tokenizer_json(folder, transformers)
        model, inputs = _head_model(folder, kind, settings.max_length, torch, transformers)
        graph = _graph(model, torch, inputs, OUTPUTS[kind])
        if int8:
            from longform.train.quantise import quantise

            # Neighbours in the list: pairs of a question or a claim and a text, of every length.
            pairs = list(zip(CALIBRATION, CALIBRATION[1:] + CALIBRATION[:1], strict=True))
            graph = quantise(graph, [_feed(tokens, settings.max_length, pair, inputs) for pair in pairs])
    config = model.body.config
    data = _finished(graph, None if kind == "reader" else int(config.num_labels))
    padding = config.pad_token_id if isinstance(config.pad_token_id, int) else 0
    # A re-ranker is judged by the range of its scores, which needs pairs that fit and pairs that do not.
    pairs = [(first, second) for first, _ in CHECK for _, second in CHECK] if kind == "reranker" else list(CHECK)
    checks = [_feed(tokens, settings.max_length, pair, inputs) for pair in pairs]
    lowest = _agreement(model, data, kind, checks, padding, settings.max_length, torch)
    precision = "int8" if int8 else "fp32"
    if not lowest >= AGREEMENT[kind, precision]:
        mend = "export it with --fp32" if int8 else "this kind of model cannot be exported"
        raise FailureError(
            f"{folder} in ONNX ({precision}) disagrees with the model in torch (agreement {lowest:.4f}): {mend}."
        )
    labels = {"id2label": {str(key): label for key, label in config.id2label.items()}}
    description = {
        "format": head_format(kind),
        "name": settings.name,
        "max_length": settings.max_length,
        "pad_token_id": padding,
        "type_vocab_size": 2 if "token_type_ids" in inputs else 1,
        **(labels if kind == "entailment" else {}),
        **({"template": "pair"} if kind == "reranker" else {}),
        "precision": precision,
        "source_sha256": {path.name: sha256_of(path) for path in weights},
        "made_with": {part: version(part).partition("+")[0] for part in ("torch", "transformers", "onnxruntime")},
    }
    write_model(out, tokens, description, data)
    return out


def _head_model(folder: Path, kind: str, max_length: int, torch: Any, transformers: Any) -> tuple[Any, tuple[str, ...]]:
    """The model as a torch module that gives plain tensors, and the names of its inputs."""

    class Pairs(torch.nn.Module):  # type: ignore[misc, name-defined, unused-ignore]
        def __init__(self, body: Any) -> None:
            super().__init__()
            self.body = body

        def forward(self, input_ids: Any, attention_mask: Any, token_type_ids: Any = None) -> Any:
            given = {} if token_type_ids is None else {"token_type_ids": token_type_ids}
            found = self.body(input_ids=input_ids, attention_mask=attention_mask, **given)
            return tuple(getattr(found, name) for name in OUTPUTS[kind])

    try:
        body, report = getattr(transformers, CLASSES[kind]).from_pretrained(
            str(folder),
            attn_implementation="eager",
            local_files_only=True,
            trust_remote_code=False,
            use_safetensors=True,
            output_loading_info=True,
        )
    except Exception as error:
        raise InputError(f"{folder} cannot be opened by transformers: {reason_of(error)}.") from error
    missing = sorted(report["missing_keys"])
    if missing:
        # transformers would fill them with random numbers.
        raise InputError(f"{folder} is no trained model of kind {kind}: it has no weights {', '.join(missing[:3])}.")
    if kind == "reranker" and body.config.num_labels != 1:
        raise InputError(f"{folder} is no re-ranker: it gives {body.config.num_labels} numbers for a pair, not one.")
    model = Pairs(body.to(torch.float32)).eval()
    if sum(parameter.numel() for parameter in model.parameters()) > MOST_PARAMETERS:
        raise InputError(f"{folder} has more than {MOST_PARAMETERS:,} parameters, too many for one ONNX file.")
    positions = getattr(body.config, "max_position_embeddings", None)
    if positions is not None and max_length > positions:
        raise InputError(f"{folder} has {positions} positions: set --max-length to {positions} or less.")
    typed = "token_type_ids" in inspect.signature(body.forward).parameters
    typed = typed and (getattr(body.config, "type_vocab_size", None) or 0) > 1
    return model, ("input_ids", "attention_mask", *(("token_type_ids",) if typed else ()))


def _feed(tokens: Any, max_length: int, pair: tuple[str, str], inputs: Sequence[str]) -> dict[str, NDArray[np.int64]]:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_str(json.dumps(tokens))
    tokenizer.enable_truncation(max_length)
    encoding = tokenizer.encode(*pair)
    found = {
        "input_ids": encoding.ids,
        "attention_mask": encoding.attention_mask,
        "token_type_ids": encoding.type_ids,
    }
    return {name: np.asarray([found[name]], dtype=np.int64) for name in inputs}


def _agreement(
    model: Any,
    data: bytes,
    kind: str,
    feeds: Sequence[Mapping[str, NDArray[np.int64]]],
    padding: int,
    max_length: int,
    torch: Any,
) -> float:
    """The least agreement of the two models, alone and padded to twice the length at most."""
    import onnxruntime

    session = onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"])
    with torch.no_grad():
        wanted = [
            [found.numpy()[0] for found in model(*(torch.from_numpy(value) for value in feed.values()))]
            for feed in feeds
        ]
    spread = max(float(np.ptp([expected[0][0] for expected in wanted])), 1e-12)
    lowest = 1.0
    for feed, expected in zip(feeds, wanted, strict=True):
        length = feed["input_ids"].shape[1]
        width = ((0, 0), (0, min(length, max_length - length)))
        padded = {
            name: np.pad(value, width, constant_values=padding if name == "input_ids" else 0)
            for name, value in feed.items()
        }
        for given in (feed, padded):
            found = [array[0] for array in session.run(list(OUTPUTS[kind]), dict(given))]
            if kind == "reader":
                agreed = min(_cosine(one[:length], two) for one, two in zip(found, expected, strict=True))
            elif kind == "reranker":
                agreed = 1 - abs(float(found[0][0] - expected[0][0])) / spread
            else:
                agreed = 1 - float(np.abs(_softmax(found[0]) - _softmax(expected[0])).max())
            lowest = min(lowest, agreed) if np.isfinite(agreed) else -1.0
    return lowest


def _cosine(first: NDArray[np.float32], second: NDArray[np.float32]) -> float:
    first, second = first - first.mean(), second - second.mean()
    return float(first @ second / max(float(np.linalg.norm(first) * np.linalg.norm(second)), 1e-12))


def _softmax(values: NDArray[np.float32]) -> NDArray[np.float32]:
    powers = np.exp(values - values.max())
    shares: NDArray[np.float32] = powers / powers.sum()
    return shares


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line of the module; returns the exit code."""
    parser = export_parser("longform.train.export_heads", __doc__, "a transformers folder")
    parser.add_argument("--kind", required=True, choices=HEADS)
    given = parser.parse_args(arguments)
    return exported(
        given,
        SHORTEST,
        lambda: export_head(
            given.folder, given.out, given.kind, int8=given.int8, max_length=given.max_length, name=given.name
        ),
    )


if __name__ == "__main__":
    sys.exit(main())
