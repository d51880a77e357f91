"""Answers made of the passages' own sentences: no language model, nothing invented, every sentence cited."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from longform.answer.answerable import answers_question
from longform.answer.candidates import Candidate, candidates_of
from longform.answer.protocol import finish
from longform.answer.relevance import WEIGHTS, SentenceScorer, features, found_answers, relevance
from longform.answer.selection import SelectionSettings, reading_order, select_sentences
from longform.errors import InputError
from longform.models.spans import AnswerReader
from longform.records import Answer, AnswerSentence, Evidence, Hit

__all__ = ["DEFAULT_WORDS", "NOT_ANSWERED", "ExtractiveAnswerer", "cited"]

DEFAULT_WORDS = 100
PASSAGES = 10
# The reader is the slowest part: what it finds further down hardly ever changes the choice.
READ = 6

# How a sentence ends: with one stop; with a stop that belongs to a word as well; with more than a stop.
_STOPPED = re.compile(r"(?<![.!?…])[.!?。！？｡।؟]$")
_ABBREVIATED = re.compile(r"(?:\b[^\W\d_]\.[^\W\d_]|\b(?:Inc|Jr|Sr|Co|Ltd|Corp|etc|Bros|St))\.$")
_CLOSED = re.compile(r"[.!?…。！？｡।؟][\"'”’»)\]」』）】]*$")

NOT_ANSWERED = "The collection does not answer this question."


@dataclass(frozen=True)
class ExtractiveAnswerer:
    """Chooses the sentences that together answer and explain, from the best passages.

    ``scorer`` is a cross-encoder that says how much a sentence has to do with the question; ``reader``, where there is
    one, finds the short answers, of which as many different ones as possible are to be said. Every sentence is
    verbatim but for a dropped beginning or end, so that its groundedness is 1.
    """

    scorer: SentenceScorer
    reader: AnswerReader | None = None
    words: int = DEFAULT_WORDS
    passages: int = PASSAGES
    always: bool = False
    """Answer even where nothing found seems to answer the question."""
    calibrated: bool = True
    """Whether the hits were scored by the shipped re-ranker."""
    weights: Mapping[str, float] = field(default_factory=lambda: WEIGHTS)
    settings: SelectionSettings = field(default_factory=SelectionSettings)
    name: str = "extractive"

    def __post_init__(self) -> None:
        if self.words < 1:
            raise InputError(f"An answer has at least 1 word, not {self.words}.")

    @property
    def wants(self) -> int:
        """How many passages it looks at."""
        return self.passages

    def answer(self, question: str, hits: Sequence[Hit]) -> Answer:
        """The answer; where nothing answers the question it says so, and ``answered`` is false."""
        return finish(self.stream(question, hits))

    def stream(self, question: str, hits: Sequence[Hit]) -> Iterator[str | Answer]:
        """The answer's sentences with their citations, then the answer."""
        hits = hits[: self.passages]
        candidates = candidates_of(hits)
        found = found_answers(question, hits[:READ], self.reader)
        if not candidates or not (self.always or answers_question(question, hits, found, calibrated=self.calibrated)):
            yield NOT_ANSWERED
            yield Answer(question, NOT_ANSWERED, (), tuple(hits), self.name, 0.0, answered=False)
            return
        scores = relevance(features(question, hits, candidates, self.scorer, found), self.weights)
        chosen = select_sentences(candidates, scores.tolist(), self.words, found, self.settings, hits)
        ordered = reading_order(chosen, hits)
        numbers = _numbers(ordered)
        sentences = []
        for place, one in enumerate(ordered):
            number = numbers[one.hit]
            evidence = Evidence(number, one.start, one.end)
            sentences.append(AnswerSentence(one.text, (number,), 1.0, True, (evidence,)))
            yield ("" if place == 0 else " ") + cited(one.text, (number,))
        used = [hits[place] for place in numbers]
        text = " ".join(cited(sentence.text, sentence.citations) for sentence in sentences)
        yield Answer(question, text, tuple(sentences), tuple(used), self.name, 1.0)


def _numbers(ordered: Sequence[Candidate]) -> dict[int, int]:
    """The number of each hit that is cited, from 1 in the order of first citation."""
    numbers: dict[int, int] = {}
    for one in ordered:
        numbers.setdefault(one.hit, len(numbers) + 1)
    return numbers


def cited(sentence: str, citations: Sequence[int]) -> str:
    """The sentence with its citations before the full stop; one that was cut gets a sign of it.

    >>> cited("Tea is hot.", (1, 2)), cited('He said "no."', (3,)), cited("Tea and", (3,))
    ('Tea is hot [1][2].', 'He said "no." [3]', 'Tea and … [3]')
    >>> cited("It is in the U.S.", (1,)), cited("Who knows...", (1,))
    ('It is in the U.S. [1].', 'Who knows... [1]')
    """
    marks = "".join(f"[{number}]" for number in citations)
    if not marks:
        return sentence
    if _ABBREVIATED.search(sentence):
        return f"{sentence} {marks}."
    if _STOPPED.search(sentence):
        return f"{sentence[:-1].rstrip()} {marks}{sentence[-1]}"
    return f"{sentence} {marks}" if _CLOSED.search(sentence) else f"{sentence} … {marks}"
