"""Names and times in questions and sentences, and which pronoun a name goes by: rules, for English, and humble ones."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from longform.answer.aliases import name_pattern
from longform.records import Passage
from longform.text import QUESTION_WORDS, STOP_WORDS, split_sentences

__all__ = [
    "ORDINALS",
    "PLACE_WORDS",
    "TIME",
    "Name",
    "is_adjective",
    "names_in",
    "pronoun_of",
    "short_forms",
    "without_bracket",
]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


TIME = re.compile(
    r"\b(?:(?:\d{1,2} )?(?:January|February|March|April|May|June|July|August|September|October|November|December)"
    r" \d{3,4}|\d{1,4} (?:AD|BC|BCE|CE)|AD \d{1,4}|\d{3,4}s|[12]\d{3}|\d{1,2}(?:st|nd|rd|th) century)\b"
)
"""A year, with its month and day where they are there, a decade or a century."""

ORDINALS = re.compile(
    r"(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|last|next|final|only|other|\d+(?:st|nd|rd|th)|"
    r"(?!(?:for|inter|har|mod|hon|conqu|t|w)est$)[a-z]{3,}est)",
    re.IGNORECASE,
)
"""What singles one thing out of a row: "first", "last", "largest"."""

PLACE_WORDS = frozenset({"in", "at", "on", "from", "near", "to", "into", "across", "around", "inside", "outside"})

_TOKEN = re.compile(r"[^\W_]+(?:[.'’\-–&][^\W_]+)*")
# Within a name: "House of Bourbon", "William the Conqueror", "Ludwig van Beethoven".
_JOINS = _words("of the de du des la le von van der den di da del della bin ibn al")
_DATES = _words(
    "January February March April May June July August September October November December "
    "Monday Tuesday Wednesday Thursday Friday Saturday Sunday AD BC BCE CE"
)
# What opens a request and is no name, however it is written.
_OPENINGS = (
    STOP_WORDS
    | QUESTION_WORDS
    | _words(
        "what's who's where's when's how's that's it's he's she's tell name list give describe explain compare define "
        "show please ok okay well yes may"
    )
)
_ADJECTIVE = re.compile(r"\w+(?:an|ish|ese|ic|ch|iet|eek|iss)")
_PRONOUNS = {
    **dict.fromkeys(("he", "him", "his"), "he"),
    **dict.fromkeys(("she", "her"), "she"),
    **dict.fromkeys(("it", "its"), "it"),
    **dict.fromkeys(("they", "them", "their"), "they"),
}
_OPENS = re.compile(
    r"(?:(?:At|In|As|From|On|By|With|After|Before|For)\b[^,]{0,30}, )?(He|She|It|They|His|Her|Its|Their)\b"
)
_INNER = re.compile(r"\b(he|she|his|her)\b")
_BRACKET = re.compile(r"\s*\([^()]*\)$")


class Name(NamedTuple):
    """A name at ``start`` to ``end`` of a text: ``text`` with what belongs to it in front, ``bare`` without.

    ``after`` is the word before it, in lower case; ``alone`` says that nothing but a capital at the beginning of the
    sentence makes it a name.

    >>> names_in("Who won the first World Cup?")[0]
    Name(text='the first World Cup', start=8, end=27, bare='World Cup', after='won', alone=False)
    """

    text: str
    start: int
    end: int
    bare: str
    after: str
    alone: bool = False

    @property
    def person(self) -> bool:
        """Whether it is shaped as a person's name: two to five words without digits, and no "of".

        >>> [name.person for name in names_in("Did Jeff Buckley see Paris or the Bank of England?")]
        [True, False, False]
        """
        words = self.bare.split()
        plain = not any(letter.isdigit() for letter in self.bare) and "of" not in words
        return plain and self.text == self.bare and 2 <= len(words) <= 5


def names_in(text: str, known: Iterable[str] = ()) -> list[Name]:
    """The names in a question or sentence: runs of words with capitals, but for a first word that only opens it.

    In a text without any capital, those of the ``known`` names that stand there.

    >>> [name.bare for name in names_in("Did Louis Philippe I follow Charles X in July 1830?")]
    ['Louis Philippe I', 'Charles X']
    >>> [name.text for name in names_in("where does the nile begin", ["Nile", "Amazon"])]
    ['the Nile']
    """
    tokens = list(_TOKEN.finditer(text))
    names: list[Name] = []
    place = 0
    while place < len(tokens):
        if not _capital(tokens, place, text):
            place += 1
            continue
        last = place
        while (following := _joined(tokens, last, text)) is not None:
            last = following
        words = [token.group() for token in tokens[place : last + 1]]
        # A heading in front of a sentence leaves its "The" within it.
        if not (all(word in _DATES for word in words) or (len(words) == 1 and words[0].lower() in _OPENINGS)):
            names.append(_name(tokens, place, last, text))
        place = last + 1
    return _known(text, known) if text.islower() else names


def _capital(tokens: Sequence[re.Match[str]], place: int, text: str) -> bool:
    word = tokens[place].group()
    if not word[0].isupper():
        return False
    opens = place == 0 or text[tokens[place - 1].end() : tokens[place].start()].strip() in (
        '"',
        "“",
        ".",
        "?",
        "!",
        ":",
    )
    if not (opens and word.lower() in _OPENINGS):
        # "I" alone speaks of who asks; "I Will Always Love You" is a song.
        return word != "I" or _joined(tokens, place, text) is not None
    # "A Star Is Born" may open a sentence, "Who Charles X followed" may not.
    return word in ("A", "An") and place + 2 < len(tokens) and all(one.group()[0].isupper() for one in tokens[1:3])


def _joined(tokens: Sequence[re.Match[str]], last: int, text: str) -> int | None:
    """The place of the next token with which the name goes on."""
    following = last + 1
    while following < len(tokens) and following - last <= 2 and tokens[following].group() in _JOINS:
        following += 1
    if following >= len(tokens):
        return None
    between = text[tokens[last].end() : tokens[following].start()]
    word = tokens[following].group()
    # "St. Louis" is one name, "in France. King" is not.
    stop = r"\.?" if len(tokens[last].group()) <= 3 else ""
    if not re.fullmatch(rf"{stop} [\w ]*", between):
        return None
    number = following == last + 1 and re.fullmatch(r"\d{1,3}", word) is not None
    return following if word[0].isupper() or number else None


def _name(tokens: Sequence[re.Match[str]], first: int, last: int, text: str) -> Name:
    start, end = tokens[first].start(), tokens[last].end()
    bare = re.sub(r"['’]s$", "", text[start:end])
    end = start + len(bare)
    place = first
    while place > 0 and (ORDINALS.fullmatch(tokens[place - 1].group()) or TIME.fullmatch(tokens[place - 1].group())):
        place -= 1
    if place > 0 and tokens[place - 1].group().lower() == "the":
        start, first = tokens[place - 1].start(), place - 1
    before = tokens[first - 1].group().lower() if first else ""
    if text[start:end] != bare and (noun := re.match(r" [a-z]{2,}ing\b", text[end:])):
        end += noun.end()  # "the first Moon landing"
        bare += noun.group()
    return Name(text[start:end], start, end, bare, before, first == 0 and last == 0)


def _known(text: str, known: Iterable[str]) -> list[Name]:
    found: list[Name] = []
    for name in sorted({without_bracket(one) for one in known}, key=lambda one: (-len(one), one)):
        for match in name_pattern(name).finditer(text):
            if any(match.start() < other.end and other.start < match.end() for other in found):
                continue
            before = text[: match.start()].split()
            article = bool(before) and before[-1].lower() == "the"
            start = text[: match.start()].lower().rindex("the") if article else match.start()
            after = before[-2:-1] if article else before[-1:]
            written = f"{text[start : match.start()].lower()}{name}"
            found.append(Name(written, start, match.end(), name, after[0].lower() if after else ""))
    return sorted(found, key=lambda one: one.start)


def is_adjective(name: Name, text: str) -> bool:
    """Whether a name only says of what nation something is, as in "the German emperor".

    >>> text = "Was the German emperor in the Vatican?"
    >>> [is_adjective(name, text) for name in names_in(text)]
    [True, False]
    """
    following = text[name.end :]
    return _ADJECTIVE.fullmatch(name.bare) is not None and re.match(r" [a-z]", following) is not None


def without_bracket(title: str) -> str:
    """A page's title without what tells it from its namesakes.

    >>> without_bracket("Georgia (country)")
    'Georgia'
    """
    return _BRACKET.sub("", title) or title


def pronoun_of(name: str, passages: Iterable[Passage]) -> str:
    """ "he", "she", "it" or "they", as the passages speak of a name after they named it; "" where they do not say.

    >>> text = "Marie Curie was born in Warsaw. She moved to Paris. Paris is large. It lies on the Seine."
    >>> page = Passage("c", "c", "Marie Curie", text, 0, len(text))
    >>> pronoun_of("Marie Curie", [page]), pronoun_of("Paris", [page]), pronoun_of("Warsaw", [page])
    ('she', 'it', '')
    """
    words = name.split()
    if not words:
        return ""
    short = short_forms(name)
    described = r"(?:(?:The|An?) (?:(?!(?:in|of|at|from|on|by|to|for) )[\w-]+ ){0,3})?"
    subject = re.compile(rf"{described}(?:{'|'.join(map(re.escape, [name, *short]))})(?!\w)(?!['’]s)")
    votes: Counter[str] = Counter()
    for passage in passages:
        sentences = split_sentences(passage.text)
        for sentence, following in zip(sentences, [*sentences[1:], ""], strict=True):
            named = subject.search(sentence[: len(name) + 60])
            if named is None or named.start() > 30 or not _begins(sentence, named):
                continue
            rest = sentence[named.end() :]
            others = any(other.person for other in names_in(f"Then{rest}"))
            inner = _INNER.search(rest)
            opens = _OPENS.match(following)
            if inner and not others:
                votes[_PRONOUNS[inner[1]]] += 1
            elif opens and not others:
                votes[_PRONOUNS[opens[1].lower()]] += 2
    if not votes:
        return ""
    return max(votes, key=lambda pronoun: (votes[pronoun], pronoun))


def short_forms(name: str) -> list[str]:
    """What a person is called once the whole name was said.

    >>> short_forms("Leonard Cohen"), short_forms("Charles X"), short_forms("Galba")
    (['Cohen'], ['Charles'], [])
    """
    words = name.split()
    if len(words) < 2:
        return []
    return [words[-1]] if len(words[-1]) > 3 else [words[0]] if len(words) == 2 else []


def _begins(sentence: str, named: re.Match[str]) -> bool:
    """Whether a name is what a sentence is about: only a heading, without a verb's small letters, is in front of it."""
    before = sentence[: named.start()].split()
    return len(before) <= 5 and all(
        word[0].isupper() or word in _JOINS or word in ("and", "in", "on") for word in before
    )
