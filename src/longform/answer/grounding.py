"""What an answer rests on: which of its words stand in the passages it cites, where, and whether that is enough."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from longform.answer.sentences import CitedSentence
from longform.records import AnswerSentence, Evidence, Hit
from longform.text import content_tokens, sentence_spans

__all__ = ["SUPPORT", "Entails", "Grounding", "total_groundedness"]

SUPPORT = 0.5
"""The share of a sentence's words that must stand in its passages for the passages to support it.

Of the 1,644 sentences that a hosted model wrote for 300 ASQA questions, 54 of 100 reach it in the passages they were
written from (the model used what it knew as well), and 0.6 of 100 in the passages of another question.
"""

# A second passage is cited where it holds at least this share of the words that the first lacks, and two of them.
_MORE = 0.2
_TOKEN = re.compile(r"[^\W_]+")

Entails = Callable[[Sequence[tuple[str, str]]], Sequence[bool]]
"""For every (premise, hypothesis) whether the first entails the second; :class:`longform.models.Entailment` is one."""


class Grounding:
    """Judges the sentences of an answer by the passages that it was written from.

    A passage is its title and its text. Words are compared as :func:`longform.text.content_tokens` gives them: in
    lower case, without stop words. A sentence is supported if at least half of its words stand in the passages it
    cites, and every number among them; with ``entails``, if these passages entail it.

    >>> from longform.records import Passage
    >>> rain = Hit(Passage("a#0", "a", "Rome", "It rained in Rome. It was 1830.", 0, 31), 1, 1.0)
    >>> found = Grounding([rain]).judged(CitedSentence("It rained in Paris.", (1,)))
    >>> found.groundedness, found.ungrounded, found.supported, found.evidence
    (0.5, ((13, 18),), True, (Evidence(passage=1, start=0, end=18),))
    """

    def __init__(self, hits: Sequence[Hit], *, entails: Entails | None = None, support: float = SUPPORT) -> None:
        self._texts = [hit.passage.text for hit in hits]
        self._whole = [f"{hit.passage.title}\n{hit.passage.text}" for hit in hits]
        self._words = [content_tokens(text) for text in self._whole]
        self._entails, self._support = entails, support

    def judged(self, sentence: CitedSentence) -> AnswerSentence:
        """A sentence with its groundedness, its evidence, and what is not grounded.

        One without citations is compared with all passages, and rests on none in particular.
        """
        cited = sentence.citations or range(1, len(self._words) + 1)
        held = self._held(cited)
        places = [(found.span(), content_tokens(found[0])) for found in _TOKEN.finditer(sentence.text)]
        missing = tuple(span for span, words in places if not words <= held)
        words = content_tokens(sentence.text)
        share = len(words & held) / len(words) if words else 1.0
        supported = self._is_supported(sentence.text, cited, share)
        evidence = [self._evidence(number, words) for number in sentence.citations]
        return AnswerSentence(
            sentence.text,
            sentence.citations,
            share,
            supported,
            tuple(place for place in evidence if place is not None),
            missing,
        )

    def citations_for(self, text: str) -> tuple[int, ...]:
        """The passages that a sentence without citations should cite: the one that holds most of its words, and
        another where that adds to it; none where not even both support it.

        With ``entails``, of the passages that entail it the one that holds most of its words.
        """
        words = content_tokens(text)
        if not words or not self._words:
            return ()
        ranked = sorted(range(len(self._words)), key=lambda place: -len(words & self._words[place]))
        if self._entails is not None:
            entailed = self._entails([(premise, text) for premise in self._whole])
            return tuple(place + 1 for place in ranked if entailed[place])[:1]
        chosen = [ranked[0]]
        missing = words - self._words[ranked[0]]
        if missing and len(ranked) > 1:
            second = max(ranked[1:], key=lambda place: len(missing & self._words[place]))
            added = len(missing & self._words[second])
            if added >= 2 and added / len(words) >= _MORE:
                chosen.append(second)
        numbers = tuple(sorted(place + 1 for place in chosen))
        held = self._held(numbers)
        return numbers if self._is_supported(text, numbers, len(words & held) / len(words)) else ()

    def _held(self, numbers: Iterable[int]) -> set[str]:
        return set().union(*(self._words[number - 1] for number in numbers))

    def _is_supported(self, text: str, numbers: Iterable[int], share: float) -> bool:
        numbers = list(numbers)
        if self._entails is not None:
            premise = "\n".join(self._whole[number - 1] for number in numbers)
            return bool(self._entails([(premise, text)])[0]) if numbers else False
        figures = {word for word in content_tokens(text) if word[0].isdigit()}
        return share >= self._support and figures <= self._held(numbers)

    def _evidence(self, number: int, words: set[str]) -> Evidence | None:
        """The sentence of a passage that holds most of the words; the first of several."""
        text = self._texts[number - 1]
        spans = sentence_spans(text)
        shared = [len(words & content_tokens(text[span.start : span.end])) for span in spans]
        if not shared or not max(shared):
            return None
        best = spans[shared.index(max(shared))]
        return Evidence(number, best.start, best.end)


def total_groundedness(sentences: Sequence[AnswerSentence]) -> float:
    """Of all words of an answer, stop words aside, the share that stands in the passages cited for them; 0 without any.

    A word counts once for every sentence that it stands in.
    """
    sizes = [len(content_tokens(sentence.text)) for sentence in sentences]
    held = sum(size * sentence.groundedness for size, sentence in zip(sizes, sentences, strict=True))
    return held / sum(sizes) if sum(sizes) else 0.0
