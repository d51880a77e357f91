"""What two questions show of whether they ask the same: how they ask, the numbers and the subject that they name."""

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
    ``numbers`` are those it names in digits, words, ordinals or Roman, ``words`` all words in order: content words as
    stems, and those that say nothing by themselves, of which ``content`` is without, as they are.

    >>> asked = AskedQuestion.of("Who won the second season of The X Factor?")
    >>> asked.kind, sorted(asked.numbers), sorted(asked.content)
    ('person', ['2'], ['2', 'factor', 'season', 'won', 'x'])
    """

    kind: str
    numbers: frozenset[str]
    words: tuple[str, ...]
    content: frozenset[str]

    @classmethod
    def of(cls, question: str) -> AskedQuestion:
        """The parts of a question as it is written."""
        text = _POSSESSIVE.sub("", question.lower())
        kind = next((name for name, pattern in _KINDS.items() if pattern.search(text.strip())), "")
        numbers, words, content = set(), [], set()
        for word in _WORD.findall(text):
            ordinal = _ORDINAL.fullmatch(word)
            number = ordinal[1] if ordinal else _NUMBERS.get(word, word)
            if number.isdecimal():
                numbers.add(number)
            empty = word in STOP_WORDS or word in QUESTION_WORDS
            kept = number if number.isdecimal() else word if empty else stem(word)
            words.append(kept)
            if not empty:
                content.add(kept)
        return cls(kind, frozenset(numbers), tuple(words), frozenset(content))


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

    >>> asked = [AskedQuestion.of(text) for text in ("Who plays Ann in Only Fools?", "Who plays Bob?", "Who plays Al?")]
    >>> weights = SubjectWeights(asked)
    >>> round(weights.shared_name(asked[0], AskedQuestion.of("Who wrote Only Fools?")), 2)
    0.5
    """

    def __init__(self, questions: Iterable[AskedQuestion]) -> None:
        found = list(questions)
        self._count = max(len(found), 1)
        self._having = Counter(word for one in found for word in one.content)

    def weight(self, word: str) -> float:
        """A word's weight: 0 for one that every question has."""
        return math.log((self._count + 1) / (self._having[word] + 1))

    def total(self, question: AskedQuestion) -> float:
        """The weight of a question's content words, each once."""
        # Sorted, since a sum of floats depends on its order and a set has none.
        return sum(map(self.weight, sorted(question.content)))

    def shared_name(self, first: AskedQuestion, second: AskedQuestion) -> float:
        """The weight of the weightiest run of words that both have, as a share of the question with less weight.

        Such a run is most often a name: "only fools and horses", "declaration of independence".
        """
        if first.content.isdisjoint(second.content):
            return 0.0
        least = min(self.total(first), self.total(second))
        return min(1.0, self._run(first, second) / least) if least > 0 else 0.0

    def _run(self, first: AskedQuestion, second: AskedQuestion) -> float:
        best, before = 0.0, [0.0] * (len(second.words) + 1)
        for word in first.words:
            gain = self.weight(word) if word in first.content else 0.0
            now = [0.0] * (len(second.words) + 1)
            for place, other in enumerate(second.words):
                if word == other:
                    now[place + 1] = before[place] + gain
                    best = max(best, now[place + 1])
            before = now
        return best
