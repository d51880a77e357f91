"""What a weak model copies out of the prompt into its answer: the marks around passages, and their titles."""

from __future__ import annotations

import re

__all__ = ["EchoFilter"]

_WORD = "passage"
_TITLE = "Title: "
_MARK = re.compile(r"</?passage[^<>\n]{0,12}>\s*", re.IGNORECASE)
_LONGEST = len("</passage 123456789012>")


class EchoFilter:
    """Takes ``<passage n>``, ``</passage n>`` and a title line behind one out of a text that comes in pieces.

    Other text in angle brackets stays.

    >>> echoes = EchoFilter()
    >>> echoes.feed("<passage 3>\\nTitle: Rome\\nIt rai") + echoes.feed("ned, a < b.</pass") + echoes.close()
    'It rained, a < b.</pass'
    """

    def __init__(self) -> None:
        self._held = ""

    def feed(self, piece: str) -> str:
        """What is known to be no echo, given one more piece."""
        self._held += piece
        return self._released(closed=False)

    def close(self) -> str:
        """The rest, at the end of the text."""
        return self._released(closed=True)

    def _released(self, *, closed: bool) -> str:
        out = ""
        while self._held:
            before, bracket, rest = self._held.partition("<")
            out += before
            self._held = bracket + rest
            if not bracket:
                break
            end = self._echo(closed)
            if end is None:
                break
            if end == 0:
                out += "<"
                end = 1
            self._held = self._held[end:]
        return out

    def _echo(self, closed: bool) -> int | None:
        """How long the echo at the beginning of what is held is, 0 where it is none; ``None`` where more must come."""
        word = self._held[1:].removeprefix("/").lower()
        if not (_WORD.startswith(word[: len(_WORD)]) or word.startswith(_WORD)):
            return 0
        found = _MARK.match(self._held)
        if found is None:
            complete = closed or ">" in self._held or "\n" in self._held or len(self._held) > _LONGEST
            return 0 if complete else None
        after = self._held[found.end() :]
        if not after.startswith(_TITLE):
            return found.end() if closed or not _TITLE.startswith(after) else None
        line = after.find("\n")
        if line < 0:
            return len(self._held) if closed else None
        return found.end() + line + 1
