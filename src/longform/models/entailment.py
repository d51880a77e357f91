"""Entailment: does a premise support a hypothesis? A sequence classifier with onnxruntime on a CPU.

This is the judge of citations and claims (:mod:`longform.score.citations`; Gao et al., EMNLP 2023, section 4.3).
ALCE's own judge is a T5 model with 11 billion parameters; any natural-language-inference classifier takes its place
here, and scores are comparable only between runs with the same one (``fingerprint`` tells).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from longform.errors import InputError
from longform.models.encoder import CHARACTERS_PER_TOKEN
from longform.models.heads import Head, cut_texts, encode_pairs, open_head

__all__ = ["Entailment"]

NAMES = ("entailment", "entails", "entailed", "entail")

# Pairs that are tokenised together, and pairs whose results are kept: about 200 bytes each.
PAIRS = 512
KEPT = 100_000


@dataclass(frozen=True)
class Entailment:
    """Judges pairs of (premise, hypothesis); it is a :data:`longform.score.citations.Entails`.

    ``Entailment.load("nli")([("It rained all day.", "It rained."), ("It rained.", "It snowed.")])`` gives
    ``[True, False]``.
    """

    name: str
    """The name it was found by."""
    folder: Path
    """Where its files are."""
    labels: tuple[str, ...]
    """The model's labels, in the order of its numbers."""
    entailment: int
    """Which of them is entailment."""
    max_length: int
    """How many tokens premise and hypothesis have together; of longer ones the end of the premise is cut."""
    fingerprint: str
    """The sha256 of the model file."""
    threads: int
    _head: Head = field(repr=False)
    _output: str = field(repr=False)
    _tokenizer: Any = field(repr=False)
    _counter: Any = field(repr=False)
    _known: dict[bytes, NDArray[np.float32]] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def load(cls, name_or_path: str | Path = "entailment", threads: int | None = None) -> Entailment:
        """Load a folder, a name in the cache, or ``owner/name`` of the hub; on all cores without ``threads``.

        A folder holds ``tokenizer.json``, an ONNX file, and a ``config.json`` whose ``id2label`` tells which
        number is entailment. One with only safetensors weights is converted once, in 32 bits, into the cache,
        which needs ``longform[train]``; ``python -m longform.train.export_heads`` makes a faster 8-bit one.
        """
        head = open_head(name_or_path, "entailment", threads)
        labels = _labels(head)
        tokenizer, counter = head.open_tokenizer(), head.open_tokenizer()
        tokenizer.enable_truncation(head.max_length, strategy="only_first")
        counter.no_truncation()
        return cls(
            name=head.name,
            folder=head.folder,
            labels=labels,
            entailment=_entailment(labels, head),
            max_length=head.max_length,
            fingerprint=head.fingerprint,
            threads=head.threads,
            _head=head,
            _output=_output(head, tokenizer, len(labels)),
            _tokenizer=tokenizer,
            _counter=counter,
        )

    def __call__(self, pairs: Sequence[tuple[str, str]]) -> list[bool]:
        """For every pair whether entailment is the likeliest label."""
        rows = self.probabilities(pairs)
        return [bool(found) for found in rows.argmax(axis=1) == self.entailment]

    def probabilities(
        self,
        pairs: Sequence[tuple[str, str]],
        *,
        batch_tokens: int | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> NDArray[np.float32]:
        """The probability of every label: one row per pair, one column per label, in the order of ``labels``.

        Repeated pairs run once, also over several calls. ``progress`` is told how many pairs are done.
        ``batch_tokens`` runs pairs of similar length together, up to so many tokens at a time; an 8-bit model's
        numbers then depend a little on what else is in the batch.
        """
        keys = [_key(premise, hypothesis) for premise, hypothesis in pairs]
        rows = np.zeros((len(pairs), len(self.labels)), dtype=np.float32)
        wanted: dict[bytes, list[int]] = {}
        done = 0
        for place, key in enumerate(keys):
            known = self._known.get(key)
            if known is None:
                wanted.setdefault(key, []).append(place)
            else:
                rows[place] = known
                done += 1
        new = list(wanted.items())
        for first in range(0, len(new), PAIRS):
            part = new[first : first + PAIRS]
            encodings = self._encodings([pairs[places[0]] for _, places in part])
            for row, (logits,) in self._head.run(encodings, [self._output], batch_tokens):
                key, places = part[row]
                powers = np.exp(logits - logits.max())
                rows[places] = self._known[key] = powers / powers.sum()
                done += len(places)
                if progress is not None:
                    progress(done)
        while len(self._known) > KEPT:
            # The oldest: citations are judged answer by answer, and do not come back.
            self._known.pop(next(iter(self._known)))
        if progress is not None and not new:
            progress(done)
        return rows

    def _encodings(self, pairs: Sequence[tuple[str, str]]) -> list[Any]:
        special = self._tokenizer.num_special_tokens_to_add(True)
        # Only the premise is cut, unless the hypothesis would leave it less than a quarter.
        room = self.max_length - special - self.max_length // 4
        hypotheses = cut_texts(self._counter, [hypothesis for _, hypothesis in pairs], max(room, 1))
        premises = [premise[: self.max_length * CHARACTERS_PER_TOKEN] for premise, _ in pairs]
        return encode_pairs(self._tokenizer, list(zip(premises, hypotheses, strict=True)))


def _key(premise: str, hypothesis: str) -> bytes:
    """A pair in 16 bytes, so that remembering it does not keep its texts."""
    first, second = (text.encode("utf-8", "surrogatepass") for text in (premise, hypothesis))
    return hashlib.blake2b(len(first).to_bytes(8, "big") + first + second, digest_size=16).digest()


def _labels(head: Head) -> tuple[str, ...]:
    """The labels of ``id2label``, by number."""
    given = head.config.get("id2label")
    if isinstance(given, dict) and {str(key) for key in given} == {str(place) for place in range(len(given))}:
        labels = {int(key): label for key, label in given.items()}
        if labels and all(isinstance(label, str) for label in labels.values()):
            return tuple(labels[place] for place in range(len(labels)))
    raise InputError(
        f"{head.folder / 'config.json'} does not say what its labels mean: add an id2label such as "
        '{"0": "entailment", "1": "neutral", "2": "contradiction"}.'
    )


def _entailment(labels: Sequence[str], head: Head) -> int:
    found = [place for place, label in enumerate(labels) if label.strip().lower() in NAMES]
    if len(found) != 1:
        raise InputError(
            f"{head.folder} has the labels {', '.join(labels)}: name one of them entailment in the id2label of its "
            "config.json."
        )
    return found[0]


def _output(head: Head, tokenizer: Any, labels: int) -> str:
    """The output with one number per label."""
    flat = [name for name, shape in head.outputs.items() if len(shape) == 2]
    name = "logits" if "logits" in flat else flat[0] if len(flat) == 1 else None
    if name is None:
        raise InputError(f"{head.model} is no classifier: it gives {', '.join(head.outputs)}, not logits.")
    # Traced graphs leave their width open: one run tells.
    (found,) = head.run_batch(encode_pairs(tokenizer, [("a", "b")]), [name])
    if found.shape[1] != labels:
        raise InputError(
            f"{head.model} gives {found.shape[1]} numbers for a pair, but its config.json has {labels} labels: "
            "get the model folder anew."
        )
    return name
