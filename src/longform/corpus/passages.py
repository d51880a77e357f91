"""Cut documents into passages: consecutive sentences, up to a number of words."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple

from longform.records import Document, Passage
from longform.text import sentence_spans

__all__ = ["DEFAULT_WORDS", "cut_passages"]

# The papers' unit: DPR, ASQA, SILVER and QAMPARI all retrieve passages of 100 words.
DEFAULT_WORDS = 100

_WORD = re.compile(r"\S+")
_CLAUSE_END = frozenset(",;:—–)")


class _Piece(NamedTuple):
    start: int
    end: int
    words: int


def cut_passages(document: Document, words: int = DEFAULT_WORDS) -> Iterator[Passage]:
    """Cut a document into passages of at most ``words`` words, at the ends of sentences.

    A sentence that alone is longer is cut, after a comma or the like where there is one in its last third. A heading
    goes with the text below it. The text of a passage is ``document.text[start:end]``.

    >>> page = Document(id="a", title="A", text="One two. Three four. Five.")
    >>> [(p.id, p.text) for p in cut_passages(page, words=4)]
    [('a#0', 'One two. Three four.'), ('a#1', 'Five.')]
    """
    offsets = [mark.offset for mark in document.marks]
    headings = {(mark.offset, mark.label) for mark in document.marks}
    for number, (start, end) in enumerate(_pack(document.text, words, headings)):
        mark = bisect_right(offsets, start) - 1
        yield Passage(
            id=f"{document.id}#{number}",
            document=document.id,
            title=document.title,
            text=document.text[start:end],
            start=start,
            end=end,
            section=document.marks[mark].label if mark >= 0 else "",
        )


def _pack(text: str, words: int, headings: set[tuple[int, str]]) -> Iterator[tuple[int, int]]:
    """The offsets of the passages: sentences taken together as long as they fit."""
    taken: list[_Piece] = []
    count = 0
    for piece in _pieces(text, words):
        if count + piece.words > words and taken:
            kept = len(taken)
            while kept > 1 and (taken[kept - 1].start, text[taken[kept - 1].start : taken[kept - 1].end]) in headings:
                kept -= 1
            # A heading that would end a passage opens the next one, if there is room for it there.
            if sum(left.words for left in taken[kept:]) + piece.words > words:
                kept = len(taken)
            yield taken[0].start, taken[kept - 1].end
            taken = taken[kept:]
            count = sum(left.words for left in taken)
        taken.append(piece)
        count += piece.words
    if taken:
        yield taken[0].start, taken[-1].end


def _pieces(text: str, words: int) -> Iterator[_Piece]:
    """Sentences, with those of more than ``words`` words cut."""
    for start, end in sentence_spans(text):
        count = len(text[start:end].split())
        if count <= words:
            yield _Piece(start, end, count)
            continue
        found = [match.span() for match in _WORD.finditer(text, start, end)]
        first = 0
        while first < len(found):
            last = min(first + words, len(found))
            if last < len(found):
                last = _clause_end(text, found, first, last)
            yield _Piece(found[first][0], found[last - 1][1], last - first)
            first = last


def _clause_end(text: str, found: list[tuple[int, int]], first: int, last: int) -> int:
    """The last word of ``found[first:last]`` after which to cut: one that ends a clause, in the last third."""
    for place in range(last, first + max((last - first) * 2 // 3, 1), -1):
        if text[found[place - 1][1] - 1] in _CLAUSE_END:
            return place
    return last
