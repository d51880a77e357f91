"""The words of a text that say something: what matching by words compares."""

from __future__ import annotations

import re

from longform.text.stopwords import STOP_WORDS

__all__ = ["content_tokens", "content_words"]

_TOKEN = re.compile(r"[^\W_]+")


def content_tokens(text: str) -> set[str]:
    """The distinct words of a text in lower case, without stop words.

    >>> sorted(content_tokens("The Beatles didn't play the Beatles' songs."))
    ['beatles', 'play', 'songs']
    """
    return set(_TOKEN.findall(text.lower())) - STOP_WORDS


def content_words(text: str) -> list[str]:
    """The same words in the order in which they first occur.

    >>> content_words("The Beatles didn't play the Beatles' songs.")
    ['beatles', 'play', 'songs']
    """
    return [word for word in dict.fromkeys(_TOKEN.findall(text.lower())) if word not in STOP_WORDS]
