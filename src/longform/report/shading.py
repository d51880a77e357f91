"""An answer in pieces: its plain words, those that stand in none of its passages, and its citations."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from longform.score.citations import cited
from longform.score.recall import TitledText
from longform.text import content_tokens

__all__ = ["Piece", "shaded"]

_PART = re.compile(r"(?P<citation>\[\s*\d+(?:\s*[,;–-]\s*\d+)*\s*\])|(?P<word>[^\W_]+)")


class Piece(NamedTuple):
    """Some of an answer's characters: ``plain``, ``ungrounded``, or a ``citation`` with the passages it names."""

    text: str
    kind: str
    passages: tuple[int, ...] = ()


def shaded(text: str, passages: Sequence[TitledText] | None) -> list[Piece]:
    """The answer's characters, all of them in order.

    A word is ungrounded if it is no stop word and stands in no title and no text of the passages: the words that
    :func:`longform.score.silver.groundedness` does not count. Without passages (``None``) nothing is marked.

    >>> from longform.score.recall import PassageText
    >>> [piece.text for piece in shaded("Ringo sang in Rome [1].", [PassageText("Ringo Starr", "He sang.")])
    ...  if piece.kind != "plain"]
    ['Rome', '[1]']
    """
    held = None
    if passages is not None:
        held = set().union(*(content_tokens(f"{passage.title} {passage.text}") for passage in passages))
    pieces: list[Piece] = []
    plain = 0
    for found in _PART.finditer(text):
        if found["citation"] is not None:
            piece = Piece(found[0], "citation", tuple(cited(found[0])))
        elif held is not None and not content_tokens(found[0]) <= held:
            piece = Piece(found[0], "ungrounded")
        else:
            continue
        if found.start() > plain:
            pieces.append(Piece(text[plain : found.start()], "plain"))
        pieces.append(piece)
        plain = found.end()
    if plain < len(text):
        pieces.append(Piece(text[plain:], "plain"))
    return pieces
