"""Do the cited passages support what is said? Citation recall and precision, after ALCE.

Gao et al., EMNLP 2023, section 4.3. A sentence is supported if the passages it cites, taken together, entail it; a
citation is needed if its passage entails the sentence alone, or if the others without it do not. What entails what is
asked of a function that takes many pairs at once, so that a model can batch them.

``official=True`` does what ALCE's script does; the default mends it. The differences:

=====================================  ==================================  =====================================
case                                   official                            default
=====================================  ==================================  =====================================
``[1, 2]`` and ``[1-3]``               only 1 is seen; ``, 2`` is text     all are seen
a number beyond the passages           the sentence is unsupported, and    a wrong citation; the others are
                                       none of its citations is counted    judged without it
``[0]``                                the last passage                    a wrong citation
the same number twice                  two citations                       one
more than three citations              the first three                     all (``at_most`` limits them)
a sentence of nothing but citations    a sentence                          belongs to the sentence before it
an answer without a sentence           left out of the mean                0
=====================================  ==================================  =====================================
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

__all__ = ["CitationCounts", "Entails", "Statement", "cited", "judge_citations", "remove_citations", "statements"]

Entails = Callable[[Sequence[tuple[str, str]]], Sequence[bool]]
"""For every (premise, hypothesis) whether the first entails the second."""

_OFFICIAL = re.compile(r"\[\d+")
_GROUP = re.compile(r"\[\s*\d+(?:\s*[,;–-]\s*\d+)*\s*\]")
_PART = re.compile(r"(\d+)(?:\s*[–-]\s*(\d+))?")
_WORD = re.compile(r"\w")
_OFFICIAL_LIMIT = 3
# Nobody cites a hundred passages in a row: a longer "range" is two years or a sum.
_LONGEST_RANGE = 100


def remove_citations(text: str, *, official: bool = False) -> str:
    """The text without its citations.

    The official rule also deletes `` |`` and every other ``]``, and keeps what follows the first number of a list.

    >>> remove_citations("x [1][2]."), remove_citations("x [1, 2]."), remove_citations("x [1, 2].", official=True)
    ('x.', 'x.', 'x, 2.')
    """
    if official:
        return re.sub(r" ?\[\d+", "", text).replace(" |", "").replace("]", "")
    return re.sub(rf"\s*{_GROUP.pattern}", "", text)


def cited(sentence: str, *, official: bool = False) -> list[int]:
    """The numbers that a sentence cites, as written, counted from 1.

    >>> cited("x [1, 3][5-7]."), cited("x [1, 3][5-7].", official=True)
    ([1, 3, 5, 6, 7], [1, 5])
    """
    if official:
        return [int(found[1:]) for found in _OFFICIAL.findall(sentence)]
    numbers: list[int] = []
    for group in _GROUP.findall(sentence):
        for first, last in _PART.findall(group):
            start, end = int(first), int(last or first)
            numbers += range(start, end + 1) if 0 <= end - start <= _LONGEST_RANGE else (start, end)
    return list(dict.fromkeys(numbers))


class Statement(NamedTuple):
    """A sentence without its citations, and the numbers it cites."""

    claim: str
    numbers: list[int]


def statements(sentences: Iterable[str], *, official: bool = False) -> list[Statement]:
    """Each sentence as a claim with its citations.

    >>> statements(["It rained [2].", "[1]", "It stopped."])
    [Statement(claim='It rained.', numbers=[2, 1]), Statement(claim='It stopped.', numbers=[])]
    """
    found: list[Statement] = []
    for sentence in sentences:
        claim = remove_citations(sentence, official=official).strip()
        numbers = cited(sentence, official=official)
        if official or _WORD.search(claim):
            found.append(Statement(claim, numbers))
        elif found:
            before = found[-1]
            found[-1] = Statement(before.claim, list(dict.fromkeys(before.numbers + numbers)))
    return found


class CitationCounts(NamedTuple):
    """An answer's sentences and citations, and how many of either are right."""

    sentences: int
    supported: int
    citations: int
    right: int

    @property
    def recall(self) -> float:
        """Supported sentences / sentences; 0 for an answer without any."""
        return self.supported / self.sentences if self.sentences else 0.0

    @property
    def precision(self) -> float:
        """Right citations / citations; 0 for an answer without any."""
        return self.right / self.citations if self.citations else 0.0


class _Task(NamedTuple):
    """A statement to be judged: the passages it may be judged by, and how many of its citations lead nowhere."""

    claim: str
    passages: list[str]
    wrong: int


def _task(statement: Statement, documents: Sequence[str], official: bool, at_most: int | None) -> _Task:
    numbers, count = statement.numbers, len(documents)
    if official:
        if any(number > count for number in numbers) or not documents:
            return _Task(statement.claim, [], 0)
        numbers = numbers[: _OFFICIAL_LIMIT if at_most is None else at_most]
        # Index -1, the last passage, is what the official script takes for [0].
        return _Task(statement.claim, [documents[number - 1] for number in numbers], 0)
    numbers = numbers[:at_most]
    known = [number for number in numbers if 1 <= number <= count]
    return _Task(statement.claim, [documents[number - 1] for number in known], len(numbers) - len(known))


def judge_citations(
    answers: Iterable[tuple[Sequence[Statement], Sequence[str]]],
    entails: Entails,
    *,
    official: bool = False,
    at_most: int | None = None,
) -> list[CitationCounts]:
    """Count, for every answer (its statements and its passages), what is supported and which citations are right.

    ``entails`` is called at most three times, with all pairs of one kind: passages together, each alone, all but one.

    >>> inside = lambda pairs: [claim.strip(".") in premise for premise, claim in pairs]
    >>> said = statements(["it rained [1][2].", "it snowed [2].", "it froze."])
    >>> judge_citations([(said, ["it rained", "it hailed"])], inside)
    [CitationCounts(sentences=3, supported=1, citations=3, right=1)]
    """
    tasks = [[_task(said, documents, official, at_most) for said in sayings] for sayings, documents in answers]
    every = [task for group in tasks for task in group]
    known: dict[tuple[str, str], bool] = {}

    def ask(pairs: Iterable[tuple[str, str]]) -> None:
        new = [pair for pair in dict.fromkeys(pairs) if pair not in known]
        if new:
            known.update(zip(new, map(bool, entails(new)), strict=True))

    def joint(task: _Task, without: int | None = None) -> tuple[str, str]:
        kept = [passage for place, passage in enumerate(task.passages) if place != without]
        return "\n".join(kept), task.claim

    ask(joint(task) for task in every if task.passages)
    several = [task for task in every if len(task.passages) > 1 and known[joint(task)]]
    ask((passage, task.claim) for task in several for passage in task.passages)
    ask(
        joint(task, place)
        for task in several
        for place, passage in enumerate(task.passages)
        if not known[passage, task.claim]
    )

    def right(task: _Task) -> int:
        if not task.passages or not known[joint(task)]:
            return 0
        if len(task.passages) == 1:
            return 1
        return sum(
            known[passage, task.claim] or not known[joint(task, place)] for place, passage in enumerate(task.passages)
        )

    return [
        CitationCounts(
            sentences=len(group),
            supported=sum(bool(task.passages) and known[joint(task)] for task in group),
            citations=sum(len(task.passages) + task.wrong for task in group),
            right=sum(map(right, group)),
        )
        for group in tasks
    ]
