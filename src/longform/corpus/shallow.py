"""Pages mended before they are parsed: nesting cut to the depth that browsers keep, XHTML made HTML."""

from __future__ import annotations

import re

__all__ = ["MAX_DEPTH", "expanded", "shallow"]

MAX_DEPTH = 512
"""How deep elements may stand in each other; Chromium cuts at the same depth."""

_NESTING = re.compile(
    r"<(/?)(?:div|section|article|main|ul|ol|menu|li|dl|dd|dt|blockquote|center|table|fieldset|details|figure)\b[^<>]*>",
    re.IGNORECASE,
)
# Closed by what follows in real pages, so that a long list without end tags is not a deep one.
_SELF_ENDING = re.compile(r"<(?:li|dd|dt)\b", re.IGNORECASE)
_EMPTY = re.compile(
    r"<(script|style|title|textarea|iframe|noscript|template|div|section|span|p|a|i|b|em|strong|td|th|tr|li|ul|ol|"
    r"h[1-6]|table|svg|object|canvas|video|audio|button|select)(\s[^<>]*?)?\s*/>",
    re.IGNORECASE,
)


def shallow(page: str) -> str:
    """``page`` with block elements below ``MAX_DEPTH`` turned into line breaks.

    The HTML standard's parsing takes time that grows with the square of the depth: half a minute at 100,000.

    >>> shallow("<div>" * 600 + "deep").count("<div>")
    512
    """
    if page.count("<") <= MAX_DEPTH:
        return page
    pieces: list[str] = []
    depth = end = 0
    for tag in _NESTING.finditer(page):
        opening = not tag[1]
        if depth >= MAX_DEPTH if opening else depth > MAX_DEPTH:
            pieces += (page[end : tag.start()], "<br>")
            end = tag.end()
        if opening:
            # Items are counted as deep only when they stand in lists that are.
            depth += 0 if _SELF_ENDING.match(tag[0]) else 1
        elif tag[0][2:4].lower() not in ("li", "dd", "dt"):
            depth = max(depth - 1, 0)
    return page if not pieces else "".join(pieces) + page[end:]


def expanded(page: str) -> str:
    """XHTML's ``<script/>`` as ``<script></script>``: HTML parsers would take the rest for a script.

    >>> expanded('<title/><p>A<br/>b</p>')
    '<title></title><p>A<br/>b</p>'
    """
    return _EMPTY.sub(lambda tag: f"<{tag[1]}{tag[2] or ''}></{tag[1]}>", page)
