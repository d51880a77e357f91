"""What the models over pairs of texts share: opening their folder, and running tokens through them.

A window of tokens runs by itself, on as many threads as there are cores, for the reason that
:mod:`longform.models.encoder` gives: an 8-bit model's numbers depend on what else is in the batch.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from longform.errors import FailureError, InputError
from longform.files import sha256_of
from longform.models.conversion import onnx_of
from longform.models.encoder import CHARACTERS_PER_TOKEN, _groups
from longform.models.encoder_settings import read_json, read_settings
from longform.models.registry import find_model
from longform.models.runtime import available_cores, open_session, open_tokenizer, text_inputs

__all__ = ["HEADS", "Head", "cut_texts", "encode_pairs", "head_format", "open_head"]

HEADS = ("reader", "entailment", "reranker")

# A question or a claim and some text to go with it: fewer tokens hold nothing that could be judged.
SHORTEST = 16


def head_format(kind: str) -> str:
    """The name of the format that ``longform.train.export_heads`` writes.

    >>> head_format("reader")
    'longform-reader/1'
    """
    return f"longform-{kind}/1"


@dataclass(frozen=True)
class Head:
    """An open model over pairs of texts: its session, and what its folder says of it."""

    name: str
    folder: Path
    model: Path
    max_length: int
    fingerprint: str
    threads: int
    config: Mapping[str, Any] = field(repr=False)
    outputs: Mapping[str, Sequence[Any]]
    """The names and shapes of the model's outputs."""
    _session: Any = field(repr=False)
    _inputs: dict[str, Any] = field(repr=False)

    def open_tokenizer(self) -> Any:
        """The folder's tokenizer, to be set up by whoever uses it."""
        return open_tokenizer(self.folder, self.max_length)

    def run(
        self, encodings: Sequence[Any], outputs: Sequence[str], batch_tokens: int | None = None
    ) -> Iterator[tuple[int, list[NDArray[np.float32]]]]:
        """For every encoding its place and its rows of the outputs, as they are done: longest first."""
        groups = list(_groups([len(encoding.ids) for encoding in encodings], batch_tokens))
        pool = ThreadPoolExecutor(min(self.threads, max(len(groups), 1)))
        try:
            batches = [[encodings[row] for row in group] for group in groups]
            found = pool.map(lambda batch: self.run_batch(batch, outputs), batches)
            for group, arrays in zip(groups, found, strict=True):
                for place, row in enumerate(group):
                    yield row, [array[place] for array in arrays]
        finally:
            pool.shutdown(cancel_futures=True)

    def run_batch(self, encodings: Sequence[Any], outputs: Sequence[str]) -> list[NDArray[np.float32]]:
        """The outputs for one batch, padded at the end to its longest row."""
        shape = len(encodings), max(len(encoding.ids) for encoding in encodings)
        ids = np.full(shape, self._number("pad_token_id", 0), dtype=np.int64)
        mask, types = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
        # RoBERTa has one type only, whatever its tokenizer says.
        typed = self._number("type_vocab_size", 2) > 1
        for row, encoding in enumerate(encodings):
            length = len(encoding.ids)
            ids[row, :length] = encoding.ids
            mask[row, :length] = 1
            if typed:
                types[row, :length] = encoding.type_ids
        values = {"input_ids": ids, "attention_mask": mask, "token_type_ids": types}
        feed = {name: values[name].astype(dtype, copy=False) for name, dtype in self._inputs.items()}
        arrays = [np.asarray(array, dtype=np.float32) for array in self._session.run(list(outputs), feed)]
        if not all(np.isfinite(array).all() for array in arrays):
            raise FailureError(f"{self.model} gave a number that is not finite: get the file anew.")
        return arrays

    def _number(self, name: str, default: int) -> int:
        value = self.config.get(name)
        return value if isinstance(value, int) else default


def open_head(name_or_path: str | Path, kind: str, threads: int | None) -> Head:
    """Open a model of a kind: a folder, a name in the cache, or ``owner/name`` of the hub."""
    if threads is not None and threads < 1:
        raise InputError(f"threads must be 1 or more, not {threads}.")
    files = find_model(name_or_path, kind)
    folder, model = onnx_of(
        files, lambda: files.kind + repr(read_json(files.folder / "config.json")), "export_heads:export_head"
    )
    config = read_json(folder / "config.json") or {}
    if not isinstance(config, dict):
        raise InputError(f"{folder / 'config.json'} should hold a JSON object: get the model folder anew.")
    own = config.get("format") == head_format(kind)
    max_length = int(config["max_length"]) if own else read_settings(folder).max_length
    if max_length < SHORTEST:
        raise InputError(f"{folder} takes {max_length} tokens at a time, where {SHORTEST} are the least.")
    session = open_session(model)
    return Head(
        name=files.name,
        folder=folder,
        model=model,
        max_length=max_length,
        fingerprint=files.entry.sha256["model.onnx"] if files.entry else sha256_of(model),
        threads=threads or available_cores(),
        config=config,
        outputs={found.name: found.shape for found in session.get_outputs()},
        _session=session,
        _inputs=text_inputs(session, model, f"no model of kind {kind}"),
    )


def encode_pairs(tokenizer: Any, pairs: Sequence[tuple[str, str]]) -> list[Any]:
    """The encodings of pairs, cut as the tokenizer is set up to."""
    try:
        encodings: list[Any] = tokenizer.encode_batch(list(pairs))
    except (TypeError, UnicodeEncodeError):
        # Half of a surrogate pair is no character; the "?" in its place keeps all offsets.
        encodings = tokenizer.encode_batch([(_clean(first), _clean(second)) for first, second in pairs])
    return encodings


def cut_texts(tokenizer: Any, texts: Sequence[str], tokens: int) -> list[str]:
    """The first so many tokens of each text, as text; the tokenizer must cut nothing itself."""
    given = [_clean(text[: tokens * CHARACTERS_PER_TOKEN]) for text in texts]
    encodings = tokenizer.encode_batch(given, add_special_tokens=False)
    return [
        text[: encoding.offsets[tokens - 1][1]] if len(encoding.ids) > tokens else text
        for text, encoding in zip(given, encodings, strict=True)
    ]


def _clean(text: str) -> str:
    return text.encode("utf-8", "replace").decode()
