"""The normalisation of answers that SQuAD introduced and that the benchmarks share."""

from __future__ import annotations

import re
import string
from collections.abc import Iterable

__all__ = ["normalize_answer", "normalized_names"]

_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLES = re.compile(r"\b(a|an|the)\b")


def normalize_answer(text: str) -> str:
    """Lower-case, delete ASCII punctuation, drop a, an and the, collapse white space: in that order.

    Rajpurkar et al. (EMNLP 2016); used as it is by ASQA, NQ-open, KILT, QAMPARI and ALCE.

    >>> normalize_answer("The  O'Neil-Smith, a band.")
    'oneilsmith band'
    """
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split())


def normalized_names(aliases: Iterable[str]) -> list[str]:
    """The names of an answer as they are looked for in a normalised text.

    One that normalises to nothing ("A") would be held by every text, and is left out.

    >>> normalized_names(["The Beatles", "A", "Fab Four"])
    ['beatles', 'fab four']
    """
    return [name for name in map(normalize_answer, aliases) if name]
