"""Questions that leave out what the last one said: "And in 1848?", "What about Belgium?", "Why?"."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from longform.answer.mentions import ORDINALS, TIME, Name, is_adjective, names_in
from longform.text import QUESTION_WORDS, STOP_WORDS

__all__ = ["Fragment", "fragment_of", "joined", "put_into"]

_LEAD = re.compile(
    r"(?:(?:ok|okay|well|right|so),? )?(?:(?:and|but|or|also),? )?(?:(?:what|how) about|what of)\s+", re.IGNORECASE
)
_AND = re.compile(r"(?:(?:ok|okay|well|right|so),? )?(?:and|but|or|also),?\s+(?=\S)", re.IGNORECASE)
_TAIL = re.compile(r",?\s+(?:then|too|instead|though|exactly|precisely|please)$", re.IGNORECASE)
_PREPOSITION = (
    r"(?:in|at|on|of|for|from|by|with|to|about|during|since|until|before|after|under|against|between|near|into|as)"
)
_VERB = re.compile(
    r"\b(?:is|are|was|were|am|be|do|does|did|has|have|had|can|could|will|would|shall|should|may|might|must)\b"
    r"|\b\w+['’](?:s|re|d|ll|ve)\b(?=\s+(?:the|a|an|\w+ing|it|that)\b)",
    re.IGNORECASE,
)
_ASKS = r"(?:when|where|why|how|who|whom|whose|what|which)"
# "Why?", "Why not?", "How many?", "Which one?", "For which club?", "Who else?", "When was that?"
_BARE = re.compile(
    rf"(?:{_PREPOSITION}\s+)?{_ASKS}(?:\s+[\w-]+)?(?:\s+(?:of\s+)?(?:them|those|these|others?|ones?))?", re.IGNORECASE
)
_WHEN_THAT = re.compile(
    r"(when|where|why|how)\s+(?:is|was|did)\s+(?:that|this)(?:\s+(?:happen|so|be|take place))?", re.IGNORECASE
)
_NEXT = re.compile(r"what (?:happened|came|comes|follows|followed) (?:next|then|afterwards|later)", re.IGNORECASE)
_ADVERB = re.compile(r"(when|where|why|how)\b(?!\s+\w+)", re.IGNORECASE)
_AUXILIARY = r"(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should)"
_ADVERB_QUESTION = re.compile(rf"(?:when|where|why|how)\s+({_AUXILIARY})\b(.*)", re.IGNORECASE)
_YES_NO = re.compile(rf"({_AUXILIARY})\b(.*)", re.IGNORECASE)
_TIMED = re.compile(rf"(?:({_PREPOSITION})\s+)?(?:the (?:year )?)?({TIME.pattern})(?: ones?)?", re.IGNORECASE)
_RANK = rf"(?:{ORDINALS.pattern}\s+)?{ORDINALS.pattern}"
_NOUN_PHRASE = re.compile(
    r"\b(?:the|an?)\s+(?:(?!in\b|of\b|at\b|on\b|to\b|from\b|for\b|with\b)[\w'’-]+\s?)+", re.IGNORECASE
)
_JOINED = re.compile(rf",\s+and\s+(?:{_PREPOSITION}\s+)?(?:{_ASKS}|{_AUXILIARY}|{_PREPOSITION})\b[^,]*$", re.IGNORECASE)


class Fragment(NamedTuple):
    """What a question says that leaves out the rest.

    ``what_about`` tells how it was put; ``asks`` that it says nothing but what it asks for, as "when was that" does.
    """

    text: str
    what_about: bool = False
    asks: bool = False


def fragment_of(question: str) -> Fragment | None:
    """The part that an elliptical question does say; ``None`` where the question says everything.

    >>> fragment_of("And in 1848?"), fragment_of("Who ruled France?")
    (Fragment(text='in 1848', what_about=False, asks=False), None)
    """
    text = " ".join(question.split())
    asks = text.endswith("?")
    text = text.rstrip(" ?!.…")
    if lead := _LEAD.match(text):
        return Fragment(_lowered(_TAIL.sub("", text[lead.end() :])), True) if text[lead.end() :] else None
    lead = _AND.match(text)
    rest = _lowered(_TAIL.sub("", text[lead.end() :] if lead else text))
    if not rest:
        return None
    if _BARE.fullmatch(rest) or _WHEN_THAT.fullmatch(rest) or _NEXT.fullmatch(rest):
        # "Who sings Hallelujah" says everything, though it is as short; so does "what's tea".
        return None if names_in(rest) or re.search(r"['’]", rest) else Fragment(rest, asks=True)
    if _VERB.search(rest) or re.match(rf"{_ASKS}\b", rest, re.IGNORECASE) or len(rest.split()) > 6:
        return None
    if lead or _TIMED.fullmatch(rest):
        return Fragment(rest)
    phrase = re.match(rf"(?:{_PREPOSITION}|the {ORDINALS.pattern})\b", rest, re.IGNORECASE)
    if asks and len(rest.split()) <= 4 and (phrase or _whole_name(rest)):
        return Fragment(rest)
    return None


def put_into(fragment: Fragment, before: Sequence[str], known: Iterable[str] = ()) -> tuple[str, str] | None:
    """The last of the questions before with the fragment in it, and the reason; ``None`` where it has no place there.

    A rank ("the last") may have its place in an earlier one. ``known`` names are told in small letters too.

    >>> put_into(Fragment("in 1848"), ["Who was the king of France in 1830?"])[0]
    'Who was the king of France in 1848?'
    >>> put_into(Fragment("Belgium"), ["Who was the king of France in 1830?"])[0]
    'Who was the king of Belgium in 1830?'
    >>> put_into(Fragment("the last"), ["Who was the first man on the Moon?", "How did he land?"])[0]
    'Who was the last man on the Moon?'
    >>> put_into(Fragment("why"), ["When did Charles X abdicate?"])[0]
    'Why did Charles X abdicate?'
    """
    text, names = fragment.text, list(known)
    bases = [_JOINED.sub("", question.strip().rstrip(" ?!.")) for question in reversed(before)]
    for changed in (
        _other_adverb(text, bases[0]),
        _other_time(text, bases[0]),
        *(_other_rank(text, base) for base in bases),
        _other_name(text, bases[0], names),
        _other_thing(text, bases[0]),
    ):
        if changed is not None and changed[0].casefold() != bases[0].casefold():
            return f"{changed[0]}?", changed[1]
    return None


def joined(before: str, question: str, what_about: bool = False) -> str:
    """The question before, and this one behind it: together they stand alone.

    >>> joined("Who made the first spacewalk?", "When was that?")
    'Who made the first spacewalk, and when was that?'
    """
    base = _JOINED.sub("", before.strip().rstrip(" ?!."))
    rest = " ".join(question.split()).rstrip(" ?!.")
    rest = re.sub(r"^(?:and|but|or|so|also),?\s+", "", rest, flags=re.IGNORECASE)
    return f"{base}, and {'what about ' if what_about else ''}{_lowered(rest)}?"


def _lowered(text: str) -> str:
    """With a small letter at the beginning, unless a name begins there."""
    return text[:1].lower() + text[1:] if text.split(" ")[0].lower() in STOP_WORDS | QUESTION_WORDS else text


def _other_adverb(text: str, base: str) -> tuple[str, str] | None:
    """ "When did X?" and "Where?" is "Where did X?"; "Did X?" and "When?" is "When did X?"."""
    found = _WHEN_THAT.fullmatch(text) or _ADVERB.fullmatch(text)
    if found is None:
        return None
    asks = found[1]
    question = _ADVERB_QUESTION.fullmatch(base) or _YES_NO.fullmatch(base)
    if question is None:
        return None
    verb, rest = question[1].lower(), question[2]
    # "Where is Victoria?" and "Why?" is no "Why is Victoria?".
    if asks.lower() in ("why", "how") and verb in ("is", "are", "was", "were") and not _YES_NO.fullmatch(base):
        return None
    return f"{asks[:1].upper()}{asks[1:].lower()} {verb}{rest}", f"“{asks.lower()}” asked of the question before"


def _other_time(text: str, base: str) -> tuple[str, str] | None:
    found = _TIMED.fullmatch(text)
    if found is None:
        return None
    times = list(TIME.finditer(base))
    if not times:
        when = text if found[1] else f"in {text}"
        return f"{base} {when}", f"“{when}” added to the question before"
    old = times[-1]
    with_word = re.search(rf"\b{_PREPOSITION}\s+$", base[: old.start()], re.IGNORECASE)
    new = text if found[1] and with_word else found[2]
    start = with_word.start() if with_word and found[1] else old.start()
    return _swapped(base, start, old.end(), new)


def _other_rank(text: str, base: str) -> tuple[str, str] | None:
    """ "the last" in place of "the first", "the first woman" in place of "the first man" or of "the first"."""
    found = re.fullmatch(rf"(?:the )?({_RANK})(?:\s+(?:one|ones))?(?:\s+(.+))?", text, re.IGNORECASE)
    old = re.search(rf"\bthe ({_RANK})\b", base, re.IGNORECASE)
    if found is None or old is None:
        return None
    thing = found[2]
    if thing is None:
        return _swapped(base, old.start(1), old.end(1), found[1])
    # What the rank was of before: one word, and not one that leads on to something else.
    noun = re.match(rf"\s+(?!{_PREPOSITION}\b|to\b)[a-z][\w-]*(?=\s+{_PREPOSITION}\b|\s+to\b|$)", base[old.end() :])
    return _swapped(base, old.start(1), old.end() + (noun.end() if noun else 0), f"{found[1]} {thing}")


def _other_name(text: str, base: str, known: Sequence[str]) -> tuple[str, str] | None:
    found = re.fullmatch(rf"(?:({_PREPOSITION})\s+)?(.+)", text, re.IGNORECASE)
    if found is None or not _whole_name(found[2], known):
        return None
    names = [name for name in names_in(base, known) if not is_adjective(name, base)]
    slot = (found[1] or "").lower()
    chosen = [name for name in names if slot and name.after == slot] or ([] if slot else _likeliest(found[2], names))
    if not chosen:
        return None
    old = chosen[-1]
    # "the first World Cup" and "Rugby World Cup" is "the first Rugby World Cup".
    article = found[2].lower().startswith("the ")
    start = old.start if article or old.text.lower() == f"the {old.bare.lower()}" else old.end - len(old.bare)
    keeps = "the " if start == old.start and not article and _needs_article(old, found[2]) else ""
    return _swapped(base, start, old.end, f"{keeps}{found[2]}")


def _needs_article(old: Name, new: str) -> bool:
    """Whether a new name takes over "the": as "the Nile" and "Amazon" do, and "the Sahara" and "Gobi"."""
    return old.text != old.bare and len(new.split()) == len(old.bare.split())


def _likeliest(new: str, names: Sequence[Name]) -> list[Name]:
    """The names that another one may replace: of as many words where there are any, so that people replace people."""
    several = len(new.split()) > 1
    alike = [name for name in names if (len(name.bare.split()) > 1) == several]
    return list(alike or names)


def _other_thing(text: str, base: str) -> tuple[str, str] | None:
    """ "the pope" in place of "the German emperor": the first thing of the question that is one."""
    ranked = re.match(rf"the {ORDINALS.pattern}\b", text, re.IGNORECASE)
    if ranked or not re.fullmatch(r"(?:the|an?)\s+[\w'’ -]+", text, re.IGNORECASE) or len(text.split()) > 5:
        return None
    old = _NOUN_PHRASE.search(base)
    if old is None or _VERB.search(old.group()):
        return None
    return _swapped(base, old.start(), old.start() + len(old.group().rstrip()), text)


def _swapped(base: str, start: int, end: int, new: str) -> tuple[str, str]:
    return f"{base[:start]}{new}{base[end:]}", f"“{new}” in place of “{base[start:end]}”"


def _whole_name(text: str, known: Iterable[str] = ()) -> bool:
    names = names_in(text if text.islower() else f"Then {text}", known)
    return len(names) == 1 and names[0].text.casefold() == text.casefold()
