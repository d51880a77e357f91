"""The characters of a web page: its byte order mark, its declared charset, else UTF-8."""

from __future__ import annotations

import codecs
import re

from longform.corpus.sources import Source
from longform.corpus.streams import decode_text, label
from longform.errors import InputError

__all__ = ["declared_charset", "decode_page"]

_DECLARED = re.compile(
    rb"""<\?xml\b[^>]*?\bencoding\s*=\s*["']([\w.:-]+)|<meta\b[^>]*?\bcharset\s*=\s*["']?\s*([\w.:-]+)""",
    re.IGNORECASE,
)

# What browsers read under these names (https://encoding.spec.whatwg.org/#names-and-labels).
_BROWSERS = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "euc_kr": "cp949",
    "shift_jis": "cp932",
    "iso8859-9": "cp1254",
    "tis-620": "cp874",
    "utf-16": "utf-8",
    "utf-16-le": "utf-8",
    "utf-16-be": "utf-8",
}


def declared_charset(data: bytes) -> str | None:
    """The charset that the page's first bytes declare.

    >>> declared_charset(b'<html><head><meta charset="ISO-8859-2">')
    'ISO-8859-2'
    """
    found = _DECLARED.search(data[:4096])
    return None if found is None else (found[1] or found[2]).decode("ascii")


def decode_page(source: Source, data: bytes) -> str:
    """The page's characters, read as a browser would, except that broken bytes are an error, not a guess."""
    declared = declared_charset(data)
    if declared is None or data.startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")):
        return decode_text(source, data)
    try:
        name = codecs.lookup(declared).name
        name = _BROWSERS.get(name, name)
        if name == "utf-8":
            return decode_text(source, data)
        # Windows-1252 leaves five bytes without a meaning; pages that hold them are not worth refusing.
        return data.decode(name, "replace" if name == "cp1252" else "strict")
    except UnicodeDecodeError as error:
        raise InputError(f"{label(source)} is not {declared}, as it declares, at byte {error.start}.") from None
    except (LookupError, UnicodeError):
        raise InputError(f"{label(source)} declares an unknown charset, '{declared}'.") from None
