"""Names that come from outside: cleaned for people to read, and never part of a path."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from longform.corpus.sources import COMPRESSIONS, READABLE, format_of
from longform.serve.errors import ApiError

__all__ = ["SUFFIXES", "collection_name", "document_names", "shown_name"]

MOST_CHARACTERS = 120
# How the names of files end that can be read: ".txt", ".txt.gz" and so on.
SUFFIXES = tuple(
    suffix
    for name in READABLE.partition(" (")[0].split()
    for suffix in (name, *(name + packed for packed in COMPRESSIONS))
    if format_of(f"a{suffix}") is not None
)


def collection_name(name: str) -> str:
    """The name of a collection, which stands in addresses; one that cannot is refused."""
    cleaned = " ".join(_visible(name).split())
    if not cleaned or cleaned in (".", "..") or len(cleaned) > MOST_CHARACTERS or re.search(r"[/\\?#%]", cleaned):
        raise ApiError(
            f"A collection needs a name of 1 to {MOST_CHARACTERS} characters, without / \\ ? # and %: give it one."
        )
    return cleaned


def shown_name(name: str) -> str:
    """The last part of a file's name, without what is not to be seen, and cut where it is too long.

    >>> shown_name("../../etc/pass\\x00wd.txt"), shown_name("C:\\\\notes\\\\tea.md"), shown_name("\\x07")
    ('passwd.txt', 'tea.md', 'document')
    """
    last = re.split(r"[/\\]", _visible(name))[-1].strip()
    bare = last.lstrip(". ")
    if bare != last or not bare:  # A name that begins with a dot is a type without a name.
        last = f"document.{bare}" if bare else "document"
    if len(last) <= MOST_CHARACTERS:
        return last
    found = re.search(r"(?:\.[A-Za-z0-9]{1,8}){1,2}$", last)
    end = found.group() if found else ""
    return last[: MOST_CHARACTERS - len(end) - 1] + "…" + end


def document_names(names: Iterable[str]) -> list[str]:
    """Cleaned names of uploaded files, each different from the others; a type that cannot be read is refused.

    >>> document_names(["a/tea.txt", "b/tea.txt"])
    ['tea.txt', 'tea (2).txt']
    """
    found: dict[str, None] = {}
    for given in names:
        name = shown_name(given)
        if format_of(name) is None:
            raise ApiError(f"{name} is of no readable type; readable are: {READABLE}.", 415)
        stem, dot, rest = name.partition(".")
        number = 1
        while name in found:
            number += 1
            name = f"{stem} ({number}){dot}{rest}"
        found[name] = None
    return list(found)


def _visible(text: str) -> str:
    """Composed, and without control characters, marks of direction and halves of surrogate pairs."""
    composed = unicodedata.normalize("NFC", text)
    return "".join(one for one in composed if unicodedata.category(one)[0] != "C" or one in "\t\n ")
