"""The cross-encoder: reads a question and a passage together and says how well they fit, with onnxruntime on a CPU.

Longform's own re-rankers read ``[CLS] question [SEP] title [SEP] text [SEP]``, token types 0 up to the first ``[SEP]``
and 1 after it (Christmann et al., 2024, appendix A); question and title are cut to so many tokens as
``config.json`` says, and the end of the text to what is left. Other people's read the pair of the question and
"title. text" in the form that their tokenizer gives to pairs.

Each pair runs by itself, on as many threads as there are cores: an 8-bit model's numbers depend on what else is in the
batch (by up to 0.4 of the scores' standard deviation over 100 passages, in MiniLM-L6 with a new head), and batches are
no faster: 100 passages of 133 tokens take it 2.67 CPU-seconds one by one, 2.73 in groups of the same length, and 2.82,
2.94 and 3.07 in groups of 2, 4 and 8 of similar length.
"""

from __future__ import annotations

import hashlib
import math
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from longform.errors import InputError
from longform.files import sha256_of
from longform.models.encoder import CHARACTERS_PER_TOKEN
from longform.models.heads import Head, _clean, head_format, open_head
from longform.models.runtime import open_session, text_inputs

__all__ = ["CrossEncoder", "TitledText"]

Ids = NDArray[np.int32]

# Passages whose tokens are kept for each model, in the whole process: about 0.7 kB each, so 14 MB.
KEPT = 20_000

# Characters of English text that make a token, with the space: 4.7 in Wikipedia, 4.5 in abstracts of articles.
_CHARACTERS_OF_ENGLISH = 4.6


class TitledText(Protocol):
    """What a cross-encoder reads of a passage; :class:`longform.Passage` is one."""

    @property
    def title(self) -> str: ...

    @property
    def text(self) -> str: ...


class _Input(NamedTuple):
    """The tokens of a pair, as :meth:`longform.models.heads.Head.run` takes them."""

    ids: Ids
    type_ids: Ids


class _Template(NamedTuple):
    """What stands around the two texts of a pair, and how much of each is kept."""

    before: Sequence[int]
    between: Sequence[int]
    after: Sequence[int]
    types: tuple[int, int]
    """The token type of the question and what is before and after it, and that of the rest."""
    question_tokens: int
    title_tokens: int | None
    """``None`` where title and text are one text."""


