"""HTML that cannot be broken by what it shows: every text is escaped unless it is markup already."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Sequence
from html import escape

__all__ = ["Markup", "csp_hash", "joined", "tag", "text_table"]

# Characters that HTML does not allow are shown as what they are: not to be shown.
_FORBIDDEN = dict.fromkeys((*range(9), 11, *range(14, 32), *range(127, 160)), "�")
_EMPTY = frozenset(("br", "hr", "img", "input", "link", "meta"))


class Markup(str):
    """HTML that is to stand as it is."""

    __slots__ = ()


def tag(name: str, /, *inner: str, **attributes: str | bool) -> Markup:
    """An element; ``inner`` is escaped where it is no :class:`Markup`. ``True`` is an attribute without a value.

    >>> tag("p", "a < b", tag("b", "c"), class_="note", hidden=True)
    '<p class="note" hidden>a &lt; b<b>c</b></p>'
    """
    written = "".join(
        "" if value is False else f" {key}" if value is True else f' {key}="{_escaped(value)}"'
        for key, value in ((key.rstrip("_").replace("_", "-"), value) for key, value in attributes.items())
    )
    if name in _EMPTY:
        return Markup(f"<{name}{written}>")
    return Markup(f"<{name}{written}>{joined(inner)}</{name}>")


def _escaped(text: str) -> str:
    return escape(text).translate(_FORBIDDEN)


def joined(parts: Iterable[str]) -> Markup:
    """Parts in a row, each escaped where it is no markup."""
    return Markup("".join(part if isinstance(part, Markup) else _escaped(part) for part in parts))


def text_table(columns: Sequence[str], rows: Sequence[Sequence[str]], label: str, *, numbers: bool = True) -> Markup:
    """A table of text whose first column names the rows; it scrolls by itself where it is wide."""
    # A heading without words is none.
    head = [tag("th", column, scope="col") if column else tag("td") for column in columns]
    body = [tag("tr", _row_name(row[0]), *(tag("td", cell) for cell in row[1:])) for row in rows if row]
    table = tag("table", tag("thead", tag("tr", *head)), tag("tbody", *body), class_="numbers" if numbers else "words")
    return tag("div", table, class_="scroll", tabindex="0", role="group", aria_label=label)


def _row_name(text: str) -> Markup:
    return tag("th", text, scope="row") if text else tag("td")


def csp_hash(text: str) -> str:
    """A script or style as a Content-Security-Policy names it.

    >>> csp_hash("")
    "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"
    """
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
