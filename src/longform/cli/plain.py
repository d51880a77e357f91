"""Text of documents as a terminal may show it."""

from __future__ import annotations

__all__ = ["plain"]


def plain(text: str) -> str:
    """On one line, and without the control characters by which a document could command the terminal.

    >>> plain("a\\x1b[31m b\\n\\u202ec")
    'a[31m b c'
    """
    return "".join(character for character in " ".join(text.split()) if character.isprintable() or character == " ")
