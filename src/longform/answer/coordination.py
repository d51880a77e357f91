"""Lists inside a text: the other members of "Anna, Bert and Carl" once one of them is found.

A member is a run of words with capitals ("Johann von Neumann") or something in quotation marks. Members are parted by
commas or semicolons, and the last one comes after "and", "or" or "&": without that word "Paris, France" would be two.
"""

from __future__ import annotations

import re
from typing import NamedTuple

__all__ = ["Place", "listed_with"]


class Place(NamedTuple):
    """Characters ``start`` to ``end`` of a text."""

    start: int
    end: int


_UPPER = r"[^\W\d_a-z]"
# Words that open a sentence and are no part of the name behind them: "In France, Spain and Italy".
_OPENING = (
    r"(?!(?:In|On|At|By|From|With|For|To|As|When|While|After|Before|During|Both|He|She|It|They|His|Her|Its|Their)\b)"
)
# Initials keep their full stop; a word's is the sentence's.
_WORD = rf"(?:(?:{_UPPER}\.)+(?!\w)|{_UPPER}[\w'’\-]*\b)"
_SMALL = r"(?:of|the|de|del|della|der|di|da|dos|du|la|le|van|von|al|bin|ibn|el|y|in|on|for)"
_NAME = rf"{_OPENING}{_WORD}(?:\s+(?:(?:{_SMALL}\s+){{0,2}}){_WORD}|\s+\d+\b)*"
_QUOTED = r"[\"“][^\"“”\n]{1,80}[\"”]"
_MEMBER = rf"(?:{_QUOTED}|{_NAME})(?:\s*\((?:\d{{4}}|[^()\n]{{1,30}})\))?"
_LAST = r"(?:\s*[,;])?\s+(?:and|or|&)\s+(?:also\s+)?"
_LIST = re.compile(rf"{_MEMBER}(?:\s*[,;]\s+(?!and\b|or\b){_MEMBER})*{_LAST}{_MEMBER}")
_MEMBERS = re.compile(_MEMBER)
_INNER = re.compile(rf"(?P<quote>{_QUOTED})|(?P<name>{_NAME})")


def listed_with(text: str, start: int, end: int) -> list[Place]:
    """The members of the list that characters ``start`` to ``end`` are part of, or are; none where there is no list.

    >>> text = "The film stars Irvin S. Cobb, Rochelle Hudson and Johnny Downs."
    >>> [text[place.start : place.end] for place in listed_with(text, 15, 28)]
    ['Irvin S. Cobb', 'Rochelle Hudson', 'Johnny Downs']
    >>> listed_with("They met in Paris, France.", 12, 17)
    []
    """
    for found in _LIST.finditer(text):
        if found.end() <= start:
            continue
        if found.start() >= end:
            break
        members = _members(text, found.start(), found.end())
        inside = start >= found.start() and end <= found.end()
        # Two words with "and" between them are as often one name: Romeo and Juliet, Marks & Spencer.
        whole = len(members) > 2 or all(" " in text[place.start : place.end] for place in members)
        if inside and whole and any(place.start <= start < place.end or place == (start, end) for place in members):
            return members
    return []


def _members(text: str, start: int, end: int) -> list[Place]:
    places = []
    for found in _MEMBERS.finditer(text, start, end):
        inner = _INNER.match(text, found.start(), found.end())
        assert inner is not None, "a member is a name or a quotation"
        quoted = inner["quote"] is not None
        places.append(Place(inner.start() + quoted, inner.end() - quoted))
    return places