@dataclass(frozen=True)
class CrossEncoder:
    """Scores passages for a question: higher fits better; what the numbers mean is the model's own affair.

    ``CrossEncoder.load("my-reranker").score("Who won?", [spain, tea])`` gives ``array([ 3.1, -7.2], dtype=float32)``.
    """

    name: str
    """The name it was found by."""
    folder: Path
    """Where its files are."""
    max_length: int
    """How many tokens a pair has; of longer ones the end of the text is cut."""
    fingerprint: str
    """The sha256 of the model file."""
    threads: int
    keep: int | None
    """How many passages the early model leaves to the whole one; ``None`` where the folder has no early model."""
    mix: Mapping[str, float]
    """What of other stages counts beside this model's score, by its name (``bm25``, ``similarity``)."""
    _head: Head = field(repr=False)
    _early: Head | None = field(repr=False)
    _output: dict[str, str] = field(repr=False)
    _template: _Template = field(repr=False)
    _tokenizer: Any = field(repr=False)
    _tokens: _TokenCache = field(repr=False, compare=False)

    @classmethod
    def load(cls, name_or_path: str | Path = "reranker", threads: int | None = None) -> CrossEncoder:
        """Load a shipped re-ranker, a folder, or ``owner/name`` of the hub; on all cores without ``threads``.

        A folder holds ``tokenizer.json``, ``config.json`` and an ONNX file with one output of one number for a pair.
        One with only safetensors weights is converted once, in 32 bits, into the cache, which needs
        ``longform[train]``; ``python -m longform.train.export_heads --kind reranker`` makes a faster 8-bit one.
        """
        head = open_head(name_or_path, "reranker", threads)
        tokenizer = head.open_tokenizer()
        tokenizer.no_truncation()
        template = _template(head, tokenizer)
        early, keep = _cut(head)
        model = cls(
            name=head.name,
            folder=head.folder,
            max_length=head.max_length,
            fingerprint=head.fingerprint,
            threads=head.threads,
            keep=keep,
            mix=_mix(head),
            _head=head,
            _early=early,
            _output={str(one.model): _output(one) for one in (head, early) if one is not None},
            _template=template,
            _tokenizer=tokenizer,
            _tokens=_TokenCache.of(f"{sha256_of(head.folder / 'tokenizer.json')} {head.max_length} {template}"),
        )
        for one in filter(None, (head, early)):
            model._check(one)
        return model

    def score(
        self,
        question: str,
        passages: Sequence[TitledText],
        *,
        early: bool = False,
        progress: Callable[[int], None] | None = None,
    ) -> NDArray[np.float32]:
        """The score of each passage, in their order; ``progress`` is told how many are done.

        A passage's score depends on the question and on itself alone, not on the others or on the threads. ``early``
        asks the early model, where the folder has one (``keep`` tells).
        """
        head = self._early if early else self._head
        if head is None:
            raise InputError(f"{self.folder} has no early model: its config.json names none under cut.")
        scores = np.zeros(len(passages), dtype=np.float32)
        found = head.run(self._inputs(question, passages), [self._output[str(head.model)]])
        for done, (row, (number,)) in enumerate(found, 1):
            scores[row] = np.asarray(number).reshape(-1)[0]
            if progress is not None:
                progress(done)
        return scores

    def lengths(self, question: str, passages: Sequence[TitledText]) -> list[int]:
        """How many tokens each pair has, which is what it costs."""
        return [len(pair.ids) for pair in self._inputs(question, passages)]

    def share_read(self, question: str, passages: Sequence[TitledText]) -> float:
        """About how much of the passages fits beside the question, from 0 to 1, by their characters."""
        before, between, after, _, longest, _ = self._template
        asked = self._encode([question[: longest * CHARACTERS_PER_TOKEN]])[0][:longest]
        room = self.max_length - len(before) - len(asked) - len(between) - len(after)
        sizes = [len(passage.title) + len(passage.text) for passage in passages]
        return float(np.mean([min(1, room * _CHARACTERS_OF_ENGLISH / max(size, 1)) for size in sizes])) if sizes else 1

    def _inputs(self, question: str, passages: Sequence[TitledText]) -> list[_Input]:
        before, between, after, (first, second), longest, _ = self._template
        asked = self._encode([question[: longest * CHARACTERS_PER_TOKEN]])[0][:longest]
        start = np.array([*before, *asked, *between], dtype=np.int32)
        end = np.array(after, dtype=np.int32)
        room = self.max_length - len(start) - len(end)
        inputs = []
        for body in self._tokens.get(passages, self._bodies):
            ids = np.concatenate((start, body[:room], end))
            types = np.full(len(ids), second, dtype=np.int32)
            types[: len(start)] = first
            inputs.append(_Input(ids, types))
        return inputs

    def _bodies(self, passages: Sequence[TitledText]) -> list[Ids]:
        """The tokens of passages: title, separator and text, or both as one text."""
        longest = self.max_length * CHARACTERS_PER_TOKEN
        kept = self._template.title_tokens
        if kept is None:
            texts = [f"{passage.title}. {passage.text}" if passage.title else passage.text for passage in passages]
            rows = self._encode([text[:longest] for text in texts])
        else:
            titles = self._encode([passage.title[: kept * CHARACTERS_PER_TOKEN] for passage in passages])
            texts = self._encode([passage.text[:longest] for passage in passages])
            rows = [[*title[:kept], *self._template.after, *text] for title, text in zip(titles, texts, strict=True)]
        return [np.array(row[: self.max_length], dtype=np.int32) for row in rows]

    def _encode(self, texts: list[str]) -> list[Any]:
        try:
            encodings = self._tokenizer.encode_batch(texts, add_special_tokens=False)
        except (TypeError, UnicodeEncodeError):
            # Half of a surrogate pair, as broken JSON escapes leave it, is no character.
            encodings = self._tokenizer.encode_batch([_clean(text) for text in texts], add_special_tokens=False)
        return [encoding.ids for encoding in encodings]

    def _check(self, head: Head) -> None:
        """Run one pair: graphs leave the width of their output open."""
        ids = np.array([*self._template.before, *self._template.between, *self._template.after], dtype=np.int32)
        (found,) = head.run_batch([_Input(ids, np.zeros_like(ids))], [self._output[str(head.model)]])
        if found.size != 1:
            raise InputError(f"{head.model} is no re-ranker: it gives {found.size} numbers for a pair, not one.")


class _TokenCache:
    """The tokens of the passages that were seen last, by 16 bytes of their title and text."""

    _all: dict[str, _TokenCache] = {}  # noqa: RUF012 - one for the whole process is the point

    def __init__(self) -> None:
        self._known: OrderedDict[bytes, Ids] = OrderedDict()
        self._lock = Lock()

    @classmethod
    def of(cls, key: str) -> _TokenCache:
        """The cache of all models that cut texts into tokens in the same way."""
        return cls._all.setdefault(key, cls())

    def get(self, passages: Sequence[TitledText], encode: Callable[[Sequence[TitledText]], list[Ids]]) -> list[Ids]:
        """The tokens of passages; ``encode`` makes those that are not known."""
        keys = [_key(passage) for passage in passages]
        with self._lock:
            found = {key: self._known[key] for key in keys if key in self._known}
        new = {key: passage for key, passage in zip(keys, passages, strict=True) if key not in found}
        if new:
            found.update(zip(new, encode(list(new.values())), strict=True))
        with self._lock:
            for key in keys:
                self._known[key] = found[key]
                self._known.move_to_end(key)
            while len(self._known) > KEPT:
                self._known.popitem(last=False)
        return [found[key] for key in keys]


