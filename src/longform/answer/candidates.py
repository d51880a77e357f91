"""The sentences of passages, cleaned for standing alone: what an extractive answer is chosen from.

A sentence is taken as it stands, or with less: a page's title in front of its first words, the mark of a list item, a
dangling opening such as "However," and the marks of notes, which would pass for citations, are left out. Headings and
rows of tables are no sentences. Nothing is ever put in but the capital letter of a new beginning, so every word of a
candidate stands in its passage, at ``start`` to ``end``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from longform.answer.fragments import is_beginning, is_leftover, is_run_of_names
from longform.records import Hit
from longform.text import sentence_spans

__all__ = ["Candidate", "candidates_of", "trimmed"]

# Shorter ones are headings and captions, longer ones tables that lost their lines.
LEAST_WORDS, MOST_WORDS = 4, 90
# A line without a stop at its end is a heading up to this many words.
HEADING_WORDS = 14

_CONNECTIVE = re.compile(
    r"(?:(?:However|Additionally|Moreover|Furthermore|Thus|Therefore|Meanwhile|Instead|Then|Finally|Also|Nevertheless|"
    r"Nonetheless|Similarly|Likewise|Consequently|Hence|Still|Yet|Otherwise|Indeed|In addition|In fact|As a result|"
    r"For example|For instance|On the other hand|In contrast|By contrast|Conversely|Accordingly|Despite this|"
    r"As such|At the same time|In turn|After all|Besides)\s?,\s+|(?:But|And|Or|So|Yet)\s+(?=[a-zA-Z]))"
)
_PRONOUN = re.compile(
    r"(?:He|She|It|They|His|Her|Hers|Its|Their|Theirs|This|These|Those|Such|Both|Neither|Each|Another|"
    r"The (?:latter|former|other|same|two|pair|following))\b"
)
# "In September 1917 he …": the only names before the pronoun are those of months.
_LATER_PRONOUN = re.compile(
    r"(?:In|On|At|By|From|After|Before|During|For|Since|Until|Under|With|Without|Instead of|Because(?: of)?|As|When|"
    r"While|Although|Though|If|Once)"
    r"(?:\s(?:January|February|March|April|May|June|July|August|September|October|November|December|"
    r"(?!(?:he|she|it|they)\b)[a-z0-9][\w’'-]*),?){0,8}\s(?:he|she|it|they)\b"
)
# "the next day": a time that counts from one that was named before.
_TIME_AFTER = re.compile(
    r"\b(?:[Tt]he (?:next|following|previous|same) (?:day|night|morning|week|month|year|season|decade|century)|"
    r"[Tt]hat (?:same )?(?:day|night|week|month|year|season|decade)|[Aa]t (?:that|the) time(?! of)|"
    r"(?:[Oo]ne|[Tt]wo|[Tt]hree|[Ff]our|[Ff]ive|[Ss]ix|[Ss]even|[Ee]ight|[Nn]ine|[Tt]en|[Aa] few|[Ss]everal|\d+) "
    r"(?:day|week|month|year|decade)s? (?:later|afterwards|earlier|before))\b"
)
_TIME = re.compile(
    r"\b(?:\d{4}|January|February|March|April|May|June|July|August|September|October|November|December|"
    r"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|after|before|since|until|when|while)\b"
)
_ENDS = re.compile(r"[.!?…。！？｡।؟][\"'”’»)\]」』）】]*$")
_ITEM = re.compile(r"(?:[-*+•‣◦▪▫●○·]|\(?\d{1,3}[.)])\s+(?=\S)")
# What would be read as a citation: "[3]", "[1, 2]", "[note 4]", "[citation needed]".
_NOTE = re.compile(
    r"\s*\[\s*(?:(?:note|nb|n|ref|fn)?[ .]{0,2}\d+(?:\s*[,;–-]\s*\d+)*|[a-z]|(?:citation|clarification|verification) "
    r"needed|who\?|when\?)\s*\]"
)
_SUBORDINATE = r"while|whereas|although|though|which|with|where|who|whose|as"
_CLAUSE = re.compile(rf"(?:;|,? – | — |, (?:and|but|so|{_SUBORDINATE})\b)")
_ASIDE = re.compile(rf"(?:,? – | — |, (?:{_SUBORDINATE})\b)")
_CLOSERS = {")": "(", "]": "[", "}": "{", "”": "“", "»": "«"}
# Scripts that write no spaces: every character counts as a word.
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]|[^\s\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+")


class Candidate(NamedTuple):
    """A sentence that an answer may use: characters ``start`` to ``end`` of the text of hit number ``hit``, from 0.

    ``place`` counts the sentences of its passage. ``whole`` is false where the passage was cut within the sentence;
    ``leans`` is true where it opens with a word, such as "He", that points at what came before; ``heads`` where it is
    the first below a heading.
    """

    hit: int
    place: int
    start: int
    end: int
    text: str
    whole: bool = True
    leans: bool = False
    heads: bool = False

    @property
    def words(self) -> int:
        """How many words it has.

        >>> Candidate(0, 0, 0, 8, "Tea is hot.").words
        3
        """
        return len(_WORD.findall(self.text))


def candidates_of(hits: Sequence[Hit]) -> list[Candidate]:
    """The sentences of the hits that may stand in an answer, in their order; a sentence that repeats is taken once.

    >>> from longform.records import Passage
    >>> text = "Tea Tea is a drink of old.[1]\\n\\nHow it is drunk\\n\\nHowever, it is always hot. Some like it"
    >>> found = candidates_of([Hit(Passage("t", "t", "Tea", text, 0, len(text)), 1, 1.0)])
    >>> [(one.text, one.leans, one.heads) for one in found]
    [('Tea is a drink of old.', False, False), ('It is always hot.', True, True)]
    """
    found: list[Candidate] = []
    seen: set[str] = set()
    for number, hit in enumerate(hits):
        place, below = 0, False
        for sentence in _sentences(hit.passage.text, hit.passage.title):
            if sentence is None:
                below = True
                continue
            start, end, text, whole = sentence
            one = Candidate(number, place, start, end, text, whole, _leans(text), below)
            place, below = place + 1, False
            key = text.casefold()
            if LEAST_WORDS <= one.words <= MOST_WORDS and key not in seen:
                seen.add(key)
                found.append(one)
    return found


class _Sentence(NamedTuple):
    start: int
    end: int
    text: str
    whole: bool


def _sentences(text: str, title: str) -> Iterator[_Sentence | None]:
    """The sentences of a passage, cleaned; ``None`` stands for a heading or the row of a table."""
    for number, span in enumerate(sentence_spans(text)):
        start, end = _without_title(text, span.start, span.end, title), span.end
        item = _ITEM.match(text, start, end)
        start = item.end() if item else start
        opening = _CONNECTIVE.match(text, start, end)
        start = opening.end() if opening else start
        sentence = " ".join(_NOTE.sub("", text[start:end]).split())
        ends = _ENDS.search(sentence) is not None
        heading = not ends and not item and _line_ends(text, end) and len(_WORD.findall(sentence)) <= HEADING_WORDS
        if heading or sentence.count("|") > 1 or (not ends and is_run_of_names(sentence)):
            yield None
            continue
        if (number == 0 and not opening and is_leftover(sentence)) or (not ends and is_beginning(sentence)):
            continue
        whole = ends and not (number == 0 and sentence[:1].islower() and not opening)
        if opening:
            sentence = sentence[:1].upper() + sentence[1:]
        if sentence:
            yield _Sentence(start, end, sentence, whole)


def _line_ends(text: str, end: int) -> bool:
    """Whether more lines follow, and the next begins here."""
    rest = text[end : end + 200]
    return bool(rest.strip()) and "\n" in rest[: len(rest) - len(rest.lstrip())]


def _leans(sentence: str) -> bool:
    """Whether a sentence opens by pointing at what came before, or counts time from it.

    >>> _leans("He left."), _leans("In May 1917 he left."), _leans("In Rome he left."), _leans("Nero left.")
    (True, True, False, False)
    >>> _leans("Nero left the next day."), _leans("Nero left in May 64 and came back two years later.")
    (True, False)
    """
    if _PRONOUN.match(sentence) or _LATER_PRONOUN.match(sentence):
        return True
    later = _TIME_AFTER.search(sentence)
    return later is not None and _TIME.search(sentence, 0, later.start()) is None


def _without_title(text: str, start: int, end: int, title: str) -> int:
    """Where a sentence begins after the page's title, where that stands in front of it as a heading would.

    >>> _without_title("Rome Rome is old.", 0, 17, "Rome"), _without_title("Rome Street is old.", 0, 19, "Rome")
    (5, 0)
    >>> _without_title("Jim Greaves James Greaves (born 1940) is", 0, 40, "Jim Greaves")
    12
    """
    if not title or not text.startswith(f"{title} ", start):
        return start
    rest = text[start + len(title) + 1 : end]
    words = title.split()
    heading = rest.startswith((f"{words[0]} ", f"{words[0]},", "The ", "A ", "An ", '"'))
    # A name that the page begins anew, in full: its last word comes again, before the page says what it is.
    again = re.split(r" is | was | are |\(|,", rest)[0].split()
    heading = heading or (len(words) > 1 and rest[:1].isupper() and words[-1] in again[1:6])
    return start + len(title) + 1 if heading else start


def trimmed(candidate: Candidate, words: int, least: int = 8) -> Candidate | None:
    """The candidate cut to at most ``words`` words at the end of a clause; ``None`` where no clause ends in time.

    At least ``least`` words must stay, no bracket or quotation may stay open, and what is cut must be all that follows:
    "Rome, which is old, fell" has no end after "Rome".

    >>> long = "Tea is a drink that is made of leaves, and it came to Europe in the ships of the Dutch."
    >>> trimmed(Candidate(0, 0, 0, len(long), long), 10).text
    'Tea is a drink that is made of leaves.'
    """
    if candidate.words <= words:
        return candidate
    best: str | None = None
    for boundary in _CLAUSE.finditer(candidate.text):
        kept = candidate.text[: boundary.start()].rstrip(" ,;–—")
        count = len(_WORD.findall(kept))
        if count > words:
            break
        if count >= least and _balanced(kept) and not _goes_on(candidate.text, boundary):
            best = kept
    if best is None:
        return None
    return candidate._replace(text=best if _ENDS.search(best) else f"{best}.", whole=True)


def _goes_on(text: str, boundary: re.Match[str]) -> bool:
    """Whether the clause before a boundary goes on behind an aside, or what is cut ends a list.

    >>> text = "He saw Rome, Paris, and Bonn, which is small."
    >>> [_goes_on(text, boundary) for boundary in _CLAUSE.finditer(text)]
    [True, False]
    """
    before, mark, after = text[: boundary.start()], boundary.group(), text[boundary.end() :]
    if _ASIDE.fullmatch(mark):
        # An aside ends as it began: after dashes with a dash, after a comma with one.
        return (mark.strip(" ,") if mark.endswith(" ") else ",") in after
    listed = before.rpartition(",")
    return mark == ", and" and bool(listed[1]) and len(listed[2].split()) < 4


def _balanced(text: str) -> bool:
    """Whether every bracket and quotation mark that opens in a text closes in it, and the other way round.

    >>> _balanced('He ("Ned") left.'), _balanced("He (Ned"), _balanced("Ned) left")
    (True, False, False)
    """
    opened: list[str] = []
    for character in text:
        if character in _CLOSERS.values():
            opened.append(character)
        elif character in _CLOSERS and (not opened or opened.pop() != _CLOSERS[character]):
            return False
    return not opened and text.count('"') % 2 == 0
