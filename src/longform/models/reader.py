"""The reader: finds the answer to a question in a text, or says that there is none, with onnxruntime on a CPU.

The model gives every token of a window a number for "the answer starts here" and one for "it ends here"; the
two of the first token stand for "no answer". What is made of them follows one of two official pipelines:

=====================  =====================================  =========================================
step                   ``style="asqa"``                       ``style="alce"``
=====================  =====================================  =========================================
windows                384 tokens, 128 of them repeated       the same
score of a span        start + end, as logits                 product of probabilities within a window
longest span           30 tokens                              15 tokens
candidates             20 best starts × 20 best ends of a     all spans inside the text; the best of
                       window, those inside the text          each window
no answer              least score of the first token over    least product of the first token over
                       all windows; wins where it is higher   all windows; wins where it is higher
                       by more than the null threshold        by more than a factor of its power of e
text of the answer     from the first to the last token       widened to whole words
=====================  =====================================  =========================================

"asqa" is ``run_qa.py`` and ``utils_qa.py`` of transformers with ``--version_2_with_negative --max_seq_length 384
--null_score_diff_threshold 0``, as Disambig-F1 is computed (Stelmakh et al., EMNLP 2022, section 4); "alce" is the
question-answering pipeline of transformers 4.28.1 with ``handle_impossible_answer``, as ALCE uses it (Gao et al.,
EMNLP 2023, section 4.2), whose ``max_question_len`` of 64 fast tokenizers ignore. Two things differ. The official
script pads every window to 384 tokens, and the padding may take places among the 20 best; here nothing is padded. And
a question is cut after 124 tokens, where the official code fails from about 250 on: the longest of ASQA's dev split
has 64. The null threshold is 0, as in both pipelines, unless the model's ``config.json`` has a ``null_threshold``:
``longform train reader`` writes the one that was best on its validation articles. A difference of logits is the
logarithm of a ratio of probabilities, so that one number serves both styles.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from longform.errors import InputError
from longform.models.heads import Head, cut_texts, encode_pairs, open_head

__all__ = ["Reader", "ReaderAnswer", "ReaderStyle"]

ReaderStyle = Literal["asqa", "alce"]
Logits = NDArray[np.float32]

WINDOW = 384
N_BEST = 20
LONGEST_ANSWER = {"asqa": 30, "alce": 15}

# Pairs that are tokenised together: few enough that their windows take no memory to speak of.
PAIRS = 256


class ReaderAnswer(NamedTuple):
    """What a reader found: the answer and its place in the context; ``""`` at 0 to 0 where there is none."""

    text: str
    score: float
    """Of the best answer, whether it was given or not: a sum of logits ("asqa") or a probability ("alce")."""
    null_score: float
    """Of "no answer", on the same scale."""
    start: int
    end: int


class _Window(NamedTuple):
    """Tokens of one window, and what the model says of them."""

    encoding: Any
    starts: Logits
    ends: Logits


@dataclass(frozen=True)
class Reader:
    """Extracts short answers.

    ``Reader.load("roberta-squad").read([("Who won in 2010?", "In 2010, Spain won.")])`` gives
    ``[ReaderAnswer(text='Spain', score=…, null_score=…, start=9, end=14)]``.
    """

    name: str
    """The name it was found by."""
    folder: Path
    """Where its files are."""
    max_length: int
    """How many tokens a window has, the question among them."""
    stride: int
    """How many tokens of the context a window repeats of the one before it."""
    fingerprint: str
    """The sha256 of the model file."""
    threads: int
    null_threshold: float
    """By how much "no answer" must score higher than an answer to be given, in logits."""
    _head: Head = field(repr=False)
    _outputs: tuple[str, str] = field(repr=False)
    _tokenizer: Any = field(repr=False)
    _counter: Any = field(repr=False)

    @classmethod
    def load(cls, name_or_path: str | Path = "reader", threads: int | None = None) -> Reader:
        """Load a folder, a name in the cache, or ``owner/name`` of the hub; on all cores without ``threads``.

        A folder holds ``tokenizer.json``, ``config.json`` and an ONNX file with outputs ``start_logits`` and
        ``end_logits``. One with only safetensors weights is converted once, in 32 bits, into the cache, which
        needs ``longform[train]``; ``python -m longform.train.export_heads`` makes a faster 8-bit one.
        """
        return cls.of(open_head(name_or_path, "reader", threads))

    @classmethod
    def of(cls, head: Head) -> Reader:
        """The reader that runs an open model."""
        outputs = _outputs(head)
        length = min(head.max_length, WINDOW)
        # A third, which is 128 of 384: the question then may have what two strides leave.
        stride = min(length // 3, 128)
        tokenizer, counter = head.open_tokenizer(), head.open_tokenizer()
        tokenizer.enable_truncation(length, stride=stride, strategy="only_second")
        counter.no_truncation()
        return cls(
            name=head.name,
            folder=head.folder,
            max_length=length,
            stride=stride,
            fingerprint=head.fingerprint,
            threads=head.threads,
            null_threshold=_null_threshold(head),
            _head=head,
            _outputs=outputs,
            _tokenizer=tokenizer,
            _counter=counter,
        )

    def answering(self, null_threshold: float) -> Reader:
        """The same reader, with another ``null_threshold``: a higher one gives answers that it is less sure of."""
        return replace(self, null_threshold=null_threshold)

    def read(
        self,
        pairs: Sequence[tuple[str, str]],
        *,
        style: ReaderStyle = "asqa",
        batch_tokens: int | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> list[ReaderAnswer]:
        """The answer to each (question, context), in their order; ``progress`` is told how many are done.

        A context without a word has no answer. ``batch_tokens`` runs windows of similar length together, up to so
        many tokens at a time; an 8-bit model's numbers then depend a little on what else is in the batch.
        """
        if style not in LONGEST_ANSWER:
            raise InputError(f"There is no reader style {style!r}: choose asqa or alce.")
        decide = _asqa if style == "asqa" else _alce
        answers = [ReaderAnswer("", 0.0, 0.0, 0, 0)] * len(pairs)
        wanted = [place for place, (_, context) in enumerate(pairs) if context.strip()]
        done = len(pairs) - len(wanted)
        for first in range(0, len(wanted), PAIRS):
            places = wanted[first : first + PAIRS]
            for place, windows in self._windows([pairs[place] for place in places], style, batch_tokens):
                answers[places[place]] = decide(windows, pairs[places[place]][1], self.null_threshold)
                done += 1
                if progress is not None:
                    progress(done)
        if progress is not None and not wanted:
            progress(done)
        return answers

    def _windows(
        self, pairs: Sequence[tuple[str, str]], style: ReaderStyle, batch_tokens: int | None
    ) -> Iterator[tuple[int, list[_Window]]]:
        """For every pair its place and its windows, in the order of the text, as they are done."""
        room = self.max_length - 2 * self.stride - self._tokenizer.num_special_tokens_to_add(True)
        # The official script strips questions on the left, the pipeline does not.
        asked = [question.lstrip() if style == "asqa" else question for question, _ in pairs]
        questions = cut_texts(self._counter, asked, max(room, 1))
        contexts = [context for _, context in pairs]
        owners: list[int] = []
        encodings: list[Any] = []
        parts: list[list[_Window | None]] = []
        places: list[int] = []
        for owner, encoding in enumerate(encode_pairs(self._tokenizer, list(zip(questions, contexts, strict=True)))):
            own = [encoding, *encoding.overflowing]
            encodings += own
            owners += [owner] * len(own)
            places += range(len(own))
            parts.append([None] * len(own))
        for row, (starts, ends) in self._head.run(encodings, self._outputs, batch_tokens):
            length, owner = len(encodings[row].ids), owners[row]
            parts[owner][places[row]] = _Window(encodings[row], starts[:length], ends[:length])
            complete = [window for window in parts[owner] if window is not None]
            if len(complete) == len(parts[owner]):
                yield owner, complete
                parts[owner] = []


def _asqa(windows: Sequence[_Window], context: str, threshold: float) -> ReaderAnswer:
    """The answer by sums of logits, in 32 bits and in the order of the official script."""
    null = min(window.starts[0] + window.ends[0] for window in windows)
    # Score, start logit, end logit, first and last character of each candidate; on ties the earlier one stays first.
    found: list[tuple[np.float32, np.float32, np.float32, int, int]] = []
    for encoding, starts, ends in windows:
        inside = np.array([part == 1 for part in encoding.sequence_ids])
        # A new list at every access: 1.5 ms of 2 for a text of 150 words where it stood in the loop.
        offsets = encoding.offsets
        # The question and the special tokens compete for the 20 places too.
        best_starts, best_ends = (np.argsort(values, kind="stable")[: -N_BEST - 1 : -1] for values in (starts, ends))
        length = best_ends[None, :] - best_starts[:, None] + 1
        allowed = inside[best_starts][:, None] & inside[best_ends][None, :] & (length >= 1)
        for row, column in np.argwhere(allowed & (length <= LONGEST_ANSWER["asqa"])):
            start, end = int(best_starts[row]), int(best_ends[column])
            span = offsets[start][0], offsets[end][1]
            found.append((starts[start] + ends[end], starts[start], ends[end], *span))
    found.sort(key=lambda candidate: candidate[0], reverse=True)
    for score, start_logit, end_logit, first, last in found[:N_BEST]:
        if context[first:last]:
            if null - start_logit - end_logit > threshold:
                return ReaderAnswer("", float(score), float(null), 0, 0)
            return ReaderAnswer(context[first:last], float(score), float(null), first, last)
    # The official script puts this word, with a score of 0, where it has no candidate.
    return ReaderAnswer("" if null > threshold else "empty", 0.0, float(null), 0, 0)


def _alce(windows: Sequence[_Window], context: str, threshold: float) -> ReaderAnswer:
    """The answer by probabilities: the best span of each window, and the best of these."""
    null, best = np.inf, ReaderAnswer("", -1.0, 0.0, 0, 0)
    for encoding, starts, ends in windows:
        # The first token counts in the softmax, the question and the other special tokens do not.
        inside = np.array([place == 0 or part == 1 for place, part in enumerate(encoding.sequence_ids)])
        start, end = (_softmax(np.where(inside, values, np.float32(-10000))) for values in (starts, ends))
        null = min(null, float(start[0] * end[0]))
        start[0] = end[0] = 0
        spans = np.tril(np.triu(np.outer(start, end)), LONGEST_ANSWER["alce"] - 1)
        first, last = (int(place) for place in np.unravel_index(int(spans.argmax()), spans.shape))
        score = float(spans[first, last])
        if score > best.score:
            begin, stop = _words(encoding, first, last)
            best = ReaderAnswer(context[begin:stop], score, 0.0, begin, stop)
    # No ratio of two probabilities is beyond the limit, which keeps the power finite.
    if null > best.score * math.exp(min(threshold, 700.0)) or not best.text:
        return ReaderAnswer("", max(best.score, 0.0), null, 0, 0)
    return best._replace(null_score=null)


def _softmax(values: Logits) -> Logits:
    """Probabilities of logits.

    >>> _softmax(np.zeros(4, dtype=np.float32)).tolist()
    [0.25, 0.25, 0.25, 0.25]
    """
    powers = np.exp(values - values.max())
    shares: Logits = powers / powers.sum()
    return shares


def _words(encoding: Any, first: int, last: int) -> tuple[int, int]:
    """The characters of the words that two tokens of the context belong to."""
    words = encoding.token_to_word(first), encoding.token_to_word(last)
    if None not in words:
        spans = [encoding.word_to_chars(word, 1) for word in words]
        if None not in spans:
            return int(spans[0][0]), int(spans[1][1])
    return int(encoding.offsets[first][0]), int(encoding.offsets[last][1])


def _null_threshold(head: Head) -> float:
    """The folder's own threshold, 0 where it has none."""
    value = head.config.get("null_threshold", 0.0)
    if isinstance(value, bool) or not isinstance(value, int | float) or not np.isfinite(value):
        raise InputError(f"{head.folder / 'config.json'}: null_threshold should be a number, not {value!r}.")
    return float(value)


def _outputs(head: Head) -> tuple[str, str]:
    """The outputs for starts and ends: by name, else the only two with one number per token, in their order."""
    if {"start_logits", "end_logits"} <= set(head.outputs):
        return "start_logits", "end_logits"
    flat = [name for name, shape in head.outputs.items() if len(shape) == 2]
    if len(flat) != 2 or len(head.outputs) != 2:
        raise InputError(
            f"{head.model} is not a reader: it gives {', '.join(head.outputs)}, not start_logits and end_logits."
        )
    return flat[0], flat[1]