def _key(passage: TitledText) -> bytes:
    title, text = (part.encode("utf-8", "surrogatepass") for part in (passage.title, passage.text))
    return hashlib.blake2b(len(title).to_bytes(8, "big") + title + text, digest_size=16).digest()


def _template(head: Head, tokenizer: Any) -> _Template:
    """The special tokens, taken from what the tokenizer makes of a pair; the rest from ``config.json``."""
    pair = tokenizer.encode("a", "b")
    parts = pair.sequence_ids
    if not {0, 1} <= set(parts):
        raise InputError(f"{head.folder / 'tokenizer.json'} does not take pairs of texts: it is no re-ranker's.")
    starts, last = (parts.index(0), parts.index(1)), len(parts) - parts[::-1].index(1)
    before, after = pair.ids[: starts[0]], pair.ids[last:]
    between = pair.ids[len(parts) - parts[::-1].index(0) : starts[1]]
    if head.config.get("format") != head_format("reranker") or head.config.get("template") == "pair":
        types = pair.type_ids[starts[0]], pair.type_ids[starts[1]]
        return _Template(before, between, after, types, head.max_length // 2, None)
    question, title = _whole(head, head.config, "question_tokens", 1), _whole(head, head.config, "title_tokens", 0)
    if not before or not after:
        raise InputError(f"{head.folder / 'tokenizer.json'} puts no tokens around a pair, where [CLS] and [SEP] go.")
    # The first of all is [CLS], the last is [SEP], whatever they are called.
    if question + title + 4 >= head.max_length:
        raise InputError(
            f"{head.folder / 'config.json'} leaves no room for the text: max_length {head.max_length} must be more "
            f"than question_tokens {question} + title_tokens {title} + 4."
        )
    return _Template(before[:1], after[-1:], after[-1:], (0, 1), question, title)


def _whole(head: Head, config: Mapping[str, Any], name: str, least: int) -> int:
    value = config.get(name)
    if isinstance(value, int) and not isinstance(value, bool) and value >= least:
        return value
    raise InputError(
        f"{head.folder / 'config.json'} needs a whole number of {least} or more as {name}: get the model folder anew."
    )


def _mix(head: Head) -> Mapping[str, float]:
    """What ``mix`` in ``config.json`` says: ``{"bm25": 0.1, "similarity": 0.3}``."""
    mix = head.config.get("mix", {}) if head.config.get("format") == head_format("reranker") else {}
    numbers = isinstance(mix, dict) and all(
        isinstance(weight, (int, float)) and math.isfinite(weight) for weight in mix.values()
    )
    if not numbers or not set(mix) <= {"bm25", "similarity"}:
        raise InputError(f"{head.folder / 'config.json'}: mix must give numbers for bm25 and similarity, not {mix}.")
    return {name: float(weight) for name, weight in mix.items()}


def _output(head: Head) -> str:
    """The output with the score: one number for a pair."""
    name = "logits" if "logits" in head.outputs else next(iter(head.outputs))
    if (len(head.outputs) > 1 and name != "logits") or len(head.outputs[name]) not in (1, 2):
        raise InputError(f"{head.model} is no re-ranker: it gives {', '.join(head.outputs)}, not logits.")
    return name


def _cut(head: Head) -> tuple[Head | None, int | None]:
    """The early model that ``cut`` in ``config.json`` names, ``{"file": "early.onnx", "keep": 40}``, and its number."""
    cut = head.config.get("cut") if head.config.get("format") == head_format("reranker") else None
    if cut is None:
        return None, None
    file = cut.get("file") if isinstance(cut, dict) else None
    if not isinstance(file, str) or Path(file).name != file or not (head.folder / file).is_file():
        raise InputError(
            f"{head.folder / 'config.json'} has a cut without the early model: name its ONNX file under file."
        )
    keep = _whole(head, cut, "keep", 1)
    model = head.folder / file
    session = open_session(model)
    outputs = {found.name: found.shape for found in session.get_outputs()}
    inputs = text_inputs(session, model, "no model of kind reranker")
    return replace(head, model=model, outputs=outputs, _session=session, _inputs=inputs), keep
