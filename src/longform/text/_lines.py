"""Lines that end a sentence without a stop: headings, titles, list items."""

from __future__ import annotations

import re

from longform.text.abbreviations import CONNECTORS

__all__ = ["line_ends"]

_BULLET = re.compile(r"[-*+•‣◦▪▫●○·]\s|#{1,6}\s|==")
_NUMBERED = re.compile(r"\(?(?:\d{1,3}[.)]|\d{1,3}(?:\.\d{1,3})+[.)]?|[A-Za-z]\)|[ivx]{1,5}\)|[a-z]\.)\s")
_HEADING_MARK = re.compile(r"#{1,6}\s|==")
# Lines are read no further than this, so that a text of one endless line stays cheap.
_LINE_REACH = 200
_LONGEST_HEADING = 80
# Narrower than any width prose is wrapped at, so a line this short was ended on purpose.
_SHORT_LINE = 30


def line_ends(text: str, start: int, end: int, following: int) -> bool:
    """Whether a single newline between `end` and `following` ends a list item, a heading or a title.

    `start` is where the sentence began. Wrapped prose goes on over its newlines.

    >>> text = "History\\nThe town was founded in 1299."
    >>> line_ends(text, 0, 7, 8)
    True
    """
    line_start = max(start, text.rfind("\n", max(start, end - _LINE_REACH), end) + 1)
    line = text[line_start:end].strip()
    newline = text.find("\n", following, following + _LINE_REACH)
    next_line = text[following : newline if newline >= 0 else following + _LINE_REACH].rstrip()
    if _BULLET.match(next_line):
        return True
    is_item = _NUMBERED.match(line) or _BULLET.match(line)
    if _NUMBERED.match(next_line) and (is_item or line.endswith((".", "!", "?", ":", ";")) or len(line) < 50):
        return True
    if line_start != start or len(line) > _LONGEST_HEADING or not next_line or not line:
        return False
    if _HEADING_MARK.match(line):
        return True
    first = next_line.lstrip("\"'“‘([*_")[:1]
    if not (first.isupper() or first.isdigit()) or line[-1] in ".,;-–—" or line.split()[-1] in CONNECTORS:
        return False
    if len(line) <= _SHORT_LINE:
        return True
    # Wrapping breaks a line only where the next word no longer fits; here it would have.
    return len(line) + 1 + len(next_line.split(None, 1)[0]) <= len(next_line)
