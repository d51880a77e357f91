"""From a question, its passages and its answer to tokens: the prompt of the run-time, then the answer and its end.

Only the answer is learnt. Passages are cut until both fit; an answer is never cut, as a writer would learn from it to
stop in the middle of a sentence.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple

from longform.progress import Progress, no_progress
from longform.records import Hit
from longform.train.generator_data import Example

__all__ = ["IGNORED", "Prompter", "Row", "Text", "Tokenised", "collate", "rows_of"]

# What the loss passes over.
IGNORED = -100

# With fewer tokens of each passage than this there is nothing to rest an answer on: such an example would teach to
# make answers up.
LEAST_OF_A_PASSAGE = 16


class Text(NamedTuple):
    """A prompt, the answer to it, and what ends that; ``special`` where the tokenizer adds its own first token."""

    prompt: str
    answer: str
    end: str
    special: bool


# The text of a question, its passages and its answer.
Prompter = Callable[[str, Sequence[Hit], str], Text]


@dataclass(frozen=True, slots=True)
class Row:
    """The tokens of an example: the first ``prompt`` of them are given, the others are to be written."""

    ids: tuple[int, ...]
    prompt: int


@dataclass(frozen=True, slots=True)
class Tokenised:
    """The rows of examples; ``cut`` of them have shortened passages, ``left_out`` examples had no room for passages."""

    rows: list[Row]
    cut: int
    left_out: int


def rows_of(
    examples: Sequence[Example],
    prompter: Prompter,
    tokenizer: Any,
    max_length: int,
    progress: Progress = no_progress,
) -> Tokenised:
    """The rows of examples in their order, each at most ``max_length`` tokens long."""
    rows: list[Row] = []
    cut = 0
    shorten = _shortener(tokenizer)

    def row_of(example: Example, tokens: int | None) -> Row:
        hits = example.hits if tokens is None else [shorten(hit, tokens) for hit in example.hits]
        return _row(tokenizer, prompter(example.question, hits, example.answer))

    for done, example in enumerate(examples, 1):
        row = row_of(example, None)
        if len(row.ids) > max_length:
            cut += 1
            least, most = LEAST_OF_A_PASSAGE, max_length
            row = row_of(example, least)
            # The longest passages are cut first, all to the same length: the largest with which all fits.
            while len(row.ids) <= max_length and most - least > 1:
                middle = (least + most) // 2
                tried = row_of(example, middle)
                if len(tried.ids) <= max_length:
                    row, least = tried, middle
                else:
                    most = middle
        if len(row.ids) <= max_length:
            rows.append(row)
        progress("reading prompts", done, len(examples))
    left_out = len(examples) - len(rows)
    return Tokenised(rows, cut - left_out, left_out)


def _row(tokenizer: Any, text: Text) -> Row:
    before = _tokens(tokenizer, text.prompt, text.special)
    space = "" if not text.prompt or text.prompt[-1].isspace() else " "
    whole = _tokens(tokenizer, text.prompt + space + text.answer, text.special)
    # What is written comes behind the very tokens that the run-time gives. Where prompt and answer would melt into one
    # token, the answer begins with a token of its own.
    alike = whole[: len(before)] == before
    after = whole[len(before) :] if alike else _tokens(tokenizer, text.answer, special=False)
    end = _tokens(tokenizer, text.end, special=False)
    return Row((*before, *after, *end), len(before))


def _tokens(tokenizer: Any, text: str, special: bool) -> list[int]:
    ids: list[int] = tokenizer(text, add_special_tokens=special)["input_ids"]
    # The text goes on: a mark that ends it has no place behind it.
    while special and ids and ids[-1] == tokenizer.eos_token_id:
        ids = ids[:-1]
    return ids


def _shortener(tokenizer: Any) -> Callable[[Hit, int], Hit]:
    """Cuts the text of a passage behind so many tokens."""

    @lru_cache(maxsize=1024)
    def ends(text: str) -> tuple[int, ...]:
        found = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)["offset_mapping"]
        return tuple(end for _, end in found)

    def shorten(hit: Hit, tokens: int) -> Hit:
        places = ends(hit.passage.text)
        if len(places) <= tokens:
            return hit
        text = hit.passage.text[: places[tokens - 1]].rstrip()
        return replace(hit, passage=replace(hit.passage, text=text, end=hit.passage.start + len(text)))

    return shorten


def collate(rows: Sequence[Row], padding: int, *, keep: bool) -> dict[str, Any]:
    """A batch of tensors, padded behind its rows, where a causal model does not look.

    With ``keep`` it says for how many of the last places the model is to foretell tokens: with a prompt of 700 tokens,
    an answer of 80 and a choice of 49,152 tokens that is 16 MB of numbers in place of 153.
    """
    import torch

    longest = max(len(row.ids) for row in rows)
    ids = torch.full((len(rows), longest), padding, dtype=torch.long)
    labels = torch.full((len(rows), longest), IGNORED, dtype=torch.long)
    mask = torch.zeros((len(rows), longest), dtype=torch.long)
    for place, row in enumerate(rows):
        ids[place, : len(row.ids)] = torch.tensor(row.ids)
        labels[place, row.prompt : len(row.ids)] = torch.tensor(row.ids[row.prompt :])
        mask[place, : len(row.ids)] = 1
    batch: dict[str, Any] = {"input_ids": ids, "attention_mask": mask, "labels": labels}
    if keep:
        # The token at a place is foretold at the place before it.
        batch["logits_to_keep"] = longest - min(row.prompt for row in rows) + 1
    return batch
