"""Web pages as plain text: what a visitor reads, without menus, forms and scripts; headings as marks.

>>> page = "<title>Saws</title><nav>Home</nav><h2>Care</h2><p>Oil &amp; dry\\nit.</p>"
>>> document = html_document("a.html", "a", page)
>>> document.title, document.text
('Saws', 'Care\\n\\nOil & dry it.')
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from selectolax.lexbor import LexborHTMLParser, LexborNode

from longform.corpus.blocks import Blocks, table_row
from longform.corpus.charsets import decode_page
from longform.corpus.options import ReadOptions, Trouble
from longform.corpus.shallow import expanded, shallow
from longform.corpus.sources import Source
from longform.corpus.streams import read_whole
from longform.records import Document

__all__ = ["html_document", "html_text", "read_html"]


def _tags(names: str) -> frozenset[str]:
    return frozenset(names.split())


_DROPPED = _tags(
    "head script style noscript template nav aside iframe svg object canvas audio video button select "
    "textarea dialog frameset"
)
_FRAME = _tags("header footer")  # of the site; inside an article they are part of it
_CONTENT = _tags("article main")
_HEADINGS = _tags("h1 h2 h3 h4 h5 h6")
_LISTS = _tags("ul ol menu")
_BLOCKS = _tags(
    "address article blockquote body caption center dd details dir div dl dt fieldset figcaption figure "
    "footer form header hgroup hr html legend li main p pre search section summary table tbody td tfoot th "
    "thead tr"
)
_SPACES = re.compile(r"[ \t\n\r\f\xa0]+")
_INVISIBLE = re.compile("[\u00ad\u200b\ufeff]")  # soft hyphens and zero-width spaces: places to break a line
_HIDING = re.compile(r"(?:display\s*:\s*none|visibility\s*:\s*hidden)", re.IGNORECASE)


def read_html(source: Source, options: ReadOptions, trouble: Trouble) -> Iterator[Document]:  # noqa: ARG001
    """One document for the file."""
    page = decode_page(source, read_whole(source))
    if ".xhtml" in source.path.lower() or page.lstrip().startswith("<?xml"):
        page = expanded(page)
    document = html_document(source.path, source.stem, page)
    if document.text:
        yield document


def html_document(id: str, title: str, page: str) -> Document:
    """The text of a page; the title is its ``<title>``, else its first ``<h1>``, else ``title``.

    A first ``<h1>`` that says the title is not repeated in the text.
    """
    tree = LexborHTMLParser(shallow(page))
    writer = _Writer(_page_title(tree))
    root = tree.root
    if root is not None:
        writer.write(root)
        # Some frameworks wrap the whole page in one form.
        if not writer.blocks.text and writer.met_form:
            writer = _Writer(_page_title(tree), drop_forms=False)
            writer.write(root)
    return Document(id, writer.title or title, writer.blocks.text, writer.blocks.marks)


def html_text(fragment: str) -> str:
    """The text of a piece of HTML.

    >>> html_text("<div>A <b>saw</b>.<!-- rusty --></div>")
    'A saw.'
    """
    writer = _Writer("", keep_heading=True)
    root = LexborHTMLParser(shallow(fragment)).root
    if root is not None:
        writer.write(root)
    return writer.blocks.text


def _page_title(tree: LexborHTMLParser) -> str:
    node = tree.css_first("head > title")
    return "" if node is None else _SPACES.sub(" ", _INVISIBLE.sub("", node.text())).strip()


class _Writer:
    def __init__(self, title: str, drop_forms: bool = True, keep_heading: bool = False) -> None:
        self.blocks = Blocks()
        self.title = title
        self.met_form = False
        self._drop_forms = drop_forms
        self._h1_seen = keep_heading
        self._inline: list[str] = []
        self._content = 0  # open <article> and <main>
        self._pre = 0
        self._layout: frozenset[int] = frozenset()  # tables that arrange the page and hold no data
        self._tables: list[list[str]] = []  # rows of each open table of data
        self._cells: list[list[str]] = []  # cells of its open row

    def write(self, root: LexborNode) -> None:
        self._layout = _layout_tables(root)
        node: LexborNode | None = root
        # A walk without recursion: pages are nested deeper than Python's stack.
        while node is not None:
            child = self._enter(node)
            if child is not None:
                node = child
                continue
            while node is not None and node.next is None:
                node = None if node.mem_id == root.mem_id else node.parent
                if node is not None:
                    self._leave(node)
                    if node.mem_id == root.mem_id:
                        node = None
            if node is not None:
                node = node.next
        self._flush()

    def _enter(self, node: LexborNode) -> LexborNode | None:
        """Take in ``node`` and say which child to go on with; an element without children is left at once."""
        if node.is_text_node:
            self._text(node.text_content or "")
            return None
        if not node.is_element_node or self._is_dropped(node):
            return None
        self._open(node, node.tag or "")
        child = node.first_child
        if child is None:
            self._leave(node)
        return child

    def _is_dropped(self, node: LexborNode) -> bool:
        tag = node.tag or ""
        if tag in _DROPPED or (tag in _FRAME and not self._content):
            return True
        if tag == "form":
            self.met_form = True
            if self._drop_forms:
                return True
        attributes = node.attributes
        return bool(attributes) and (
            "hidden" in attributes
            or attributes.get("aria-hidden") == "true"
            or _HIDING.search(attributes.get("style") or "") is not None
        )

    def _text(self, text: str) -> None:
        text = _INVISIBLE.sub("", text)
        self._inline.append(text.replace("\xa0", " ") if self._pre else _SPACES.sub(" ", text))

    def _open(self, node: LexborNode, tag: str) -> None:
        if tag == "br":
            self._inline.append("\n")
        elif tag in _HEADINGS or tag in _BLOCKS or tag in _LISTS:
            self._flush()
        if tag in _CONTENT:
            self._content += 1
        elif tag == "pre":
            self._pre += 1
        elif self._tables and node.mem_id not in self._layout:
            # Whatever a cell of a table holds becomes one line.
            if tag == "tr":
                self._cells = []
            elif tag in ("td", "th"):
                self._cells.append([])
        elif tag in _LISTS:
            self.blocks.open_list(_start(node) if tag == "ol" else None)
        elif tag == "li":
            self.blocks.item()
        elif tag == "table" and node.mem_id not in self._layout:
            self._tables.append([])

    def _leave(self, node: LexborNode) -> None:
        tag = node.tag or ""
        if tag in _HEADINGS:
            self._heading(tag)
        elif tag in _BLOCKS or tag in _LISTS:
            self._flush()
        if tag in _CONTENT:
            self._content -= 1
        elif tag == "pre":
            self._pre -= 1
        elif self._tables:
            if tag == "tr":
                self._tables[-1].append(table_row([" ".join(cell) for cell in self._cells]))
                self._cells = []
            elif tag == "table":
                self.blocks.paragraph("\n".join(filter(None, self._tables.pop())))
        elif tag in _LISTS:
            self.blocks.close_list()

    def _heading(self, tag: str) -> None:
        heading = " ".join(self._take().split())
        if self._tables:
            self._put(heading)
            return
        first = tag == "h1" and not self._h1_seen and bool(heading)
        self._h1_seen = self._h1_seen or first
        if not first or self.title not in ("", heading):
            self.blocks.heading(heading)
            return
        self.title = heading
        # A title that comes late ends the section before it.
        if self.blocks.marks:
            self.blocks.mark(heading)

    def _take(self) -> str:
        text = "".join(self._inline)
        self._inline.clear()
        if self._pre:
            return text.strip("\n").rstrip()
        return re.sub(r" *\n *", "\n", re.sub(r" +", " ", text)).strip()

    def _flush(self) -> None:
        if self._inline:
            self._put(self._take())

    def _put(self, text: str) -> None:
        if not text:
            return
        if not self._tables:
            self.blocks.paragraph(text)
        elif self._cells:
            self._cells[-1].append(text)
        else:
            self._tables[-1].append(" ".join(text.split()))


def _start(node: LexborNode) -> int:
    value = node.attributes.get("start") or "1"
    return int(value) if re.fullmatch(r"-?\d{1,9}", value) else 1


def _layout_tables(root: LexborNode) -> frozenset[int]:
    """Tables that hold other tables or headings: they arrange a page, so their cells are read as blocks."""
    layout: set[int] = set()
    for inner in root.css("table table, table h1, table h2, table h3, table h4, table h5, table h6"):
        node = inner.parent
        while node is not None and node.tag != "table":
            node = node.parent
        if node is not None:
            layout.add(node.mem_id)
    return frozenset(layout)
