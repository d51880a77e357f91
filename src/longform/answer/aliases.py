"""Which names are names of the same thing: "The Beatles" and "Beatles (band)", "M. Curie" and "Marie Curie".

Two names are the same where they are equal once normalised (accents, articles, punctuation and a bracket at the end
aside). A shorter name is merged into a longer one where the longer one extends it, and only where it could be nothing
else among the names at hand: "Curie" is "Marie Curie" as long as "Pierre Curie" is not there too. A name extends
another one where

- the words of the shorter one stand in a row in it ("Curie", "Marie Curie"), or
- it writes out the given names of a person ("J. R. R. Tolkien", "John Ronald Reuel Tolkien"), or
- it adds names in the middle of a person's ("Marie Curie", "Marie Skłodowska Curie"),

and what it adds is no number and no word of a series: "Rocky" is not "Rocky II". Titles of two different documents are
different things, whatever their words: "Alien" and "Alien Resurrection".
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

from longform.text import normalize_answer

__all__ = ["name_key", "name_pattern", "same_names"]

_BRACKET = re.compile(r"\s*\(([^()]*)\)\s*$")
# What has no decomposition into a letter and a mark.
_LETTERS = str.maketrans({"ł": "l", "Ł": "L", "ø": "o", "Ø": "O", "đ": "d", "Đ": "D", "ß": "ss", "æ": "ae", "Æ": "AE"})
_QUOTES = str.maketrans(dict.fromkeys("“”‘’«»„‚´`", "'"))
# A longer name that adds one of these is another thing: a sequel, a son, a volume.
_SERIES = re.compile(
    r"\d.*|[ivx]+|jr|sr|junior|senior|elder|younger|part|parts|volume|vol|chapter|episode|season|series|book|"
    r"first|second|third|fourth|fifth|north|south|east|west|northern|southern|eastern|western|new|upper|lower"
)
# Words in small letters that stand within the names of people.
_PARTICLES = frozenset(
    {
        "af",
        "al",
        "bin",
        "da",
        "de",
        "del",
        "della",
        "der",
        "di",
        "dos",
        "du",
        "el",
        "ibn",
        "la",
        "le",
        "van",
        "von",
        "y",
        "zu",
    }
)


def _plain(name: str) -> str:
    """Without accents, and with straight quotes."""
    split = unicodedata.normalize("NFKD", name.translate(_LETTERS).translate(_QUOTES))
    return "".join(letter for letter in split if not unicodedata.combining(letter))


def name_key(name: str) -> str:
    """What equal names share.

    >>> name_key("The Beatles"), name_key("Beatles (band)"), name_key("J.R.R. Tolkien"), name_key("Géza von Bolváry")
    ('beatles', 'beatles', 'jrr tolkien', 'geza von bolvary')
    """
    return _Name(name).key


def name_pattern(name: str) -> re.Pattern[str]:
    """Finds a name in a text, as whole words, in any case and with any punctuation between its words.

    >>> name_pattern("Jean Luc Picard").search("Then Jean-Luc  Picard came.").span()
    (5, 21)
    """
    words = re.findall(r"\w+", name)
    if not words:
        return re.compile(r"(?!)")
    return re.compile(r"(?<!\w)" + r"[^\w]{1,3}".join(map(re.escape, words)) + r"(?!\w)", re.IGNORECASE)


@dataclass(frozen=True)
class _Name:
    text: str

    @cached_property
    def bracket(self) -> str:
        """What stands in brackets at the end: it tells namesakes apart."""
        found = _BRACKET.search(self.text)
        return normalize_answer(found[1]) if found and self.text[: found.start()].strip() else ""

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The normalised words, initials one by one."""
        text = _BRACKET.sub("", self.text) or self.text
        spaced = re.sub(r"(?<=\b\w)\.(?=\w)", ". ", re.sub(r"[-‐‑–/]", " ", _plain(text)))
        # A name of nothing but articles or signs ("A", "!!!") stays what it is.
        return tuple(normalize_answer(spaced).split()) or tuple(text.lower().split())

    @cached_property
    def key(self) -> str:
        """The words, runs of initials put together: "u s" and "us" are the same."""
        return re.sub(r"\b(\w) (?=\w\b)", r"\1", " ".join(self.words))

    @cached_property
    def person(self) -> bool:
        """Whether it may be a person's name: two to five words, all with capitals but for particles, no digits."""
        parts = self.text.replace(".", ". ").split()
        capitals = all(part[0].isupper() or part.lower() in _PARTICLES for part in parts)
        return 2 <= len(self.words) <= 6 and capitals and not any(letter.isdigit() for letter in self.text)


