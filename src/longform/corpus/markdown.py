"""Markdown files as plain text, headings as marks.

>>> page = "# Saws\\n\\nA *hand* saw.\\n\\n## Care\\n\\n- oil it\\n- [dry](x) it\\n"
>>> document = markdown_document("a.md", "a", page)
>>> document.title
'Saws'
>>> document.text
'A hand saw.\\n\\nCare\\n\\n- oil it\\n- dry it'
>>> document.marks
(Mark(offset=13, label='Care'),)
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.token import Token

from longform.corpus.blocks import Blocks, table_row
from longform.corpus.options import ReadOptions, Trouble
from longform.corpus.sources import Source
from longform.corpus.streams import decode_text, read_whole
from longform.corpus.webpage import html_text
from longform.records import Document

__all__ = ["markdown_document", "read_markdown"]

# A page that begins with a horizontal rule is not one that begins with front matter: that has "key:" lines.
_FRONT_MATTER = re.compile(
    r"\A(?:---[ \t]*\n(?=\s*(?:\#|---|[\w\"'][^\n:]*:))(?:.*\n)*?(?:---|\.\.\.)|"
    r"\+\+\+[ \t]*\n(?:.*\n)*?\+\+\+)[ \t]*(?:\n|\Z)"
)
_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)


def read_markdown(source: Source, options: ReadOptions, trouble: Trouble) -> Iterator[Document]:  # noqa: ARG001
    """One document for the file."""
    document = markdown_document(source.path, source.stem, decode_text(source, read_whole(source)))
    if document.text:
        yield document


def markdown_document(id: str, title: str, markdown: str) -> Document:
    """The text of a Markdown page; its first top heading, if any, is the title and not part of the text."""
    markdown = markdown.replace("\r\n", "\n").replace("\r", "\n")
    markdown = _FRONT_MATTER.sub("", markdown, count=1)
    tokens = _parser().parse(markdown)
    writer = _Writer()
    writer.write(tokens)
    return Document(id, writer.title or title, writer.blocks.text, writer.blocks.marks)


@cache
def _parser() -> MarkdownIt:
    # What is nested deeper than this is left out by the parser; every level costs it four Python frames.
    return MarkdownIt("commonmark", {"maxNesting": 100}).enable(["table", "strikethrough"])


class _Writer:
    def __init__(self) -> None:
        self.blocks = Blocks()
        self.title = ""
        self._heading = ""
        self._rows: list[str] = []
        self._cells: list[str] | None = None

    def write(self, tokens: Sequence[Token]) -> None:
        for token in tokens:
            kind = token.type
            if kind == "inline":
                self._inline(_plain(token.children or []))
            elif kind in ("fence", "code_block"):
                self.blocks.paragraph(token.content.rstrip("\n"))
            elif kind == "html_block":
                self.blocks.paragraph(html_text(token.content))
            elif kind == "heading_open":
                self._heading = token.tag
            elif kind in ("bullet_list_open", "ordered_list_open"):
                start = int(token.attrs.get("start", 1)) if kind.startswith("ordered") else None
                self.blocks.open_list(start)
            elif kind == "list_item_open":
                self.blocks.item()
            elif kind in ("bullet_list_close", "ordered_list_close"):
                self.blocks.close_list()
            elif kind == "tr_open":
                self._cells = []
            elif kind == "tr_close":
                self._rows.append(table_row(self._cells or []))
                self._cells = None
            elif kind == "table_close":
                self.blocks.paragraph("\n".join(filter(None, self._rows)))
                self._rows = []

    def _inline(self, text: str) -> None:
        if self._cells is not None:
            self._cells.append(text)
        elif self._heading:
            level, self._heading = self._heading, ""
            heading = " ".join(text.split())
            if level != "h1" or self.title or not heading:
                self.blocks.heading(heading)
                return
            self.title = heading
            # A title that comes late ends the section before it.
            if self.blocks.marks:
                self.blocks.mark(heading)
        else:
            self.blocks.paragraph(text)


def _plain(tokens: Sequence[Token]) -> str:
    """The text of one paragraph without its marks of emphasis, links and tags."""
    pieces = []
    for token in tokens:
        kind = token.type
        if kind in ("text", "code_inline", "text_special"):
            pieces.append(token.content)
        elif kind == "softbreak":
            pieces.append(" ")
        elif kind == "hardbreak" or (kind == "html_inline" and _BREAK.fullmatch(token.content)):
            pieces.append("\n")
        elif kind == "image":
            pieces.append(_plain(token.children or []))
    return re.sub(r" *\n *", "\n", "".join(pieces)).strip()
