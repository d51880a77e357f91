"""From what single passages answer to one list: aliases merged, ranked by support, each answer with its places.

This is the union over passages of the RAG-style reader of QAMPARI (Amouyal et al., 2022, section 4), with two things
added: aliases are one answer, and an answer has a support,

    support(a) = 1 − product over passages p that give a of (1 − confidence(p, a) · weight(p)),

the probability that at least one passage is right if each is so by itself. ``weight`` comes from the retrieval score.
A passage counts once for an answer, by its surest mention.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from longform.answer.aliases import name_key, name_pattern, same_names
from longform.answer.extractive import NOT_ANSWERED
from longform.records import Answer, AnswerItem, AnswerSentence, Evidence, Hit, Passage
from longform.text import sentence_spans

__all__ = ["CITED", "Mention", "answer_list", "list_lines", "mention_of", "unite"]

# How many passages an item cites: its surest; what more there are count in its support alone.
CITED = 3
# How many of the passages an answer keeps that found nothing.
SHOWN = 5


@dataclass(frozen=True, slots=True)
class Mention:
    """An answer that hit number ``hit``, from 0, gives: characters ``start`` to ``end`` of its passage's text."""

    name: str
    hit: int
    start: int
    end: int
    confidence: float


def mention_of(name: str, hit: int, passage: Passage, confidence: float) -> Mention | None:
    """The mention of a name in a passage, found by its words; ``None`` where it stands neither in text nor title.

    What stands in the title alone is said by the passage's first sentence, which goes on about it.

    >>> said = Passage("a#1", "a", "Ada Lovelace", "She wrote it. It ran.", 0, 21)
    >>> mention_of("ada lovelace", 0, said, 0.5)
    Mention(name='ada lovelace', hit=0, start=0, end=13, confidence=0.5)
    >>> mention_of("Charles Babbage", 0, said, 0.5)
    """
    pattern = name_pattern(name)
    found = pattern.search(passage.text)
    if found is not None:
        return Mention(name, hit, found.start(), found.end(), confidence)
    if pattern.search(passage.title) is None:
        return None
    opening = next(iter(sentence_spans(passage.text)), None)
    start, end = (opening.start, opening.end) if opening is not None else (0, len(passage.text))
    return Mention(name, hit, start, end, confidence)


def unite(mentions: Sequence[Mention], hits: Sequence[Hit], weights: Sequence[float], least: float) -> list[AnswerItem]:
    """The answers with a support of ``least`` or more, the best supported first; places are numbered as ``hits`` are.

    An answer's name is the one with the most support, of equals the longest.

    >>> from longform.records import Passage
    >>> said = ["Anna sang.", "Bert. Anna."]
    >>> hits = [Hit(Passage(str(n), "", "", text, 0, len(text)), n, 1.0) for n, text in enumerate(said)]
    >>> mentions = [Mention("Anna", 0, 0, 4, 0.5), Mention("Bert", 1, 0, 4, 0.5), Mention("Anna", 1, 6, 10, 0.5)]
    >>> [(item.text, item.support) for item in unite(mentions, hits, [1.0, 1.0], 0.0)]
    [('Anna', 0.75), ('Bert', 0.5)]
    """
    titles = sorted({hit.passage.title for hit in hits if hit.passage.title})
    # The same mentions in another order make the same list.
    mentions = sorted(mentions, key=lambda mention: (mention.hit, mention.start, mention.end, mention.name))
    groups: dict[int, list[Mention]] = {}
    for group, mention in zip(same_names([one.name for one in mentions], titles), mentions, strict=True):
        groups.setdefault(group, []).append(mention)
    items = []
    for members in groups.values():
        support = _support(members, weights)
        if support >= least:
            items.append(_item(members, weights, support))
    return sorted(items, key=lambda item: (-item.support, item.evidence[0].passage, item.evidence[0].start, item.text))


def _support(members: Sequence[Mention], weights: Sequence[float]) -> float:
    best: dict[int, float] = {}
    for mention in members:
        best[mention.hit] = max(best.get(mention.hit, 0.0), mention.confidence * weights[mention.hit])
    missed = 1.0
    for value in best.values():
        missed *= 1 - value
    return 1 - missed


def _item(members: Sequence[Mention], weights: Sequence[float], support: float) -> AnswerItem:
    by_key: dict[str, list[Mention]] = {}
    for mention in members:
        by_key.setdefault(name_key(mention.name), []).append(mention)
    forms = {key: _form(found) for key, found in by_key.items()}
    ranked = sorted(by_key, key=lambda key: (-_support(by_key[key], weights), -len(forms[key]), key))
    surest: dict[int, Mention] = {}
    for mention in sorted(members, key=lambda one: (-one.confidence * weights[one.hit], one.hit, one.start)):
        surest.setdefault(mention.hit, mention)
    evidence = tuple(Evidence(one.hit + 1, one.start, one.end) for one in list(surest.values())[:CITED])
    return AnswerItem(forms[ranked[0]], tuple(forms[key] for key in ranked[1:]), support, evidence)


def _form(mentions: Sequence[Mention]) -> str:
    """How a name is written most often; of equals, first in the order of letters."""
    counts: dict[str, int] = {}
    for mention in mentions:
        counts[mention.name] = counts.get(mention.name, 0) + 1
    return min(counts, key=lambda name: (-counts[name], name))


def list_lines(items: Sequence[AnswerItem]) -> Iterator[str]:
    """The lines that a person reads, each with what parts it from the one before.

    >>> item = AnswerItem("Anna", (), 0.9, (Evidence(1, 0, 4), Evidence(2, 6, 10)))
    >>> list(list_lines([item, item]))
    ['1. Anna [1][2]', '\\n2. Anna [1][2]']
    """
    for number, item in enumerate(items, 1):
        marks = "".join(f"[{place.passage}]" for place in item.evidence)
        name = " ".join(item.text.split())
        yield f"{'' if number == 1 else chr(10)}{number}. {name} {marks}"


def answer_list(
    question: str,
    items: Sequence[AnswerItem],
    hits: Sequence[Hit],
    *,
    model: str,
    warnings: Sequence[str] = (),
    complete: bool = True,
) -> Iterator[str | Answer]:
    """A list as answerers stream it: its lines, then the answer, of which only cited passages are a part.

    Passages are numbered anew in the order in which the list cites them. An empty list says that
    the collection does not answer.
    """
    numbers: dict[int, int] = {}
    for item in items:
        for place in item.evidence:
            numbers.setdefault(place.passage, len(numbers) + 1)
    renumbered = [
        AnswerItem(
            item.text,
            item.aliases,
            item.support,
            tuple(Evidence(numbers[place.passage], place.start, place.end) for place in item.evidence),
        )
        for item in items
    ]
    lines = list(list_lines(renumbered)) or [NOT_ANSWERED]
    yield from lines
    sentences = tuple(
        AnswerSentence(item.text, tuple(place.passage for place in item.evidence), 1.0, True, item.evidence)
        for item in renumbered
    )
    yield Answer(
        question,
        "".join(lines),
        sentences,
        tuple(hits[number - 1] for number in numbers) if items else tuple(hits[:SHOWN]),
        model,
        1.0 if items else 0.0,
        answered=bool(items),
        complete=complete,
        warnings=tuple(warnings),
        items=tuple(renumbered),
    )
