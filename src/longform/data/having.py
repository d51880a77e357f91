"""What the examples of a dataset may or may not have, by the name that a study gives it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from longform.data.example import Example

__all__ = ["GOLD", "GOLD_PASSAGES", "HAVING", "TWO_ANSWERS", "longest_reference"]

GOLD_PASSAGES = "gold-passages"
GOLD = "gold-passages-or-readings"
TWO_ANSWERS = "two-answers"


def longest_reference(example: Example) -> int:
    """The place of the long answer with the most words, the first of them.

    >>> longest_reference(Example("1", "?", ("One.", "Two words.", "Two more.")))
    1
    """
    lengths = [len(text.split()) for text in example.long_answers]
    return lengths.index(max(lengths)) if lengths else -1


def _gold_passages(example: Example) -> bool:
    """Whether a passage was shown to all annotators, or noted by the one with the longest answer."""
    return any(passage.answer in (-1, longest_reference(example)) for passage in example.passages)


HAVING: Mapping[str, Callable[[Example], bool]] = {
    GOLD_PASSAGES: _gold_passages,
    GOLD: lambda example: bool(example.readings) or _gold_passages(example),
    TWO_ANSWERS: lambda example: len(example.long_answers) > 1,
}
