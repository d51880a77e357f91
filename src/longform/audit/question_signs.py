"""What two questions show of whether they ask the same: how they ask, the numbers they name, the words they share."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from longform.text import QUESTION_WORDS, STOP_WORDS
from longform.text.porter import stem

__all__ = ["SIGNS", "AskedQuestion", "SubjectWeights", "paraphrase_signs"]

SIGNS = ("cosine", "asks alike", "number missing", "numbers differ", "same page")
"""The signs of :func:`paraphrase_signs`, in order."""

_WORD = re.compile(r"[^\W_]+")
_POSSESSIVE = re.compile(r"['’]s\b")
_ORDINAL = re.compile(r"(\d+)(?:st|nd|rd|th)")


def _numbered(words: str, first: int) -> dict[str, str]:
    return {word: str(number) for number, word in enumerate(words.split(), first)}


# "One" is left out ("which one", "no one"), "i" and "v" and "x" too, which are seldom numbers.
_NUMBERS: Mapping[str, str] = {
    **_numbered("two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen", 2),
    **_numbered("sixteen seventeen eighteen nineteen twenty", 16),
    **_numbered("first second third fourth fifth sixth seventh eighth ninth tenth", 1),
    **_numbered("ii iii iv", 2),
    **_numbered("vi vii viii ix", 6),
}

# What a question asks for, by the first of these that it has.
_KINDS: Mapping[str, re.Pattern[str]] = {
    "time": re.compile(
        r"^when\b|\b(?:what|which|whats) (?:year|date|day|month|time|century)\b"
        r"|\bwhen (?:did|do|does|is|are|was|were|will|has)\b|\brelease date\b|\bhow old\b"
    ),
    "person": re.compile(r"\bwho(?:s|se|m)?\b|\b(?:what|which) (?:actor|actress|player|singer|president|person)\b"),
    "amount": re.compile(r"\bhow (?:many|much|often|long|far|tall|big|high|large)\b|\bnumber of\b"),
    "place": re.compile(r"\bwhere\b|\b(?:what|which) (?:city|country|state|place|town|county|island)\b"),
    "manner": re.compile(r"\b(?:how|why)\b"),
    "thing": re.compile(r"\b(?:what|whats|which)\b"),
}


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """What of a question is compared.

    ``kind`` is what it asks for (time, person, amount, place, manner, thing; empty where it has no question word),
    ``numbers`` are those it names in digits, words, ordinals or Roman, ``words`` the stems of its other content words.

    >>> asked = AskedQuestion.of("Who won the second season of The X Factor?")
    >>> asked.kind, sorted(asked.numbers), sorted(asked.words)
    ('person', ['2'], ['factor', 'season', 'won', 'x'])
    """

    kind: str
    numbers: frozenset[str]
    words: frozenset[str]

    @classmethod
    def of(cls, question: str) -> AskedQuestion:
        """The parts of a question as it is written."""
        text = _POSSESSIVE.sub("", question.lower())
        kind = next((name for name, pattern in _KINDS.items() if pattern.search(text.strip())), "")
        numbers, words = set(), set()
        for word in _WORD.findall(text):
            ordinal = _ORDINAL.fullmatch(word)
            number = ordinal[1] if ordinal else _NUMBERS.get(word, word)
            if number.isdecimal():
                numbers.add(number)
            elif word not in STOP_WORDS and word not in QUESTION_WORDS:
                words.add(stem(word))
        return cls(kind, frozenset(numbers), frozenset(words))


def paraphrase_signs(first: AskedQuestion, second: AskedQuestion, cosine: float, same_page: bool | None) -> list[float]:
    """The signs of a pair, as :data:`SIGNS` names them; they depend on the two questions alone, and not on their order.

    ``same_page`` is ``None`` where a page is not known, which counts as another page.

    >>> one, two = map(AskedQuestion.of, ("Who won season 4 of Skins?", "who won the fifth season of skins"))
    >>> paraphrase_signs(one, two, 0.93, None)
    [0.93, 1.0, 0.0, 1.0, 0.0]
    """
    alike = 0.5 if not first.kind or not second.kind else float(first.kind == second.kind)
    only_first, only_second = first.numbers - second.numbers, second.numbers - first.numbers
    differ = bool(only_first and only_second)
    missing = not differ and bool(only_first or only_second)
    return [cosine, alike, float(missing), float(differ), float(bool(same_page))]


class SubjectWeights:
    """How much each word says of a question's subject: the logarithm of how few questions have it (its idf).

    >>> weights = SubjectWeights(map(AskedQuestion.of, ["Who plays Ann?", "Who plays Bob?", "Who plays Bob's son?"]))
    >>> one, two = map(AskedQuestion.of, ("Who plays Bob?", "Who made Bob?"))
    >>> round(weights.shared(one, two), 2)
    0.23
    """

    def __init__(self, questions: Iterable[AskedQuestion]) -> None:
        found = list(questions)
        self._count = max(len(found), 1)
        self._having = Counter(name for one in found for name in (*one.words, *one.numbers))

    def weight(self, word: str) -> float:
        """A word's weight: 0 for one that every question has."""
        return math.log((self._count + 1) / (self._having[word] + 1))

    def shared(self, first: AskedQuestion, second: AskedQuestion) -> float:
        """The weight of the words that both have, as a share of the weight of the one with less; numbers are words."""
        ours, theirs = first.words | first.numbers, second.words | second.numbers
        least = min(sum(map(self.weight, ours)), sum(map(self.weight, theirs)))
        # Sorted, since a sum of floats depends on its order and a set has none.
        return sum(self.weight(word) for word in sorted(ours & theirs)) / least if least > 0 else 0.0
