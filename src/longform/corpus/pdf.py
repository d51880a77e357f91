"""PDF files: the text layer, lines put back into paragraphs, pages as marks."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

from pypdf import PdfReader
from pypdf.errors import DependencyError, FileNotDecryptedError

from longform.corpus.options import ReadOptions, Trouble
from longform.corpus.sources import Source
from longform.corpus.streams import label, opened
from longform.corpus.unwrap import unwrap
from longform.errors import InputError
from longform.records import Document

__all__ = ["read_pdf"]

_LIGATURES = {
    0xFB00: "ff", 0xFB01: "fi", 0xFB02: "fl", 0xFB03: "ffi", 0xFB04: "ffl", 0xFB05: "st", 0xFB06: "st",
}  # fmt: skip
# Titles that programs made up: names of files, of themselves, of nothing.
_SENSELESS = re.compile(
    r"(?:microsoft (?:word|powerpoint|excel)\b.*"
    r"|(?:untitled|title|document|slide|presentation|no title|none)\s*\d*"
    r"|.*\.(?:docx?|tex|dvi|ps|eps|indd|qxd|pdf|rtf|odt|pptx?|xlsx?|html?|txt|fm|p65)|\W*|\d*|about:blank"
    r"|(?:https?|file)://.*)",
    re.IGNORECASE | re.DOTALL,
)


def read_pdf(source: Source, options: ReadOptions, trouble: Trouble) -> Iterator[Document]:  # noqa: ARG001
    """One document for the file, with a mark "page N" where each page that has text begins.

    A page that cannot be read is reported and, where bad input is skipped, left out.
    """
    # The library warns of every oddity in a file that it then reads well.
    with _quiet(), opened(source) as stream:
        reader = _open(source, stream)
        pages = _pages(source, reader, trouble)
        title = _title(reader)
    text, marks = unwrap(pages)
    if not text:
        raise InputError(f"{label(source)} has no text layer (scanned?): run OCR on it first.")
    yield Document(source.path, title or source.stem, text, marks)


def _open(source: Source, stream: BinaryIO) -> PdfReader:
    name = label(source)
    try:
        reader = PdfReader(stream)
        if reader.is_encrypted and not reader.decrypt(""):
            raise InputError(f"{name} is encrypted: save a copy without a password.")
        len(reader.pages)
    except InputError:
        raise
    except FileNotDecryptedError:
        raise InputError(f"{name} is encrypted: save a copy without a password.") from None
    except DependencyError:
        raise InputError(
            f"{name} is encrypted with AES: save a copy without a password, or pip install cryptography."
        ) from None
    # A broken file makes the library fail in every way there is, recursion and missing attributes among them.
    except Exception as error:
        raise InputError(f"{name} is not a readable PDF: {_sentence(error)}.") from None
    return reader


def _pages(source: Source, reader: PdfReader, trouble: Trouble) -> list[str]:
    pages = []
    for number in range(len(reader.pages)):
        text = ""
        try:
            text = reader.pages[number].extract_text()
        except Exception as error:
            trouble.bad(InputError(f"{label(source)}: page {number + 1} cannot be read: {_sentence(error)}."))
        pages.append(_clean(text))
    return pages


def _title(reader: PdfReader) -> str:
    """The title that the file's metadata give, when a person may have written it."""
    try:
        metadata = reader.metadata
        title = metadata.title if metadata is not None else None
    except Exception:
        return ""
    title = " ".join(_clean(title).split()) if isinstance(title, str) else ""
    return "" if len(title) > 300 or _SENSELESS.fullmatch(title) else title


def _clean(text: str) -> str:
    # Broken fonts give halves of characters, which no file could be written with.
    text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text.translate(_LIGATURES).replace("\xa0", " ").replace("\0", "")


def _sentence(error: Exception) -> str:
    text = " ".join((str(error) or type(error).__name__).split()).rstrip(".")
    return text[:200]


@contextmanager
def _quiet() -> Iterator[None]:
    logger = logging.getLogger("pypdf")
    level = logger.level
    logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        logger.setLevel(level)
