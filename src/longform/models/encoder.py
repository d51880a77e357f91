"""The dense encoder: texts to vectors, with onnxruntime on a CPU.

Each text runs through the model by itself, on as many threads as there are cores. Eight-bit models round
activations with one scale for the whole batch, so in a batch a text's vector would depend on its neighbours
(cosine 0.995 at the worst of 2,000 passages between alone and in batches of 32); alone it is the same every
time. It is not slower: 81 passages per second against 68 in batches of 32, on two cores, because nothing is
padded and the threads never wait for each other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from longform.errors import InputError
from longform.files import sha256_of
from longform.models.conversion import onnx_of
from longform.models.encoder_settings import EncoderSettings, read_settings
from longform.models.registry import find_model
from longform.models.runtime import available_cores, open_session, open_tokenizer, text_inputs

__all__ = ["Encoder"]

# Texts that are tokenised and sorted by length together: enough that threads end at the same time, few enough
# that their tokens take no memory to speak of (256 tokens × 8 bytes × 2,048 = 4 MB).
WINDOW = 2048

# A text is cut to this many characters per token before it is tokenised, so that a book costs no more than a
# page. English has 4 to 5 characters per token.
CHARACTERS_PER_TOKEN = 128


@dataclass(frozen=True)
class Encoder:
    """Turns texts into vectors whose inner product is their similarity.

    >>> encoder = Encoder.load()
    >>> vectors = encoder.encode(["A cat sat on the mat.", "A kitten lay on the rug.", "Prices rose in May."])
    >>> vectors.shape, bool(vectors[0] @ vectors[1] > vectors[0] @ vectors[2])
    ((3, 384), True)
    """

    name: str
    """The name it was found by."""
    folder: Path
    """Where its files are."""
    dimension: int
    """How many numbers a vector has."""
    max_length: int
    """How many tokens of a text count; the rest is cut."""
    fingerprint: str
    """The sha256 of the model file: vectors of encoders with the same one can be compared."""
    threads: int
    _settings: EncoderSettings = field(repr=False)
    _tokenizer: Any = field(repr=False)
    _session: Any = field(repr=False)
    _inputs: dict[str, Any] = field(repr=False)
    _output: str = field(repr=False)

    @classmethod
    def load(cls, name_or_path: str | Path = "encoder", threads: int | None = None) -> Encoder:
        """Load a shipped encoder, a folder, or ``owner/name`` of the hub; on all cores without ``threads``.

        A folder holds ``tokenizer.json`` and an ONNX file. One with only safetensors weights is converted
        once, in 32 bits, into the cache, which needs ``longform[train]``; ``python -m longform.train.export``
        makes a faster 8-bit one.
        """
        if threads is not None and threads < 1:
            raise InputError(f"threads must be 1 or more, not {threads}.")
        files = find_model(name_or_path, "encoder")
        folder, model = onnx_of(files, lambda: repr(read_settings(files.folder)), "export:export")
        settings = read_settings(folder)
        tokenizer = open_tokenizer(folder, settings.max_length)
        session = open_session(model)
        inputs = text_inputs(session, model, "not a sentence encoder")
        output, dimension = _output(session, model, inputs)
        return cls(
            name=files.name,
            folder=folder,
            dimension=dimension,
            max_length=settings.max_length,
            fingerprint=files.entry.sha256["model.onnx"] if files.entry else sha256_of(model),
            threads=threads or available_cores(),
            _settings=settings,
            _tokenizer=tokenizer,
            _session=session,
            _inputs=inputs,
            _output=output,
        )

    def encode(
        self,
        texts: Sequence[str],
        *,
        batch_tokens: int | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> NDArray[np.float32]:
        """The vectors of passages, one row per text in their order; ``progress`` is told how many are done.

        ``batch_tokens`` runs texts of similar length together, up to so many tokens at a time: 1.3 to 1.5
        times as fast for texts of a dozen tokens, no faster from 50 tokens on, and an 8-bit model's vectors
        then depend a little on what else is in the batch.
        """
        return self._encode(texts, self._settings.passage_prompt, batch_tokens, progress)

    def encode_questions(
        self,
        texts: Sequence[str],
        *,
        batch_tokens: int | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> NDArray[np.float32]:
        """The vectors of questions: as :meth:`encode`, with the model's prompt for queries if it has one."""
        return self._encode(texts, self._settings.question_prompt, batch_tokens, progress)

    def _encode(
        self,
        texts: Sequence[str],
        prompt: str,
        batch_tokens: int | None,
        progress: Callable[[int], None] | None,
    ) -> NDArray[np.float32]:
        if isinstance(texts, str):
            raise TypeError("encode takes a list of texts, not one text: give [text].")
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        done = 0
        pool = ThreadPoolExecutor(min(self.threads, max(len(texts), 1)))
        try:
            for start in range(0, len(texts), WINDOW):
                tokens = self._tokens([prompt + text for text in texts[start : start + WINDOW]])
                groups = list(_groups([len(ids) for ids in tokens], batch_tokens))
                batches = [[tokens[row] for row in group] for group in groups]
                for group, rows in zip(groups, pool.map(self._run, batches), strict=True):
                    vectors[[start + row for row in group]] = rows
                    done += len(group)
                    if progress is not None:
                        progress(done)
        finally:
            # On Ctrl-C up to a window of texts still waits: dropped, or stopping would take half a minute.
            pool.shutdown(cancel_futures=True)
        return vectors

    def _tokens(self, texts: list[str]) -> list[list[int]]:
        longest = self.max_length * CHARACTERS_PER_TOKEN
        texts = [text[:longest] for text in texts]
        if self._settings.lowercase:
            texts = [text.lower() for text in texts]
        try:
            encodings = self._tokenizer.encode_batch(texts)
        except (TypeError, UnicodeEncodeError):
            # Half of a surrogate pair, as broken JSON escapes leave it, is no character.
            clean = [text.encode("utf-8", "replace").decode() for text in texts]
            encodings = self._tokenizer.encode_batch(clean)
        # A tokenizer without special tokens makes nothing of an empty text; the model needs one token.
        return [encoding.ids or [0] for encoding in encodings]

    def _run(self, tokens: list[list[int]]) -> NDArray[np.float32]:
        """The vectors of one batch."""
        ids = np.zeros((len(tokens), max(map(len, tokens))), dtype=np.int64)
        mask = np.zeros_like(ids)
        for row, found in enumerate(tokens):
            ids[row, : len(found)] = found
            mask[row, : len(found)] = 1
        values = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        feed = {name: values[name].astype(dtype, copy=False) for name, dtype in self._inputs.items()}
        result: NDArray[np.float32] = np.asarray(self._session.run([self._output], feed)[0], dtype=np.float32)
        vectors: NDArray[np.float32]
        if result.ndim == 2:
            vectors = result
        elif self._settings.pooling == "cls":
            vectors = result[:, 0]
        else:
            weight = mask[:, :, None].astype(np.float32)
            vectors = (result * weight).sum(axis=1) / weight.sum(axis=1)
        if self._settings.normalise:
            vectors = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), np.float32(1e-12))
        return vectors


