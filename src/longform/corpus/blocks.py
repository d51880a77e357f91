"""Plain text put together from a page's blocks: paragraphs, headings, lists, tables, code.

>>> blocks = Blocks()
>>> blocks.heading("Tools")
>>> blocks.open_list()
>>> blocks.item(); blocks.paragraph("a saw")
>>> blocks.item(); blocks.paragraph("a plane")
>>> blocks.close_list()
>>> blocks.text
'Tools\\n\\n- a saw\\n- a plane'
>>> blocks.marks
(Mark(offset=0, label='Tools'),)
"""

from __future__ import annotations

from longform.records import Mark

__all__ = ["Blocks", "table_row"]


class Blocks:
    """Collects blocks and keeps the offset of every heading.

    Blocks are set apart by an empty line; items of a list and rows of a table stand on lines of their own.
    """

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._length = 0
        self._marks: list[Mark] = []
        self._lists: list[int | None] = []  # next number of each open list, None for bullets
        self._marker = ""  # bullet or number that the next line of the open item begins with
        self._lines: list[str] = []  # lines of the open list

    @property
    def text(self) -> str:
        self._flush()
        return "".join(self._parts)

    @property
    def marks(self) -> tuple[Mark, ...]:
        # A section announced after the last block has no place in the text.
        return tuple(mark for mark in self._marks if mark.offset < self._length)

    def paragraph(self, text: str) -> None:
        """A paragraph, a table (a row on each line) or code: ``text`` is kept as it is."""
        if not text:
            return
        if not self._lists:
            self._add(text)
            return
        # Deeper levels of an outline add nothing for a reader beyond the eighth.
        indent = "  " * min(len(self._lists) - 1, 8)
        for line in text.split("\n"):
            lead = self._marker or (indent + "  ")
            self._lines.append((lead + line).rstrip())
            self._marker = ""

    def heading(self, text: str) -> None:
        """A heading: a paragraph of its own, and a mark where its section begins."""
        if text:
            self._flush()
            self._add(text, text)

    def mark(self, label: str) -> None:
        """A section that begins with the next block, whose heading is not part of the text."""
        self._flush()
        offset = self._length + (2 if self._parts else 0)
        self._marks.append(Mark(offset, label))

    def open_list(self, start: int | None = None) -> None:
        """A list of bullets, or one that counts from ``start``."""
        self._lists.append(start)

    def item(self) -> None:
        """The next item of the innermost list; what follows belongs to it."""
        if not self._lists:
            self.open_list()
        number = self._lists[-1]
        indent = "  " * min(len(self._lists) - 1, 8)
        self._marker = indent + ("- " if number is None else f"{number}. ")
        if number is not None:
            self._lists[-1] = number + 1

    def close_list(self) -> None:
        """The end of the innermost list."""
        if self._lists:
            self._lists.pop()
        self._marker = ""
        if not self._lists:
            self._flush()

    def _flush(self) -> None:
        if self._lines:
            block = "\n".join(self._lines)
            self._lines.clear()
            self._add(block)

    def _add(self, block: str, label: str | None = None) -> None:
        if self._parts:
            self._parts.append("\n\n")
            self._length += 2
        if label is not None:
            self._marks.append(Mark(self._length, label))
        self._parts.append(block)
        self._length += len(block)


def table_row(cells: list[str]) -> str:
    """One line of a table; a row without any text is empty.

    >>> table_row(["Year", "", "Place"])
    'Year |  | Place'
    """
    if not any(cells):
        return ""
    return " | ".join(" ".join(cell.split()) for cell in cells).strip()
