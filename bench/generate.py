"""Made-up passages for speed measurements: words drawn from a Zipf-like vocabulary, always the same for a seed."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from longform import Passage

VOCABULARY = 200_000
REPEAT = 0.26
_SYLLABLES = "ba ce di fo gu ha ki lo mu na pe qui ro sa te vu wa xe yo zi".split()  # noqa: SIM905


def words() -> list[str]:
    """The vocabulary: pronounceable, with English endings so that the stemmer has work to do, commonest first."""
    endings = ["", "s", "ed", "ing", "ly", "tion", "er", "ness"]
    found = []
    for number in range(VOCABULARY):
        stem, rest = "", number // len(endings) + 20
        while rest:
            rest, digit = divmod(rest, 20)
            stem += _SYLLABLES[digit]
        found.append(stem + endings[number % len(endings)])
    return found


def texts(count: int, seed: int = 0) -> Iterator[str]:
    """``count`` passages of 70 to 100 words, as sentence ends leave them.

    Words come back within a passage, as they do in real text: each is, with a probability of 0.26, a word that the
    passage has already. So 0.67 of a passage's stems are distinct, and 0.74 of them occur once (in 52,197 Wikipedia
    passages: 0.67 and 0.75); without that it would be 0.89 and 0.93.
    """
    generator = np.random.default_rng(seed)
    vocabulary = np.array(words(), dtype=object)
    weights = 1.0 / np.arange(10, VOCABULARY + 10)
    cumulative = np.cumsum(weights / weights.sum())
    for start in range(0, count, 1000):
        lengths = generator.integers(70, 101, size=min(1000, count - start))
        drawn = np.minimum(np.searchsorted(cumulative, generator.random((len(lengths), 100))), VOCABULARY - 1)
        again = generator.random(drawn.shape) < REPEAT
        earlier = (generator.random(drawn.shape) * np.arange(100)).astype(np.int64)
        for place in range(1, 100):
            rows = np.flatnonzero(again[:, place])
            drawn[rows, place] = drawn[rows, earlier[rows, place]]
        for row, length in zip(drawn, lengths, strict=True):
            yield " ".join(vocabulary[row[:length]])


def passages(count: int, seed: int = 0) -> Iterator[Passage]:
    """The same as passages with ids and short titles."""
    for number, text in enumerate(texts(count, seed)):
        yield Passage(f"p{number}", f"p{number}", f"Page {number // 10}", text, 0, len(text))


def questions(count: int, seed: int = 1) -> list[str]:
    """Questions as searched: five words of some passage, none of them among the 100 commonest, our stop words."""
    generator = np.random.default_rng(seed)
    common = set(words()[:100])
    asked = []
    for text in texts(count, seed):
        content = [word for word in text.split() if word not in common]
        asked.append(" ".join(generator.choice(content, size=min(5, len(content)), replace=False)))
    return asked
