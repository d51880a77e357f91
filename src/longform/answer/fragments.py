"""Pieces of text that are no sentences: what a cut left over, and tables whose rows have run together.

English only, and careful: where a word may be a verb, the piece is taken for a sentence.
"""

from __future__ import annotations

import re

__all__ = ["is_beginning", "is_leftover", "is_run_of_names"]

# Words that are, or by their ending may be, a verb that says something of somebody. Case tells "ends" from "Adams".
_VERB = re.compile(
    r"\b(?:is|are|was|were|be|been|am|has|have|had|do|does|did|will|would|can|could|may|might|must|shall|should|became|"
    r"made|won|began|came|went|took|gave|saw|led|held|wrote|said|sang|ran|left|met|lost|found|built|broke|brought|bought|"
    r"sold|told|grew|knew|drew|flew|fell|felt|kept|sent|set|put|cut|hit|let|beat|rose|stood|thought|sought|taught|caught|"
    r"fought|spent|lay|meant|swam|spoke|chose|drove|rode|shot|threw|wore|paid|[a-z]{2,}ed|[a-z]{2,}[a-rt-z]s)\b|n['’]t\b"
)
_ENGLISH = re.compile(r"\b(?:the|of|and|from|by|with|than|for)\b")
# "Germany or West Germany.", "Division from 1969 to 1993.": no order ("Wait for it") and no title begins so.
_GOES_ON = re.compile(r"[\w’'-]+(?:,| (?:of|or|and)\b| from \d)")
# A sentence with many names has words between them.
RUN_WORDS, RUN_SHARE = 30, 0.5


def is_leftover(opening: str) -> bool:
    """Whether what a passage begins with is the end of a sentence that was cut, and says nothing by itself.

    >>> is_leftover("execution of Victor Feguer."), is_leftover("execution of Feguer was in 1963.")
    (True, False)
    >>> is_leftover("Germany or West Germany."), is_leftover("Press the red button.")
    (True, False)
    """
    if _VERB.search(opening):
        return False
    if opening[:1].islower():
        return _ENGLISH.search(opening) is not None
    return _GOES_ON.match(opening) is not None and re.search(r"\b(?:of|or|and|from)\b", opening) is not None


def is_beginning(ending: str) -> bool:
    """Whether what a passage ends with, cut, stops at a comma before it says anything.

    >>> is_beginning("At the end of the show,"), is_beginning("The show was cut,"), is_beginning("Press the button")
    (True, False, False)
    """
    return ending.endswith(",") and _VERB.search(ending) is None and _ENGLISH.search(ending.lower()) is not None


def is_run_of_names(text: str) -> bool:
    """Whether a text without an end is a table that lost its lines: many words, most of them names, and no verb.

    >>> is_run_of_names("Actor Role " + "Tom Kenny SpongeBob Clancy Brown Mr. Krabs " * 5)
    True
    >>> is_run_of_names("The film stars " + "Tom Kenny as SpongeBob, Clancy Brown as Mr. Krabs, " * 4)
    False
    """
    words = text.split()
    named = sum(word[:1].isupper() or word[:1].isdigit() for word in words)
    return len(words) > RUN_WORDS and named > RUN_SHARE * len(words) and _VERB.search(text) is None
