"""What a reader is trained on: windows of tokens, each with the first and the last token of the answer.

J. Devlin et al., "BERT", NAACL 2019, section 4.3: where the window does not hold the whole answer, or there is none,
both stand at the first token.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from longform.errors import InputError
from longform.models.heads import cut_texts, encode_pairs
from longform.train.squad import SquadExample

__all__ = ["by_length", "collate", "windows_of"]

Window = dict[str, Any]

# Below so many tokens of text in a window there is hardly anything to read.
LEAST_TEXT = 8

# Windows that are sorted by length together, in batches: enough that hardly any padding is left (1 % of the tokens of
# half of SQuAD's dev set in batches of 16, where it is 31 % unsorted), few enough that batches differ from one pass to
# the next.
BATCHES_SORTED = 50


def windows_of(
    examples: Sequence[SquadExample], tokenizer: Any, *, max_length: int, stride: int, question_length: int
) -> list[Window]:
    """The windows of all examples in their order; ``tokenizer`` is one of the tokenizers library.

    A window has at most ``max_length`` tokens, at most ``question_length`` of them the question's, and repeats
    ``stride`` tokens of the one before it. Of several gold answers the one most people gave is learnt.
    """
    special = tokenizer.num_special_tokens_to_add(True)
    if max_length - question_length - stride - special < LEAST_TEXT:
        raise InputError(
            f"Windows of {max_length} tokens leave no room for text beside {question_length} of the question and "
            f"{stride} repeated ones: raise --max-length, or lower --question-length or --stride."
        )
    tokenizer.no_truncation()
    questions = cut_texts(tokenizer, [example.question.lstrip() for example in examples], question_length)
    tokenizer.enable_truncation(max_length, stride=stride, strategy="only_second")
    pairs = list(zip(questions, (example.context for example in examples), strict=True))
    found = []
    for example, encoding in zip(examples, encode_pairs(tokenizer, pairs), strict=True):
        for window in (encoding, *encoding.overflowing):
            first, last = _places(window, example)
            found.append(
                {
                    "input_ids": window.ids,
                    "token_type_ids": window.type_ids,
                    "start_positions": first,
                    "end_positions": last,
                }
            )
    return found


def _places(window: Any, example: SquadExample) -> tuple[int, int]:
    """The answer's first and last token, or 0 and 0."""
    text = [place for place, part in enumerate(window.sequence_ids) if part == 1]
    if not example.answers or not text:
        return 0, 0
    answer = Counter(example.answers).most_common(1)[0][0]
    start, end = answer.start, answer.start + len(answer.text)
    offsets = window.offsets
    if offsets[text[0]][0] > start or offsets[text[-1]][1] < end:
        return 0, 0
    inside = [place for place in text if offsets[place][1] > start and offsets[place][0] < end]
    return (inside[0], inside[-1]) if inside else (0, 0)


def collate(windows: Sequence[Window], padding: int, typed: bool) -> dict[str, Any]:
    """A batch of tensors, padded to its longest window; ``typed`` where the model tells the two texts apart."""
    import torch

    longest = max(len(window["input_ids"]) for window in windows)
    width = [longest - len(window["input_ids"]) for window in windows]
    rows = list(zip(windows, width, strict=True))
    batch = {
        "input_ids": [window["input_ids"] + [padding] * missing for window, missing in rows],
        "attention_mask": [[1] * (longest - missing) + [0] * missing for missing in width],
        "start_positions": [window["start_positions"] for window in windows],
        "end_positions": [window["end_positions"] for window in windows],
    }
    if typed:
        batch["token_type_ids"] = [window["token_type_ids"] + [0] * missing for window, missing in rows]
    return {name: torch.tensor(values) for name, values in batch.items()}


def by_length(lengths: Sequence[int], batch: int, seed: int, epoch: int) -> Iterator[int]:
    """The places of one pass over the windows: batches of like lengths, in random order; a short one comes last.

    It depends on nothing but what is given, so that a run that goes on after a kill sees the same batches.

    >>> list(by_length([9, 1, 8, 2, 3], batch=2, seed=0, epoch=0))
    [0, 2, 4, 3, 1]
    """
    rng = random.Random(f"{seed} {epoch}")
    places = list(range(len(lengths)))
    rng.shuffle(places)
    size = batch * BATCHES_SORTED
    ordered = [
        place
        for first in range(0, len(places), size)
        for place in sorted(places[first : first + size], key=lambda place: -lengths[place])
    ]
    batches = [ordered[first : first + batch] for first in range(0, len(ordered), batch)]
    short = [batches.pop()] if batches and len(batches[-1]) < batch else []
    rng.shuffle(batches)
    for group in [*batches, *short]:
        yield from group
