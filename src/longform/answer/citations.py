"""Citations, repaired while the words come: every mark is ``[n]``, names a passage that was given, and stands before
the full stop.

Models write ``. [1]``, ``[1, 2]``, ``[1-3]``, ``[Passage 2]``, ``[citation needed]``, ``[n]``, ``[0]`` and ``[99]``.
Square brackets around anything else are text, such as ``[sic]``, and stay. A year in square brackets, which a reader
would take for a citation, stays in round ones.

>>> "".join(repaired(["It rained. [1, ", "2] It stopped [9][Passage 3]"], 3))
'It rained [1][2]. It stopped [3]'
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

__all__ = ["CitationRepairer", "marks", "repaired"]

# A bracket that is open for longer than this was none.
_LONGEST = 80

_WORD = r"(?:(?:passages?|documents?|docs?|sources?|refs?|references?|citations?|cit|see)\b\.?\s*)?"
_NUMBER = r"[#^]?\d+"
_NUMBERS = re.compile(
    rf"\s*{_WORD}{_NUMBER}(?:\s*(?:,|;|&|/|and|to|[-–—]|\s)\s*{_WORD}{_NUMBER})*\s*,?\s*", re.IGNORECASE
)
_PART = re.compile(r"(\d+)(?:\s*(?:[-–—]|\bto\b)\s*[#^]?(\d+))?", re.IGNORECASE)
_PLACEHOLDER = re.compile(
    rf"\s*(?:{_WORD}[nNxXiIkK#?*_]|(?:citation|source|reference|clarification|verification)s?(?:\s+(?:needed|here))?"
    r"|cite|citations?|passages?|passage\s+number|number|ref|refs|doc|document)?\s*",
    re.IGNORECASE,
)
_YEARS = re.compile(r"\s*[12]\d{3}(?:\s*[-–—/,]\s*[12]\d{3})*\s*")

_STOPS = frozenset(".!?…。！？")
_CLOSERS = frozenset("\"'”’»)")
_NO_SPACE_BEFORE = frozenset(",;:)]}%”’»")


def marks(numbers: Iterable[int]) -> str:
    """Citation marks as they are written.

    >>> marks([1, 3])
    '[1][3]'
    """
    return "".join(f"[{number}]" for number in numbers)


def repaired(pieces: Iterable[str], passages: int) -> Iterator[str]:
    """Pieces of a model's text with their citations repaired, as they come; ``passages`` is how many were given."""
    repairer = CitationRepairer(passages)
    for piece in pieces:
        if found := repairer.feed(piece):
            yield found
    if found := repairer.close():
        yield found


