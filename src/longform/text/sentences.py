"""Split English text into sentences by rule: one regular expression finds where a sentence could end, and a
few questions about the words on either side decide whether it does.

Nothing is learnt or downloaded, the same text always gives the same sentences, and the time is linear in the
length of the text.

>>> split_sentences("Dr. Curie moved to the U.S. in 1921. She stayed at No. 5. Why?")
['Dr. Curie moved to the U.S. in 1921.', 'She stayed at No. 5.', 'Why?']
"""

from __future__ import annotations

import re
from typing import NamedTuple

from longform.text._lines import line_ends
from longform.text._stops import joined_stop_ends, stop_ends

__all__ = ["Span", "sentence_spans", "split_sentences"]


class Span(NamedTuple):
    """Where a sentence stands: `text[start:end]`.

    >>> Span(0, 4)
    Span(start=0, end=4)
    """

    start: int
    end: int


_FULL_STOPS = "。！？｡।؟"
_LINE_BREAKS = "\n\r\f\u2028\u2029"
# The first character comes from one set, which makes the search three times as fast; every part after it may
# be empty, so a match never backtracks over what it has read.
_CANDIDATE = re.compile(
    rf"""
    (?P<stop> [.!?…{_FULL_STOPS}{_LINE_BREAKS}]
        (?: (?<=[.!?…]) [.!?…]* (?: [ ][.…]+ (?![\w.…]) )*
          | (?<=[{_FULL_STOPS}]) [{_FULL_STOPS}]*
          | ) )
    (?: (?<![{_LINE_BREAKS}])
        (?P<close> (?: ["'”’»)\]}}*_」』）】] | [ ](?: [)\]}}”»] | '' )(?=\s|$) )* )
        (?P<note> (?: [ ]?\[(?: \d{{1,4}}(?:[,–-][ ]?\d{{1,4}}){{0,9}} | [a-z]{{1,2}}
                              | (?:note|nb|n|ref|fn)[ .]{{0,2}}\d{{1,3}}
                              | (?:citation|clarification|verification)[ ]needed | who\? | when\? )\]
                      (?: :[ ]?\d{{1,4}}(?:[–-]\d{{1,4}})? )?
                  | [⁰¹²³⁴-⁹] )* )
    )?
    (?P<gap> \s* )
    """,
    re.VERBOSE,
)
_BLANK_LINE = re.compile(r"\n[^\n]*\n|\r[^\n\r]*\r|[\f\u2029]")


def sentence_spans(text: str) -> list[Span]:
    """Where the sentences of `text` stand, in order.

    The spans do not overlap, begin and end with a character that is not white space, and together hold every
    such character. A blank line always ends a sentence; a single newline does after a heading or a list item.

    >>> sentence_spans("It ended in 1945.[1] The next began.")
    [Span(start=0, end=20), Span(start=21, end=36)]
    """
    length = len(text.rstrip())
    start = len(text) - len(text.lstrip())
    spans: list[Span] = []
    for match in _CANDIDATE.finditer(text, start):
        following = match.end()
        if following >= length:
            break
        if _ends_sentence(text, start, match):
            spans.append(Span(start, start + len(text[start : match.start("gap")].rstrip())))
            start = following
    if start < length:
        spans.append(Span(start, length))
    return spans


def split_sentences(text: str) -> list[str]:
    """The sentences of `text`, trimmed.

    >>> split_sentences('He said "Stop!" and ran. Nobody at Apple Inc. saw him.')
    ['He said "Stop!" and ran.', 'Nobody at Apple Inc. saw him.']
    """
    return [text[start:end] for start, end in sentence_spans(text)]


def _ends_sentence(text: str, start: int, match: re.Match[str]) -> bool:
    """Whether the sentence that began at `start` ends at this candidate."""
    stop, close, gap = match.group("stop", "close", "gap")
    if stop in _LINE_BREAKS:
        blank = _BLANK_LINE.search(stop + gap) is not None
        return blank or line_ends(text, start, match.start(), match.end())
    if gap != " " and _BLANK_LINE.search(gap):
        return True
    if stop[0] in _FULL_STOPS:
        # A closing bracket with no space after it: 「行く。」と言った is one sentence.
        return bool(gap) or not close
    if not gap:
        return joined_stop_ends(text, start, match)
    if stop_ends(text, start, match):
        return True
    return "\n" in gap and line_ends(text, start, match.start("gap"), match.end())
