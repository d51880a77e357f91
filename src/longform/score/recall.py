"""Which of the things a question needs stand in its top passages: answers, pages, evidence.

Everything is a rank first, that of the first passage that holds the thing, so that recall at every k costs one pass.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

from longform.text import normalize_answer, normalized_names

__all__ = [
    "PassageText",
    "TitledText",
    "answer_ranks",
    "evidence_ranks",
    "evidence_recall",
    "page_key",
    "page_ranks",
    "recall_at",
    "same_evidence",
    "searchable",
]


class TitledText(Protocol):
    """Anything with a title and a text: :class:`longform.records.Passage`, :class:`PassageText`."""

    @property
    def title(self) -> str: ...

    @property
    def text(self) -> str: ...


class PassageText(NamedTuple):
    """A passage as scoring needs it."""

    title: str
    text: str


def searchable(passage: TitledText) -> str:
    """The normalised title and text of a passage, in which answers are looked for.

    >>> searchable(PassageText("The Beatles", "A band, from Liverpool."))
    'beatles band from liverpool'
    """
    return normalize_answer(f"{passage.title} {passage.text}")


def recall_at(ranks: Sequence[float], k: int) -> float:
    """The share of ranks that are at most k.

    >>> recall_at([1, 7, math.inf], 5)
    0.3333333333333333
    """
    return sum(rank <= k for rank in ranks) / len(ranks)


def answer_ranks(answers: Iterable[Sequence[str]], passages: Sequence[TitledText]) -> list[float]:
    """For every answer (a list of aliases) the rank of the first passage that holds one of them, or infinity.

    An alias is held if its normalised form is a substring of the passage's (:func:`searchable`). One that normalises
    to nothing ("A") would be held by everything, and is held by nothing.

    >>> passages = [PassageText("Beatles", "Ringo sang."), PassageText("Wings", "Paul too.")]
    >>> answer_ranks([["Paul"], ["Ringo", "Starr"]], passages)
    [2, 1]
    """
    texts = [searchable(passage) for passage in passages]
    wanted = [normalized_names(aliases) for aliases in answers]
    return [_first(any(alias in text for alias in aliases) for text in texts) for aliases in wanted]


def page_key(title: str) -> str:
    """The title by which pages are compared: case and underscores do not matter.

    >>> page_key("Trade_winds ") == page_key("trade  Winds")
    True
    """
    return " ".join(title.replace("_", " ").split()).casefold()


def page_ranks(pages: Iterable[str], passages: Sequence[TitledText]) -> list[float]:
    """For every distinct page the rank of its first passage, or infinity.

    >>> page_ranks(["Abbey Road", "abbey_road", "Help!"], [PassageText("Help!", ""), PassageText("Abbey Road", "")])
    [2, 1]
    """
    titles = [page_key(passage.title) for passage in passages]
    return [_first(title == page for title in titles) for page in dict.fromkeys(map(page_key, pages))]


def same_evidence(gold: TitledText, passage: TitledText, *, share: float = 0.7) -> bool:
    """Whether a passage is a gold one: same title, and more than ``share`` of the shorter text in common.

    "In common" is the longest common substring, case aside (QAMPARI, ``retriever_metric.py``): passages cut at other
    places still count if they overlap enough.

    >>> gold = PassageText("A", "0123456789")
    >>> same_evidence(gold, PassageText("a", "xx01234567")), same_evidence(gold, PassageText("a", "xxx0123456"))
    (True, False)
    """
    if gold.title.lower() != passage.title.lower():
        return False
    shorter, longer = sorted((gold.text.lower(), passage.text.lower()), key=len)
    # Only whether the longest common substring exceeds a length matters: compare all substrings of that length.
    size = math.floor(share * len(shorter) + 1e-9) + 1
    if size > len(shorter):
        return False
    pieces = {longer[start : start + size] for start in range(len(longer) - size + 1)}
    return any(shorter[start : start + size] in pieces for start in range(len(shorter) - size + 1))


def evidence_ranks(evidence: Sequence[TitledText], passages: Sequence[TitledText]) -> list[float]:
    """For every gold passage the rank of the passage that matches it, or infinity; each passage matches one at most."""
    ranks: list[float] = [math.inf] * len(evidence)
    for rank, passage in enumerate(passages, 1):
        for place, gold in enumerate(evidence):
            if ranks[place] == math.inf and same_evidence(gold, passage):
                ranks[place] = rank
                break
    return ranks


def evidence_recall(evidence: Iterable[Sequence[TitledText]], passages: Sequence[TitledText], k: int) -> float:
    """The mean over answers of the share of their gold passages among the first k (QAMPARI, section 5.1).

    A gold passage of several answers is looked for once and counts for each. Answers without evidence are left out;
    0 where no answer has any. All gold passages in one list give the share of them all, as the published script has it.

    >>> proof = PassageText("Help!", "It is a film of 1965.")
    >>> evidence_recall([[proof], [PassageText("Yes", "Another.")], []], [proof], 5)
    0.5
    """
    groups = [[PassageText(gold.title, gold.text) for gold in golds] for golds in evidence if golds]
    if not groups:
        return 0.0
    distinct = list(dict.fromkeys(gold for golds in groups for gold in golds))
    rank_of = dict(zip(distinct, evidence_ranks(distinct, passages[:k]), strict=True))
    return sum(recall_at([rank_of[gold] for gold in golds], k) for golds in groups) / len(groups)


def _first(found: Iterable[bool]) -> float:
    return next((rank for rank, hit in enumerate(found, 1) if hit), math.inf)
