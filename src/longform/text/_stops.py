"""Whether a stop ends its sentence, asked of the words on either side of it.

Every look to the left or right is bounded or ends before the next stop, so the time over a text is linear.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from longform.text.abbreviations import (
    DOMAIN_ENDINGS,
    EXCLAIMED_NAMES,
    FINAL_FOLLOWERS,
    INFORMAL_OPENERS,
    KINDS,
    LETTER_HEADS,
    OPENERS,
    RULERS,
    SAYING_VERBS,
    Kind,
    kind_of,
)

__all__ = ["joined_stop_ends", "stop_ends"]

_OPENING = re.compile(r"[\"'“‘„«‹(\[{*_`¿¡「『（【]*")
_WORD = re.compile(r"[^\W\d_]+")
_CAMEL = re.compile(r"[a-z]{1,3}[A-Z]")
_NUMERAL = re.compile(r"(?:[IVXLC]+|[A-Z]\d*|[A-Z]-?\d+)(?![\w'’])")
_JOINED_WORD = re.compile(r"[“‘\"(]?([A-ZÀ-Þ][a-zß-ÿ]+)(?=[\s,'’]|$)")
_NAME_SAID = re.compile(rf"(?:[^\W\d_a-z][\w'’-]{{1,30}}\s){{1,3}}(?:{'|'.join(sorted(SAYING_VERBS))})\b")
_SEPARATOR = re.compile(r"[-–—(\[{“\"«:]|/(?=\w\w)")
_MARKER = re.compile(r"\(?(?:\d{1,3}(?:\.\d{1,3}){0,4}|[A-Za-z]|[ivx]{1,5}|[IVX]{1,5})")

_QUOTES = frozenset("\"'”’»」』")
_NOT_A_START = frozenset("-–—−&+=/%,;:|)]}>”’»")
_JOINING_MARKS = frozenset(".-–/&")
_INTRODUCING = frozenset("(,;")
_REACH = 64
_BRACKET_REACH = 200
_TITLE_REACH = 40


class _Place(NamedTuple):
    """A stop that may end the sentence begun at `start`: what stands before it, and the word that follows."""

    text: str
    start: int
    stop_at: int
    token: str
    word_at: int
    word: str

    def before(self, back: int) -> str:
        """The word `back` places before the token."""
        return _token_before(self.text, self.start, self.stop_at, back)

    def opens(self) -> bool:
        """Whether the word that follows is one that usually opens a sentence."""
        end = self.word_at + len(self.word)
        return self.word in OPENERS and self.text[end : end + 1] not in _JOINING_MARKS


def stop_ends(text: str, start: int, match: re.Match[str]) -> bool:
    """Whether a stop followed by white space ends the sentence."""
    stop, close = match["stop"], match["close"]
    at, following = match.start("stop"), match.end()
    token = _token_before(text, start, at)
    plain = stop == "." and not close
    if plain and text[following].isupper() and len(token) > 3 and token.isalpha() and token not in KINDS:
        return True
    if close and at and text[at - 1] in "([" and close[0] in ")]":
        return False
    opening = _OPENING.match(text, following)
    word_at = opening.end() if opening else following
    first = text[word_at : word_at + 1]
    if not first or first in _NOT_A_START:
        return text.startswith("==", word_at)
    found = _WORD.match(text, word_at)
    place = _Place(text, start, at, token, word_at, found[0] if found else "")
    kind = kind_of(token) if stop == "." else None
    if first.islower():
        trails_off = len(stop) > 1 and stop[0] in ".…"
        return kind is None and not trails_off and _lower_case_opens(place, bool(close))
    if stop != ".":
        return _mark_ends(place, stop, close, text[following:word_at])
    if plain and at - start <= 20 and _MARKER.fullmatch(text, start, at):
        return False
    return kind is None or _abbreviation_ends(place, kind)


def _mark_ends(place: _Place, stop: str, close: str, opening: str) -> bool:
    """Whether a question mark, an exclamation mark or an ellipsis ends the sentence before a capital."""
    text, word_at = place.text, place.word_at
    # After a full stop the name opens a sentence of its own; after other marks it may be the one who asks.
    if not _QUOTES.isdisjoint(close) and place.word not in OPENERS and _NAME_SAID.match(text, word_at):
        return False
    if "(" in opening and stop[0] in "!?":
        # A sentence in brackets closes just after its stop: '(He did.)', but '(Swedish)' is a remark.
        end = text.find(")", word_at, word_at + _BRACKET_REACH)
        return text[word_at].isalpha() and (end < 0 or text[end - 1] in '.!?…"”’')
    if not close and _inside_quoted_title(place):
        return False
    return stop != "!" or place.token not in EXCLAIMED_NAMES or place.opens()


def _inside_quoted_title(place: _Place) -> bool:
    """Whether quotation marks close around the mark, and not after a stop: "Mamma Mia! Here We Go Again"."""
    text, word_at = place.text, place.word_at
    if text[max(place.start, place.stop_at - _TITLE_REACH) : place.stop_at].count('"') % 2 == 0:
        return False
    end = text.find('"', word_at, word_at + _TITLE_REACH)
    return end > word_at and text[end - 1] not in ".,!?… "


def _abbreviation_ends(place: _Place, kind: Kind) -> bool:
    """Whether a sentence ends in an abbreviation before a word that is not in lower case."""
    text, token, word = place.text, place.token, place.word
    digit = text[place.word_at].isdigit()
    if kind is Kind.NEVER:
        return False
    if kind is Kind.QUANTITY:
        # An inch follows a number: "2 in. 5", but "They came in. 12 were".
        return not digit or (token == "in" and not place.before(1)[-1:].isdigit())
    if kind is Kind.REFERENCE:
        return not digit and not _NUMERAL.match(text, place.word_at)
    if kind is Kind.FINAL:
        return bool(word) and word not in FINAL_FOLLOWERS
    token_at = place.stop_at - len(token)
    if token.islower() and text[max(place.start, token_at - 2) : token_at].rstrip()[-1:] in _INTRODUCING:
        # It introduces what follows: "(lit. The Gunfire)", "Atlas, ed. The Times".
        return False
    if place.opens() or len(word) < 2:
        return place.opens()
    if token.islower() and token not in KINDS:
        # A unit, if a number stands before it: "He ran 10,000 m. Farah came first."
        return place.before(1)[-1:].isdigit()
    return len(token) == 1 and (place.before(1) in LETTER_HEADS or place.before(2) in RULERS)


def _lower_case_opens(place: _Place, closed: bool) -> bool:
    """Whether a word in lower case opens a sentence: "iPhone", or anything where nobody types capitals."""
    if _CAMEL.match(place.text, place.word_at):
        return True
    token = place.token
    return not closed and place.word in INFORMAL_OPENERS and len(token) > 2 and token.isalpha() and token.islower()


def joined_stop_ends(text: str, start: int, match: re.Match[str]) -> bool:
    """Whether a sentence ends where the space after it is missing: "ended.The next", but not "Node.Js"."""
    found = _JOINED_WORD.match(text, match.end())
    at = match.start("stop")
    # Dots without a space belong to titles as often as not: "I'm a Celebrity...Get Me Out of Here!".
    if not found or at <= start or match["stop"][:2] in ("..", "…") or found[1].lower() in DOMAIN_ENDINGS:
        return False
    token = _token_before(text, start, at)
    if token.isdigit():
        return len(token) == 4
    return (
        len(token) > 1
        and token[-1].islower()
        and token.replace("'", "").replace("’", "").isalpha()
        and KINDS.get(token, Kind.QUANTITY) is Kind.QUANTITY
        and token not in EXCLAIMED_NAMES
        and not any(mark in text[max(start, at - _REACH) : at].rsplit(None, 1)[-1] for mark in "/@\\:")
    )


def _token_before(text: str, start: int, at: int, back: int = 0) -> str:
    """The word before `at`, or `back` words further, without what is joined to its front ("non-")."""
    pieces = text[max(start, at - _REACH) : at].rsplit(None, back + 1)
    token = pieces[-1 - back] if len(pieces) > back else ""
    if token.isalnum():
        return token
    return _SEPARATOR.split(token)[-1].lstrip("'‘*_")
