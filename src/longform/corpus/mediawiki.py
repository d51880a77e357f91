"""MediaWiki exports (``pages-articles.xml.bz2`` of any wiki), one page at a time.

The format is described at https://www.mediawiki.org/wiki/Help:Export#Export_format.
"""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree.ElementTree import Element, ParseError, iterparse

from longform.corpus.options import ReadOptions, Trouble
from longform.corpus.sources import Source
from longform.corpus.streams import label, opened
from longform.corpus.wikitext import DROPPED_PREFIXES, WikitextError, wikitext_document
from longform.errors import InputError
from longform.records import Document

__all__ = ["read_mediawiki"]

_ARTICLES = "0"
_DROPPED_NAMESPACES = {"-2", "6", "14"}  # media, files and categories


def read_mediawiki(source: Source, options: ReadOptions, trouble: Trouble) -> Iterator[Document]:  # noqa: ARG001
    """A document for each article that is not a redirect, with the page's id and title.

    Of a dump with history the last revision is read. A page whose wikitext cannot be parsed is reported and
    passed over in any case: no dump is free of them.
    """
    with opened(source) as stream:
        pages = iterparse(stream, events=("start", "end"))
        root: Element | None = None
        prefix = text = ""
        dropped = set(DROPPED_PREFIXES)
        while True:
            try:
                event, element = next(pages)
            except StopIteration:
                return
            except ParseError as error:
                line = error.position[0]
                raise InputError(f"{label(source)}:{line}: invalid XML: {error}.") from None
            if root is None:
                root = element
                if not root.tag.endswith("mediawiki"):
                    raise InputError(f"{label(source)} is XML, but no MediaWiki export (its root is <{root.tag}>).")
                prefix = root.tag.removesuffix("mediawiki")
            if event == "start":
                continue
            name = element.tag.removeprefix(prefix)
            if name == "namespace" and element.get("key") in _DROPPED_NAMESPACES and element.text:
                dropped.add(element.text.lower())
            elif name == "revision":
                text = element.findtext(prefix + "text") or ""
                element.clear()
            elif name == "page":
                document = _page(source, element, prefix, text, frozenset(dropped), trouble)
                text = ""
                # Without this the tree of all pages read so far would stay.
                root.clear()
                if document is not None:
                    yield document


def _page(
    source: Source, page: Element, prefix: str, text: str, dropped: frozenset[str], trouble: Trouble
) -> Document | None:
    if page.findtext(prefix + "ns", _ARTICLES) != _ARTICLES or page.find(prefix + "redirect") is not None:
        return None
    key, title = page.findtext(prefix + "id") or "", page.findtext(prefix + "title") or ""
    try:
        document = wikitext_document(key or title, title, text, dropped)
    except WikitextError as error:
        trouble.note(InputError(f"{label(source)}: the page '{title}' ({key}) cannot be parsed: {error}."))
        return None
    return document if document.text else None