def _groups(lengths: list[int], batch_tokens: int | None) -> Iterator[list[int]]:
    """The rows that run together, longest first so that the threads end together.

    >>> list(_groups([3, 9, 4], None)), list(_groups([3, 9, 4], 10))
    ([[1], [2], [0]], [[1], [2, 0]])
    """
    group: list[int] = []
    for row in sorted(range(len(lengths)), key=lambda row: -lengths[row]):
        if group and (batch_tokens is None or lengths[group[0]] * (len(group) + 1) > batch_tokens):
            yield group
            group = []
        group.append(row)
    if group:
        yield group


def _output(session: Any, model: Path, inputs: dict[str, Any]) -> tuple[str, int]:
    """The output to use and its width: a sentence's vector where there is one, else its tokens' vectors."""
    outputs = {found.name: found.shape for found in session.get_outputs()}
    wanted = [name for name in ("sentence_embedding", "token_embeddings", "last_hidden_state") if name in outputs]
    wanted += [name for name, shape in outputs.items() if len(shape) == 3]
    if not wanted:
        raise InputError(
            f"{model} is not a sentence encoder: it gives {', '.join(outputs)}, "
            "not sentence_embedding or last_hidden_state."
        )
    width = outputs[wanted[0]][-1]
    if not isinstance(width, int):
        # The graph leaves its width open, as traced graphs do: one run tells.
        feed = {name: np.ones((1, 3), dtype=dtype) for name, dtype in inputs.items()}
        width = int(session.run([wanted[0]], feed)[0].shape[-1])
    return wanted[0], width
