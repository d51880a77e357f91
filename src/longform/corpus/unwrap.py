"""Pages of lines put back into paragraphs: line ends, hyphens and running heads undone.

>>> first = "Saws and their care\\nA saw cuts wood along a straight line and is sharp-\\nened by hand."
>>> pages = [first, "It lasts."]
>>> text, marks = unwrap(pages)
>>> text
'Saws and their care\\n\\nA saw cuts wood along a straight line and is sharpened by hand.\\n\\nIt lasts.'
>>> marks
(Mark(offset=0, label='page 1'), Mark(offset=86, label='page 2'))
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from longform.records import Mark

__all__ = ["unwrap"]

_BULLET = re.compile(r"(?:[•◦▪‣·∙●○■–—*-]|\(?(?:\d{1,3}|[a-zA-Z])[.)])\s+\S")
_SENTENCE_END = re.compile(r"[.!?:;…。！？][\"'”’»)\]]*$")
_BROKEN_WORD = re.compile(r"([^\W\d_]+)[-\u2010]$")
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_PAGE_NUMBER = re.compile(
    r"[-–— ]*(?:(?:page|p\.|seite)\s*)?(?:\d{1,4}|[ivxlc]{1,7})(?:\s*(?:/|of|von)\s*\d{1,4})?[-–— ]*", re.I
)


def unwrap(pages: Sequence[str]) -> tuple[str, tuple[Mark, ...]]:
    """The text of all pages, and a mark where the text of each begins.

    A sentence that runs over a page's end is not cut there. Lines at the top or bottom that most pages share,
    and page numbers, are left out.
    """
    lines = _without_running_lines([[line.strip() for line in page.split("\n")] for page in pages])
    words = Counter(_WORD.findall("\n".join(line for page in lines for line in page).lower()))
    pieces: list[str] = []
    length = 0
    marks: list[Mark] = []
    for number, page in enumerate(lines, 1):
        for index, paragraph in enumerate(_paragraphs(page, words)):
            glue = "" if not pieces else "\n\n"
            if index == 0 and pieces and _goes_on(pieces[-1], paragraph):
                last, glue = _joint(pieces[-1], paragraph, words)
                length += len(last) - len(pieces[-1])
                pieces[-1] = last
            if index == 0:
                marks.append(Mark(length + len(glue), f"page {number}"))
            pieces += (glue, paragraph)
            length += len(glue) + len(paragraph)
    return "".join(pieces), tuple(marks)


def _paragraphs(lines: Sequence[str], words: Counter[str]) -> list[str]:
    """The lines of a page joined into paragraphs.

    Few PDFs say where a paragraph ends. What tells is a blank line, a line that ends a sentence well before
    the margin, a bullet, or a short line with a capital after it: a heading.
    """
    full = _margin(lines)
    paragraphs: list[str] = []
    open_paragraph = False
    for index, line in enumerate(lines):
        if not line:
            open_paragraph = False
            continue
        if open_paragraph and not _BULLET.match(line):
            last, glue = _joint(paragraphs[-1], line, words)
            paragraphs[-1] = last + glue + line
        else:
            paragraphs.append(line)
        following = lines[index + 1] if index + 1 < len(lines) else ""
        open_paragraph = not _ends_paragraph(line, following, full)
    return paragraphs


def _margin(lines: Sequence[str]) -> int:
    """How long a full line is: what the longest tenth of the lines reach."""
    lengths = sorted(len(line) for line in lines if line)
    return lengths[int(len(lengths) * 0.9)] if len(lengths) > 1 else 0


def _ends_paragraph(line: str, following: str, full: int) -> bool:
    if _BROKEN_WORD.search(line) or line.endswith("\u00ad"):
        return False
    if _SENTENCE_END.search(line):
        return len(line) < 0.8 * full
    starts_anew = following[:1].isupper() or following[:1].isdigit()
    return len(line) < 0.55 * full and starts_anew and not line.endswith(",")


def _goes_on(before: str, after: str) -> bool:
    return _SENTENCE_END.search(before) is None and after[:1].islower() and not _BULLET.match(after)


def _joint(before: str, after: str, words: Counter[str]) -> tuple[str, str]:
    """``before`` as it is to be, and what to put between it and ``after``."""
    if before.endswith("\u00ad"):
        return before[:-1], ""
    broken = _BROKEN_WORD.search(before)
    rest = _WORD.match(after)
    if broken is None or rest is None or not after[0].islower():
        return before, "" if broken else " "
    head, tail = broken[1].lower(), rest[0].lower()
    # "well-" + "known" keeps its hyphen when the document writes it so in the middle of a line.
    hyphenated, whole = words[f"{head}-{tail}"], words[head + tail]
    return (before, "") if hyphenated > whole else (before[:-1], "")


def _without_running_lines(pages: list[list[str]]) -> list[list[str]]:
    """The pages without page numbers and without the first and last lines that most pages have in common."""
    pages = [_stripped(page) for page in pages]
    shared: set[str] = set()
    if len(pages) >= 4:
        ends = Counter(key for page in pages if page for key in {_key(page[0]), _key(page[-1])})
        shared = {key for key, count in ends.items() if key and count > len(pages) / 2}
    for page in pages:
        for end in (0, -1):
            if page and (_key(page[end]) in shared or (len(page) > 1 and _PAGE_NUMBER.fullmatch(page[end]))):
                del page[end]
                while page and not page[end]:
                    del page[end]
    return pages


def _stripped(page: list[str]) -> list[str]:
    while page and not page[0]:
        del page[0]
    while page and not page[-1]:
        del page[-1]
    return page


def _key(line: str) -> str:
    """A running head without what changes from page to page."""
    return " ".join(re.sub(r"\d+", "", line).lower().split())
