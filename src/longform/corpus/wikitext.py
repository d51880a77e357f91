"""Wikitext as plain text: what a reader of the page reads, without tables, templates, notes and pictures.

>>> source = "A '''saw''' is a [[tool|hand tool]].<ref>Book</ref>\\n== Care ==\\n* oil {{x}}it"
>>> page = wikitext_document("1", "Saw", source)
>>> page.text
'A saw is a hand tool.\\n\\nCare\\n\\n- oil it'
>>> page.marks
(Mark(offset=23, label='Care'),)
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import mwparserfromhell
from mwparserfromhell.nodes import ExternalLink, Heading, HTMLEntity, Tag, Text, Wikilink

from longform.corpus.blocks import Blocks
from longform.records import Document

__all__ = ["DROPPED_PREFIXES", "WikitextError", "wikitext_document"]

DROPPED_PREFIXES = frozenset({"file", "image", "media", "category"})
"""What links to pictures and categories begin with in every wiki; a dump adds those of its language."""

_DROPPED_TAG_NAMES = (
    "ref references table gallery timeline score imagemap templatestyles hiero graph mapframe maplink "
    "inputbox indicator section noinclude"
)
_DROPPED_TAGS = frozenset(_DROPPED_TAG_NAMES.split())
_REDIRECT = re.compile(r"\s*#redirect", re.IGNORECASE)
_INTERWIKI = re.compile(r"[a-z]{2,3}(?:-[a-z]+)*:")
_MAGIC = re.compile(r"__[A-Z]+__")
_TABLE_REST = re.compile(r"^[ \t]*(?:\{\||\|\}|\|-|\|\+|[|!]).*$", re.MULTILINE)
_EMPTY_PARENTHESES = re.compile(r" ?[(\[]\s*[,;:\s]*[)\]]")
_PARENTHESIS_START = re.compile(r"\(\s*[,;]+\s*")
_LIST_LINE = re.compile(r"(\x01[*#:;]+)\s*(.*)", re.DOTALL)
_LIST_START = "\x01"  # stands before the list marks of a line while the page is put together


class WikitextError(Exception):
    """The page's wikitext is beyond the parser."""


def wikitext_document(id: str, title: str, wikitext: str, dropped: frozenset[str] = DROPPED_PREFIXES) -> Document:
    """The text of a page, headings as marks. ``dropped`` are the prefixes of links that leave no text."""
    if _REDIRECT.match(wikitext):
        return Document(id, title, "")
    try:
        nodes = mwparserfromhell.parse(wikitext.replace(_LIST_START, "")).nodes
        writer = _Writer(dropped)
        writer.page(nodes)
    # The parser fails in ways of its own (ParserError) and of Python's (recursion, states not foreseen).
    except Exception as error:
        raise WikitextError(str(error) or type(error).__name__) from error
    return Document(id, title, writer.blocks.text, writer.blocks.marks)


class _Writer:
    def __init__(self, dropped: frozenset[str]) -> None:
        self.blocks = Blocks()
        self._dropped = dropped

    def page(self, nodes: Iterable[Any]) -> None:
        pieces: list[str] = []
        for node in nodes:
            if isinstance(node, Heading):
                self._section(pieces)
                pieces = []
                self.blocks.heading(" ".join(_tidy(self._plain(node.title.nodes)).split()))
            else:
                pieces.append(self._node(node))
        self._section(pieces)

    def _section(self, pieces: list[str]) -> None:
        """Paragraphs are set apart by empty lines, as in wikitext; lines of a list stay together."""
        for paragraph in re.split(r"\n[ \t]*\n+", _tidy("".join(pieces))):
            prose: list[str] = []
            items: list[str] = []
            numbers: list[int] = []
            for line in filter(None, (line.strip() for line in paragraph.split("\n"))):
                found = _LIST_LINE.fullmatch(line)
                if found is None:
                    self._put(items)
                    items, numbers = [], []
                    prose.append(line)
                    continue
                self._put(prose)
                prose = []
                text = found[2].replace(_LIST_START, " ").strip()
                if text:
                    items.append(_item(found[1].removeprefix(_LIST_START), text, numbers))
            self._put(prose)
            self._put(items)

    def _put(self, lines: list[str]) -> None:
        self.blocks.paragraph("\n".join(lines).replace(_LIST_START, ""))

    def _plain(self, nodes: Iterable[Any]) -> str:
        return "".join(map(self._node, nodes))

    def _node(self, node: Any) -> str:
        if isinstance(node, Text):
            return str(node.value)
        if isinstance(node, Wikilink):
            return self._link(node)
        if isinstance(node, Tag):
            return self._tag(node)
        if isinstance(node, ExternalLink):
            return self._plain(node.title.nodes) if node.title else ("" if node.brackets else str(node.url))
        if isinstance(node, HTMLEntity):
            return str(node.normalize()).replace("\xa0", " ")
        if isinstance(node, Heading):
            return f"\n\n{self._plain(node.title.nodes).strip()}\n\n"
        return ""  # templates, their arguments, comments

    def _link(self, node: Any) -> str:
        target = str(node.title).strip()
        prefix = target.partition(":")[0].strip().lower() if ":" in target else ""
        if prefix in self._dropped or (node.text is None and _INTERWIKI.match(target)):
            return ""
        if node.text is not None:
            text = self._plain(node.text.nodes)
            if text.strip():
                return text
        return target.lstrip(":").strip()

    def _tag(self, node: Any) -> str:
        name = str(node.tag).strip().lower()
        if name in _DROPPED_TAGS:
            return ""
        markup = node.wiki_markup
        if markup is not None and markup[:1] in "*#:;" and name in ("li", "dd", "dt"):
            return _LIST_START + str(markup)
        if name in ("br", "hr"):
            return "\n"
        if name in ("nowiki", "pre", "math", "chem", "code", "syntaxhighlight", "source", "poem"):
            return str(node.contents) if node.contents else ""
        text = self._plain(node.contents.nodes) if node.contents else ""
        return f"\n\n{text}\n\n" if name in ("div", "p", "blockquote", "center") else text


def _tidy(text: str) -> str:
    # "**" is parsed into two marks, one line; the ":" of "; term : meaning" does not begin a line at all.
    text = re.sub(f"(?<=[*#:;]){_LIST_START}", "", text)
    text = re.sub(f"(?m)(?<=[^\n{_LIST_START}]){_LIST_START}([*#:;])", r"\1", text)
    text = _TABLE_REST.sub("", _MAGIC.sub("", text))
    text = _PARENTHESIS_START.sub("(", _EMPTY_PARENTHESES.sub("", text))
    return re.sub(r"[ \t]{2,}", " ", re.sub(r" +([,.;:])(?=\s|$)", r"\1", text))


def _item(marks: str, text: str, numbers: list[int]) -> str:
    """A line of a list: indented by its level, bullets as "- ", numbers counted level by level."""
    level = len(marks)
    indent = "  " * (level - 1)
    del numbers[level:]
    numbers.extend([0] * (level - len(numbers)))
    if marks[-1] == "#":
        numbers[-1] += 1
        return f"{indent}{numbers[-1]}. {text}"
    return f"{indent}- {text}" if marks[-1] == "*" else f"{indent}{text}"
