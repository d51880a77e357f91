"""Pages of the KILT knowledge source (Petroni et al., 2021, https://github.com/facebookresearch/KILT).

A row holds ``wikipedia_id``, ``wikipedia_title`` and ``text``, a list of paragraphs: the title first, then
headings as ``Section::::Name.``, list items as ``BULLET::::- item``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from longform.corpus.blocks import Blocks
from longform.records import Document

__all__ = ["is_kilt", "kilt_document"]

_SECTION = "Section::::"
_BULLET = "BULLET::::"


def is_kilt(row: Mapping[str, Any]) -> bool:
    """Whether the row is a KILT page.

    >>> is_kilt({"wikipedia_id": "1", "wikipedia_title": "Saw", "text": ["Saw\\n", "A tool.\\n"]})
    True
    >>> is_kilt({"id": "1", "text": "A tool."})
    False
    """
    return type(row.get("text")) is list and "wikipedia_title" in row and "wikipedia_id" in row


def kilt_document(row: Mapping[str, Any]) -> Document:
    """The page as a document. A row that is not of the shape is a ValueError that says why.

    >>> text = ["Saw\\n", "A tool.\\n", "Section::::Kinds.\\n", "BULLET::::- Hand\\n", "BULLET::::- Bow\\n"]
    >>> page = kilt_document({"wikipedia_id": "1", "wikipedia_title": "Saw", "text": text})
    >>> page.text
    'A tool.\\n\\nKinds\\n\\n- Hand\\n- Bow'
    >>> page.marks
    (Mark(offset=9, label='Kinds'),)
    """
    key, title, paragraphs = row.get("wikipedia_id"), row.get("wikipedia_title"), row.get("text")
    if type(key) is int:
        key = str(key)
    if not isinstance(key, str) or not key:
        raise ValueError("no 'wikipedia_id'")
    if not isinstance(title, str):
        raise ValueError("no 'wikipedia_title'")
    if not isinstance(paragraphs, list) or not all(isinstance(paragraph, str) for paragraph in paragraphs):
        raise ValueError("'text' is not a list of paragraphs")
    blocks = Blocks()
    bullets: list[str] = []
    for number, paragraph in enumerate(paragraphs):
        paragraph = paragraph.strip()
        if number == 0 and paragraph == title.strip():
            continue
        if paragraph.startswith(_BULLET):
            bullets.append(paragraph.removeprefix(_BULLET).strip())
            continue
        blocks.paragraph("\n".join(bullets))
        bullets.clear()
        if paragraph.startswith(_SECTION):
            blocks.heading(_heading(paragraph.removeprefix(_SECTION)))
        else:
            blocks.paragraph(paragraph)
    blocks.paragraph("\n".join(bullets))
    return Document(key, title, blocks.text, blocks.marks)


def _heading(name: str) -> str:
    """Sections within sections carry the whole path: ``Life.:Early years.`` → ``Life: Early years``."""
    return ": ".join(part.strip() for part in name.strip().removesuffix(".").split(".:"))
