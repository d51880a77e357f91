"""Pronouns that point out of a question, and the name put in their place."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from longform.answer.mentions import PLACE_WORDS, TIME, names_in

__all__ = ["PREPOSITIONS", "Pointer", "last_time", "pointers", "put_in"]

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_SUBJECT = {"he": "he", "she": "she", "it": "it", "they": "they"}
_OBJECT = {"him": "he", "her": "she", "it": "it", "them": "they"}
_POSSESSIVE = {"his": "he", "her": "she", "its": "it", "their": "they", "hers": "she", "theirs": "they"}
_ALL = {**_SUBJECT, **_OBJECT, **_POSSESSIVE}
_CONTRACTED = re.compile(r"(he|she|it|they)['’](s|d|ll|re|ve)", re.IGNORECASE)
_BE = frozenset({"is", "are", "was", "were", "be", "been", "being"})
_HELPING = _BE | frozenset(
    {"do", "does", "did", "has", "have", "had", "can", "could", "will", "would", "should", "may"}
)
# A new clause: what was named before it may be what the pronoun after it stands for.
_CLAUSE = re.compile(
    r"[,;:]|\b(?:and|but|or|when|while|after|before|because|since|until|although|though|if|that|who|which|whose|where|"
    r"why|how|what)\b",
    re.IGNORECASE,
)
# "Is it true that", "how long does it take to", "it is said": this "it" stands for nothing.
_EMPTY_IT = re.compile(
    r"it(?:'s)? (?:(?:is|was|be|been) )?"
    r"(?:true|possible|known|said|likely|correct|necessary|better|raining|take|takes|took)\b",
    re.IGNORECASE,
)
_AFTER_THAT = frozenset({"", "happen", "happened", "mean", "possible", "so", "true", "work", "take", "come", "end"})
PREPOSITIONS = PLACE_WORDS | frozenset(
    {"of", "by", "for", "with", "about", "after", "before", "during", "since", "until"}
)


class Pointer(NamedTuple):
    """A word or two at ``start`` to ``end`` that stand for something named before.

    ``stands`` is "he", "she", "it", "they", "there" or "then"; ``owner`` is true for "his"; ``noun`` is that of "this
    film".
    """

    start: int
    end: int
    stands: str
    owner: bool = False
    noun: str = ""


def pointers(question: str) -> list[Pointer]:
    """The pronouns that point at something outside the question.

    One that may mean a name in an earlier clause of the question itself, or the owner of something within the same
    clause, is left out; so are "there is", "is it true" and a "that" that joins clauses.

    >>> [question[one.start : one.end] for question in ["When was his wife born?"] for one in pointers(question)]
    ['his']
    >>> pointers("When did Charles X die, and where was he buried?"), pointers("Is it true that there are rings?")
    ([], [])
    """
    words = list(_WORD.finditer(question))
    named = names_in(question)
    found: list[Pointer] = []
    for place, word in enumerate(words):
        if any(name.start <= word.start() < name.end for name in named) and place > 0:
            continue  # "Who sang It's Now or Never?"
        one = _pointer(question, words, place)
        if one is None:
            continue
        before = [name for name in named if name.end <= one.start]
        if one.stands not in ("then", "there") and not one.noun and before:
            inner = _CLAUSE.search(question, before[-1].end, one.start)
            binds = inner is not None or (one.owner and before[-1].after not in PLACE_WORDS)
            if binds:
                continue
        found.append(one)
    return found


def _pointer(question: str, words: list[re.Match[str]], place: int) -> Pointer | None:
    word = words[place]
    text = word.group().lower()
    previous = words[place - 1].group().lower() if place else ""
    following = words[place + 1].group().lower() if place + 1 < len(words) else ""
    if contracted := _CONTRACTED.fullmatch(text):
        text = contracted[1]
        if text == "it" and _EMPTY_IT.match(question, word.start()):
            return None
        return Pointer(word.start(), word.start() + len(text), _SUBJECT[text])
    if text in _ALL:
        if text == "it" and _EMPTY_IT.match(question, word.start()):
            return None
        # "her" owns what follows it; at the end, and before "in" or "and", it is "him".
        owner = text in _POSSESSIVE and (
            text != "her" or (bool(following) and following not in PREPOSITIONS | {"and", "or"})
        )
        return Pointer(word.start(), word.end(), _ALL[text], owner)
    if text == "there":
        empty = previous in _BE or following in _BE or (not previous and following in _HELPING)
        return None if empty or not previous else Pointer(word.start(), word.end(), "there")
    if text == "then" and previous and not following:
        start = words[place - 1].start() if previous == "back" else word.start()
        return Pointer(start, word.end(), "then")
    if text in ("this", "that", "these", "those"):
        return _demonstrative(question, words, place, previous, following)
    return None


def _demonstrative(
    question: str, words: list[re.Match[str]], place: int, previous: str, following: str
) -> Pointer | None:
    word = words[place]
    plural = word.group().lower() in ("these", "those")
    if following in ("year", "time", "day", "decade", "century", "period") and not plural:
        at = words[place - 1] if previous in ("in", "at", "on", "during") else word
        return Pointer(at.start(), words[place + 1].end(), "then")
    if following in _AFTER_THAT or (following in _HELPING and not previous):
        return Pointer(word.start(), word.end(), "they" if plural else "it")
    opens = not previous or previous in _HELPING | PREPOSITIONS or word.group().lower() != "that"
    gap = question[word.end() : words[place + 1].start()] if following else ""
    if opens and gap == " " and following.isalpha() and words[place + 1].group().islower():
        return Pointer(word.start(), words[place + 1].end(), "they" if plural else "it", noun=following)
    return None


def put_in(
    question: str, found: list[Pointer], topic: Callable[[Pointer], str | None], time: str | None
) -> tuple[str, list[str]] | None:
    """The question with names in place of pronouns, and what was put where; ``None`` where one has no name.

    >>> put_in("Did he see his film?", pointers("Did he see his film?"), lambda one: "Orson Welles", None)
    ('Did Orson Welles see his film?', ['“he” is Orson Welles'])
    """
    pieces: list[str] = []
    said: dict[str, str] = {}
    done = 0
    for one in found:
        shown = question[one.start : one.end]
        name = time if one.stands == "then" else topic(one)
        if name is None and one.stands == "they" and len(found) > 1:
            continue  # People in general: "What do they eat there?"
        if name is None:
            return None
        if name in said.values() and one.stands not in ("then", "there"):
            continue  # Once is enough: "Did Orson Welles see his film?"
        said.setdefault(shown, name)
        pieces += [question[done : one.start], _written(question, one, name)]
        done = one.end
    return "".join([*pieces, question[done:]]), [f"“{shown}” is {name}" for shown, name in said.items()]


def _written(question: str, one: Pointer, name: str) -> str:
    if one.owner:
        return f"{name}'" if name.endswith("s") and name.startswith("the ") else f"{name}'s"
    if one.stands in ("there", "then"):
        before = question[: one.start].lower().split()
        # "live there" is "live in Georgia"; "from there" has its preposition already.
        return name if before and before[-1] in PREPOSITIONS else f"in {name}"
    if one.noun and not re.search(rf"\b{re.escape(one.noun)}\b", name, re.IGNORECASE):
        return f"the {one.noun} {name.removeprefix('the ')}"
    return name


def last_time(text: str) -> str | None:
    """The last year, decade or century of a text.

    >>> last_time("Who ruled from 1824 until August 1830?")
    'August 1830'
    """
    found = TIME.findall(text)
    return found[-1] if found else None