class CitationRepairer:
    """Reads a text character by character, so that what comes out does not depend on how it was cut into pieces.

    A stop is held until it is known whether citations follow it; a bracket until it is closed. Apart from citations,
    placeholders, white space next to them and white space around the whole, every character comes out again, in order.
    ``wrong`` are the numbers, in order, that name no passage.
    """

    def __init__(self, passages: int) -> None:
        self.passages = passages
        self.wrong: list[int] = []
        self._out: list[str] = []
        self._last = ""  # the last character that came out
        self._open: str | None = None  # what came out since a bracket that is text
        self._begun = False  # the current sentence has a word
        self._seen: set[int] = set()  # what it cites
        self._early: list[int] = []  # what it cites before its first word, to stand at its end
        # Held back, in this order:
        self._stop = ""  # what ends a sentence, maybe
        self._before = ""  # white space
        self._cut = False  # whether a citation or placeholder was taken out here
        self._numbers: list[int] = []  # citations to stand here, or before the stop
        self._next: list[int] = []  # citations of the sentence that follows the stop
        self._space = ""  # white space
        self._bracket = ""  # a bracket that is not closed yet
        self._depth = 0

    def feed(self, piece: str) -> str:
        """What can be told of the repaired text, given one more piece of the model's."""
        for character in piece:
            self._take(character)
        return self._given()

    def close(self) -> str:
        """The rest, at the end of the model's text."""
        while self._bracket:
            self._abandon()
        if self._begun or self._stop:
            self._numbers = _joined(self._early, self._numbers, self._next)
            self._put_numbers()
            self._put(self._stop)
        return self._given()

    def _given(self) -> str:
        found = "".join(self._out)
        self._out.clear()
        return found

    def _take(self, character: str) -> None:
        """One character of the model's text: part of a bracket, white space, a stop, or text."""
        if self._bracket:
            self._bracket += character
            self._depth += (character == "[") - (character == "]")
            if self._depth == 0:
                self._classify()
            elif character == "\n" or len(self._bracket) > _LONGEST:
                self._abandon()
        elif character == "[":
            self._bracket, self._depth = character, 1
        elif character.isspace():
            self._take_space(character)
        elif character in _STOPS or (character in _CLOSERS and self._stop and not self._space and not self._cut):
            self._take_stop(character)
        else:
            self._take_text(character)

    def _classify(self) -> None:
        """A bracket has closed: a citation, a placeholder, a year, or text."""
        raw, inner = self._bracket, self._bracket.replace("[", " ").replace("]", " ")
        if _YEARS.fullmatch(inner) and all(int(year) > self.passages for year in re.findall(r"\d+", inner)):
            self._bracket = ""
            for character in f"({inner.strip()})":
                self._take_text(character)
        elif _NUMBERS.fullmatch(inner):
            self._bracket = ""
            self._cite(self._checked(inner))
        elif _PLACEHOLDER.fullmatch(inner) and "[[" not in raw[1:]:
            self._bracket = ""
            self._cite([])
        else:
            self._abandon()

    def _abandon(self) -> None:
        """The bracket was text: it comes out, and what is in it is read again."""
        rest, self._bracket, self._depth = self._bracket[1:], "", 0
        self._take_text("[")
        for character in rest:
            self._take(character)

    def _checked(self, inner: str) -> list[int]:
        """The passages that a citation names; the numbers that name none are noted."""
        found: list[int] = []
        for first, last in _PART.findall(inner):
            start, end = int(first), int(last or first)
            if start > end:
                start, end = end, start
            self.wrong += [number for number in dict.fromkeys((start, end)) if not 1 <= number <= self.passages]
            found += range(max(start, 1), min(end, self.passages) + 1)
        return list(dict.fromkeys(found))

    def _cite(self, numbers: list[int]) -> None:
        if not self._cut:
            self._before, self._cut = self._space, True
        elif "\n" in self._space:
            self._before = self._space
        self._space = ""
        if self._stop and ("\n" in self._before or (self._before and self._early)):
            # At the beginning of a line, or where citations stand before their sentences: of what follows, if anything.
            self._next = _joined(self._next, numbers)
            return
        new = [number for number in numbers if number not in self._seen]
        self._seen.update(new)
        if self._begun or self._stop:
            self._numbers += new
        else:
            self._early += new

    def _take_space(self, character: str) -> None:
        if character == "\n" and self._begun and not self._stop:
            self._end_line()
        self._space += character

    def _end_line(self) -> None:
        """A line ends without a stop, as those of lists do: its citations stand at its end."""
        self._numbers = _joined(self._early, self._numbers)
        self._put_numbers()
        self._forget()
        self._before, self._cut = "", False

    def _take_stop(self, character: str) -> None:
        if self._stop and self._cut:
            # ". [1]." has one stop too many.
            self._space = ""
            return
        if self._stop and self._space:
            self._put_stop(ends=False)
            self._put(self._space)
        elif not self._stop and not self._cut:
            self._put(self._space)
        self._stop += character
        self._before, self._cut, self._space = "", False, ""

    def _take_text(self, character: str) -> None:
        gap = self._gap()
        if self._stop:
            gap = gap or (" " if self._cut else "")
            # "the U.S. [1] in 1900": no sentence ends there.
            goes_on = not gap or character.islower()
            if goes_on and self._cut:
                self._put(self._stop)
                self._stop = ""
            else:
                self._put_stop(ends=not goes_on)
        if self._numbers:
            self._put_numbers()
            gap = self._space
        if self._cut and not gap and character.isalnum() and (self._last.isalnum() or self._last == "]"):
            gap = " "
        self._put("" if self._cut and character in _NO_SPACE_BEFORE else gap)
        self._before, self._cut, self._space = "", False, ""
        if character == "]":
            # "[9[n]]" without its placeholder would be a citation that nobody checked.
            forged, self._open = self._open is not None and _NUMBERS.fullmatch(self._open), None
            if forged:
                return
        self._put(character)
        if character == "[":
            self._open = ""
        self._begun = self._begun or character.isalnum()

    def _gap(self) -> str:
        """The white space that is held: of that on both sides of what was taken out, one is enough."""
        if "\n" in self._before and "\n" not in self._space:
            return self._before
        return self._space or self._before

    def _put_stop(self, *, ends: bool) -> None:
        """The held stop, with the citations of its sentence before it; the white space after it is still held."""
        if ends:
            self._numbers = _joined(self._early, self._numbers)
        self._put_numbers()
        self._put(self._stop)
        self._stop = ""
        if ends:
            self._forget()
            self._early, self._next = self._next, []
            self._seen.update(self._early)

    def _forget(self) -> None:
        self._begun, self._early, self._seen = False, [], set()

    def _put_numbers(self) -> None:
        if self._numbers:
            self._put("" if not self._last or self._last.isspace() else " ")
            self._put(marks(self._numbers))
            self._numbers = []

    def _put(self, text: str) -> None:
        """Let text out; white space at the very beginning is not part of an answer."""
        if not self._last:
            text = text.lstrip()
        if text:
            self._out.append(text)
            self._last = text[-1]
            if self._open is not None:
                self._open = self._open + text if len(self._open) < _LONGEST else None


def _joined(*lists: list[int]) -> list[int]:
    return list(dict.fromkeys(number for numbers in lists for number in numbers))
