"""Which sentences an answer is made of, and in which order they are read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from longform.answer.candidates import Candidate, trimmed
from longform.answer.leaning import leaned_on, support_of
from longform.answer.relevance import Found
from longform.records import Hit
from longform.text import content_tokens, normalize_answer

__all__ = ["SelectionSettings", "reading_order", "select_sentences"]


@dataclass(frozen=True, slots=True)
class SelectionSettings:
    """How sentences are weighed against each other; chosen on training questions (`tools/sentence_weights.py`).

    ``repeats`` is what a sentence loses where all its words were said already, ``answers`` what one wins that says an
    answer, surely found, that none of the chosen says; one of whose words more than ``most_repeated`` were said is
    never taken. ``dangles`` is what one loses that leans on a sentence ("He …") which there is no room for. Where the
    best of the rest is worth less than the best three are on average by more than ``falls``, and the share ``least`` of
    the words is there, the answer ends: what would come is off the point.
    """

    repeats: float = 0.05
    answers: float = 0.05
    most_repeated: float = 0.8
    dangles: float = 0.2
    falls: float = 0.1
    least: float = 0.6


def select_sentences(
    candidates: Sequence[Candidate],
    scores: Sequence[float],
    words: int,
    found: Sequence[Found] = (),
    settings: SelectionSettings | None = None,
    hits: Sequence[Hit] = (),
) -> list[Candidate]:
    """The sentences of an answer of about ``words`` words, one by one the one that adds most.

    A sentence that does not fit any more is cut at a clause, or left to a shorter one. The first always fits. One that
    leans on another brings it along where both fit; ``hits`` tell which passages follow each other.

    >>> tea, hot, same = (Candidate(0, n, 0, 9, text, leans=n == 1) for n, text in enumerate(
    ...     ["Tea is a drink.", "It came from China by sea.", "A drink is tea."]))
    >>> [one.text for one in select_sentences([tea, hot, same], [0.9, 0.8, 0.8], 12)]
    ['Tea is a drink.', 'It came from China by sea.']
    """
    settings = settings or SelectionSettings()
    tokens = [content_tokens(one.text) for one in candidates]
    says = [_answers_in(one, found) for one in candidates]
    on = leaned_on(candidates, hits)
    left = set(range(len(candidates)))
    chosen: list[Candidate] = []
    taken: set[int] = set()
    said: set[str] = set()
    answered: dict[str, float] = {}
    count = 0

    def repeated(place: int) -> float:
        return len(tokens[place] & said) / len(tokens[place]) if tokens[place] else 1.0

    def gain(place: int) -> float:
        new = sum(max(sure - answered.get(text, 0.0), 0.0) for text, sure in says[place].items())
        return scores[place] - settings.repeats * repeated(place) + settings.answers * new

    def fits(length: int) -> bool:
        # A little more than asked for is better than half of it.
        return length <= words - count or (count < 0.6 * words and length <= 1.25 * words - count)

    def group(place: int) -> list[int]:
        """The sentence with those it leans on, where all fit; else the sentence alone."""
        support = support_of(place, on, candidates, taken) or []
        return [*support, place] if fits(sum(candidates[one].words for one in (*support, place))) else [place]

    def value(place: int) -> float:
        together = group(place)
        dangles = len(together) == 1 and support_of(place, on, candidates, taken) != []
        return sum(map(gain, together)) / len(together) - settings.dangles * dangles

    def take(place: int, one: Candidate) -> None:
        nonlocal count
        left.discard(place)
        taken.add(place)
        chosen.append(one)
        count += one.words
        said.update(content_tokens(one.text))
        for text, sure in _answers_in(one, found).items():
            answered[text] = max(sure, answered.get(text, 0.0))

    # Not the best one alone: a reader that is sure of one sentence does not make the others worth less.
    leading = sorted(scores, reverse=True)[:3]
    level = sum(leading) / len(leading) if leading else 0.0
    while left and count < 0.9 * words:
        best = max(left, key=lambda place: (value(place), -place))
        if value(best) < level - settings.falls and count >= settings.least * words:
            break
        if chosen and repeated(best) > settings.most_repeated:
            left.remove(best)
            continue
        *support, _ = group(best)
        for place in support:
            take(place, candidates[place])
        one = candidates[best] if fits(candidates[best].words) or support else trimmed(candidates[best], words - count)
        if one is None and chosen:
            left.remove(best)
            continue
        take(best, one or candidates[best])
    return chosen


def _answers_in(candidate: Candidate, found: Sequence[Found]) -> dict[str, float]:
    """The answers, normalised, that a sentence says, with how sure the reader is of each."""
    text = f" {normalize_answer(candidate.text)} "
    said: dict[str, float] = {}
    for answer in found:
        if answer.normal and f" {answer.normal} " in text:
            said[answer.normal] = max(said.get(answer.normal, 0.0), answer.confidence)
    return said


def reading_order(chosen: Sequence[Candidate], hits: Sequence[Hit]) -> list[Candidate]:
    """The sentences as they are to be read: page by page, the page of the first one first, each in its own order.

    Within a page passages stand by where they begin in the document, and those of one document that know no place
    (rows that were passages already) by their rank.
    """
    pages: dict[tuple[str, str], int] = {}
    for one in chosen:
        pages.setdefault(_page(hits[one.hit]), len(pages))
    return sorted(
        chosen,
        key=lambda one: (pages[_page(hits[one.hit])], hits[one.hit].passage.start, one.hit, one.place),
    )


def _page(hit: Hit) -> tuple[str, str]:
    """What a passage is part of: rows that were passages already are documents of their own, with a page's title."""
    return (hit.passage.title, "") if hit.passage.title else ("", hit.passage.document)
