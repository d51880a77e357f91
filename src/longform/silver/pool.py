"""The candidates of a question, read once: normalised for finding answers, as numbered words for counting them.

3,155 questions with 100 candidates each ask for 315,471 passages, of which 49,341 are distinct: the last ones are kept.
Words are numbers, because a passage's set of words takes 2.3 kB beside the strings, and an array of numbers 0.3 kB.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from longform.records import Passage
from longform.retrieve import Index
from longform.retrieve.vectors import passage_text
from longform.text import content_tokens, content_words, normalize_answer

__all__ = ["Pool", "Pools"]

_KEPT = 65_536  # passages: 70 MB of them, at 100 words each


class _Read(NamedTuple):
    text: str
    words: NDArray[np.int32]


class Pools:
    """Makes the pools of questions over one index."""

    def __init__(self, index: Index) -> None:
        self.index = index
        self.numbers: dict[str, int] = {}
        self._read = lru_cache(maxsize=_KEPT)(self._read_row)

    def _read_row(self, row: int) -> _Read:
        whole = passage_text(self.index.passage_at(row))
        numbers = self.numbers
        words = [numbers.setdefault(word, len(numbers)) for word in content_tokens(whole)]
        return _Read(normalize_answer(whole), np.array(words, dtype=np.int32))

    def pool(self, rows: Sequence[int]) -> Pool:
        """The candidates at these rows of the index, in the order of the first stage."""
        return Pool(self, rows, [self._read(row) for row in rows])


class Pool:
    """The candidates of one question; a candidate is named by its place, from 0."""

    def __init__(self, pools: Pools, rows: Sequence[int], read: Sequence[_Read]) -> None:
        self.rows = tuple(rows)
        self._index, self._numbers = pools.index, pools.numbers
        self._texts = [item.text for item in read]
        self._words = np.concatenate([np.empty(0, dtype=np.int32), *(item.words for item in read)])
        self._ends = np.cumsum([0, *(len(item.words) for item in read)])

    def __len__(self) -> int:
        return len(self.rows)

    def ids(self) -> tuple[str, ...]:
        """The ids of the candidates."""
        return tuple(map(self._index.id_at, self.rows))

    def passage(self, place: int) -> Passage:
        """The candidate itself."""
        return self._index.passage_at(self.rows[place])

    def recall(self, text: str) -> NDArray[np.float64]:
        """For every candidate the share of the words of ``text`` that it has, stop words aside (equation 1).

        0 for a text of stop words.
        """
        words = content_words(text)
        wanted = np.zeros(len(self._numbers), dtype=bool)
        wanted[[self._numbers[word] for word in words if word in self._numbers]] = True
        upto = np.concatenate([[0], np.cumsum(wanted[self._words])])
        counts: NDArray[np.int64] = upto[self._ends[1:]] - upto[self._ends[:-1]]
        return counts / max(len(words), 1)

    def shared(self, place: int, text: str) -> tuple[str, ...]:
        """The words of ``text`` that a candidate has, in their order there."""
        held = set(self._words[self._ends[place] : self._ends[place + 1]].tolist())
        return tuple(word for word in content_words(text) if self._numbers.get(word) in held)

    def held(self, answers: Sequence[Sequence[str]]) -> list[dict[int, str]]:
        """For every candidate the answers it holds: their numbers, and the first of their names that is there.

        A name is there if its normalised form is a substring of the candidate's normalised title and text, as in
        :func:`longform.score.recall.answer_ranks`; one that normalises to nothing never is.
        """
        found: list[dict[int, str]] = [{} for _ in self.rows]
        for number, names in enumerate(answers):
            wanted = [
                (normal, name) for normal, name in zip(map(normalize_answer, names), names, strict=True) if normal
            ]
            for place, text in enumerate(self._texts):
                for normal, name in wanted:
                    if normal in text:
                        found[place][number] = name
                        break
        return found