def same_names(names: Sequence[str], distinct: Collection[str] = ()) -> list[int]:
    """For each name the place of the first one that is the same; ``distinct`` are names of different things.

    The groups do not depend on the order of the names.

    >>> same_names(["The Beatles", "Wings", "Beatles (band)", "the Wings!"])
    [0, 1, 0, 1]
    >>> same_names(["Curie", "Marie Curie"]), same_names(["Curie", "Marie Curie", "Pierre Curie"])
    ([0, 0], [0, 1, 2])
    >>> same_names(["Alien", "Alien Resurrection"], distinct=["Alien", "Alien Resurrection"])
    [0, 1]
    """
    forms = [_Name(name) for name in names]
    apart = {name_key(name) for name in distinct}
    groups: dict[tuple[str, str], list[_Name]] = {}
    brackets: dict[str, set[str]] = {}
    for form in forms:
        if form.bracket:
            brackets.setdefault(form.key, set()).add(form.bracket)
    keys = []
    for form in forms:
        # Namesakes: "Halloween (1978 film)" and "Halloween (2018 film)".
        several = len(brackets.get(form.key, ())) > 1
        key = (form.key, form.bracket if several else "")
        keys.append(key)
        groups.setdefault(key, []).append(form)
    owner = {key: key for key in groups}

    def root(key: tuple[str, str]) -> tuple[str, str]:
        while owner[key] != key:
            key = owner[key]
        return key

    # From long to short, so that what a short name could be is known when its turn comes.
    ordered = sorted(groups, key=lambda key: (-len(groups[key][0].words), -len(key[0]), key))
    for place, key in enumerate(ordered):
        longer = {
            root(other)
            for other in ordered[:place]
            if not (key[0] in apart and other[0] in apart)
            and any(_extends(a, b) for a in groups[other] for b in groups[key])
        }
        if len(longer) == 1:
            owner[key] = longer.pop()
    firsts: dict[tuple[str, str], int] = {}
    return [firsts.setdefault(root(key), place) for place, key in enumerate(keys)]


def _extends(longer: _Name, shorter: _Name) -> bool:
    """Whether the longer name may be the shorter one with more said."""
    return _contains(longer, shorter) or _writes_out(longer, shorter) or _adds_middle(longer, shorter)


def _contains(longer: _Name, shorter: _Name) -> bool:
    long, short = longer.words, shorter.words
    # A lone letter stands in too many names.
    if len(short) >= len(long) or len("".join(short)) < 2:
        return False
    places = [first for first in range(len(long) - len(short) + 1) if long[first : first + len(short)] == short]
    if not places:
        return False
    added = (*long[: places[0]], *long[places[0] + len(short) :])
    return not any(_SERIES.fullmatch(word) for word in added)


def _writes_out(longer: _Name, shorter: _Name) -> bool:
    """The same last name, and initials where the longer one has given names, as far as there are any."""
    long, short = longer.words, shorter.words
    if not (longer.person and shorter.person) or long[-1] != short[-1] or long == short:
        return False
    initials = short[:-1]
    if not any(len(word) == 1 for word in initials) or len(initials) > len(long) - 1:
        return False
    return all(
        whole == part or (len(part) == 1 and whole[0] == part) for part, whole in zip(initials, long, strict=False)
    )


def _adds_middle(longer: _Name, shorter: _Name) -> bool:
    long, short = longer.words, shorter.words
    if not (longer.person and shorter.person and len(short) == 2 < len(long) <= 4):
        return False
    middle = long[1:-1]
    return (
        long[0] == short[0]
        and long[-1] == short[-1]
        and not any(_SERIES.fullmatch(word) and len(word) > 1 for word in middle)
    )
