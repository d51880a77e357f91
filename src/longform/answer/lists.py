"""Lists: questions with many answers, each read out of a passage of its own.

QAMPARI (Amouyal et al., 2022, section 4): a reader takes each of up to 200 passages by itself and gives an answer or
says "not relevant"; the list is the union. Here the reader finds spans (:class:`longform.models.Reader`), so that
every answer stands in the passage that it cites. :class:`LanguageModelLister` does the same with a language model.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from longform.answer.aliases import name_pattern
from longform.answer.coordination import Place, listed_with
from longform.answer.list_models import LanguageModelLister
from longform.answer.list_weights import passage_weights
from longform.answer.protocol import finish
from longform.answer.union import Mention, answer_list, mention_of, unite
from longform.errors import InputError
from longform.models.reader import ReaderAnswer
from longform.models.spans import AnswerReader, ReaderContext, confidence, given, in_one_line, reader_context
from longform.progress import Progress, no_progress
from longform.records import Answer, Hit
from longform.text import content_tokens

__all__ = ["EAGER", "LEAST", "PASSAGES", "LanguageModelLister", "ListAnswerer"]

PASSAGES = 200
LEAST = 0.54
# The null threshold of a reader of lists: an answer that it would rather not give counts, as much as it is sure of it.
EAGER = 3.0
# Passages that are read between two reports of progress.
_BATCH = 16
# Words of an answer: what is longer is half a sentence.
_LONGEST = 10
_LETTER = re.compile(r"[^\W\d_]")
_NUMBER = re.compile(
    r"\b(?:when|years?|dates?|days?|months?|how|numbers?|ages?|times?|amounts?|scores?)\b", re.IGNORECASE
)


@dataclass(frozen=True)
class ListAnswerer:
    """Answers with a list, by a span reader; ``least`` is the support that an answer needs to be on it.

    >>> from longform.models import ReaderAnswer
    >>> from longform.records import Passage
    >>> class First:
    ...     def read(self, pairs):
    ...         return [ReaderAnswer(text.split()[0], 9.0, 0.0, 0, len(text.split()[0])) for _, text in pairs]
    >>> said = ["Anna sang.", "Bert sang.", "Anna sang too."]
    >>> hits = [Hit(Passage(text, "", "", text, 0, len(text)), n, 1.0) for n, text in enumerate(said, 1)]
    >>> print(ListAnswerer(First()).answer("Who sang?", hits).text)
    1. Anna [1][2]
    2. Bert [3]
    """

    reader: AnswerReader
    passages: int = PASSAGES
    least: float = LEAST
    expand: bool = False
    """Whether the other members of a list in the text are taken with the one that the reader found."""
    rereads: int = 0
    """How often a passage that gave an answer is read again without it."""
    progress: Progress = no_progress

    def __post_init__(self) -> None:
        if self.passages < 1:
            raise InputError(f"A list needs at least 1 passage to read, and {self.passages} is not.")
        if not 0 <= self.least <= 1:
            raise InputError(f"The least support of an answer must lie between 0 and 1, not {self.least:g}.")

    @property
    def name(self) -> str:
        """What its answers carry as their model."""
        return "list"

    @property
    def wants(self) -> int:
        """How many passages it reads."""
        return self.passages

    def answer(self, question: str, hits: Sequence[Hit]) -> Answer:
        """The whole list."""
        return finish(self.stream(question, hits))

    def stream(self, question: str, hits: Sequence[Hit]) -> Iterator[str | Answer]:
        """The lines of the list, then the answer; no line is final before every passage is read."""
        hits = list(hits[: self.passages])
        started = time.perf_counter()
        mentions = self.mentions(question, hits)
        seconds = {"read": time.perf_counter() - started}
        items = unite(mentions, hits, passage_weights(question, hits), self.least)
        for part in answer_list(question, items, hits, model=self.name):
            yield replace(part, seconds=seconds) if isinstance(part, Answer) else part

    def mentions(self, question: str, hits: Sequence[Hit]) -> list[Mention]:
        """What each passage answers, before names are merged."""
        contexts = [reader_context(hit.passage) for hit in hits]
        texts = {place: context.text for place, context in enumerate(contexts)}
        found: list[Mention] = []
        for turn in range(self.rereads + 1):
            again: dict[int, str] = {}
            for place, read in self._read(question, texts).items():
                mentions = _mentions_of(read, question, place, hits[place], contexts[place], self.expand)
                found += mentions
                if mentions and turn < self.rereads:
                    again[place] = _without(texts[place], mentions)
            texts = again
        return found

    def _read(self, question: str, texts: dict[int, str]) -> dict[int, ReaderAnswer]:
        places = list(texts)
        found: dict[int, ReaderAnswer] = {}
        for first in range(0, len(places), _BATCH):
            part = places[first : first + _BATCH]
            answers = self.reader.read([(question, texts[place]) for place in part])
            found |= zip(part, answers, strict=True)
            self.progress("reading", min(first + _BATCH, len(places)), len(places))
        return found


def _mentions_of(
    read: ReaderAnswer, question: str, place: int, hit: Hit, context: ReaderContext, expand: bool
) -> list[Mention]:
    """The mentions of what the reader found in one passage, and of what the passage lists with it."""
    if not given(read):
        return []
    read = in_one_line(read)
    sure = confidence(read)
    start, end = _whole_title(read.start, read.end, hit.passage.title, context)
    spans = listed_with(context.text, start, end) if expand else []
    found = []
    for first, last in spans or [Place(start, end)]:
        name = trimmed_name(context.text[first:last])
        if not _may_answer(name, question):
            continue
        if first >= context.offset:
            inside = context.text.index(name, first) - context.offset
            found.append(Mention(name, place, inside, inside + len(name), sure))
        elif (mention := mention_of(name, place, hit.passage, sure)) is not None:
            found.append(mention)
    return found


def _whole_title(start: int, end: int, title: str, context: ReaderContext) -> tuple[int, int]:
    """The span, widened to the title that it is a part of: half a title is no name.

    A span that runs from the title in front into the text ends with the title.

    >>> _whole_title(0, 5, "Night Duty", ReaderContext("Night Duty is a film.", 0))
    (0, 10)
    """
    if start < context.offset - 2 < end:
        end = context.offset - 2
    for found in name_pattern(re.sub(r"\s*\([^()]*\)$", "", title)).finditer(context.text):
        if found.start() <= start and end <= found.end():
            return found.span()
    return start, end


def trimmed_name(text: str) -> str:
    """A name without the quotation marks, commas and stops at its ends, nor a bracket that is cut off.

    >>> trimmed_name(' "Bright Leaf",'), trimmed_name("Washington, D.C."), trimmed_name("Lola (1981")
    ('Bright Leaf', 'Washington, D.C.', 'Lola')
    """
    name, before = text, ""
    while name != before:
        before, name = name, name.strip("\"“”‘’'`,;:–—- \n\t")
        if name.count("(") > name.count(")"):
            name = name[: name.rindex("(")] or name[1:]
        elif name.count(")") > name.count("("):
            name = name[: name.index(")")]
        # The full stop of an abbreviation is part of the name, that of a sentence is not.
        if not re.search(r"(?:^|[\s.])\w{1,3}\.$", name):
            name = name.rstrip(".")
    return name


def _may_answer(name: str, question: str) -> bool:
    """Whether a span may be an answer: no number where none is asked for, no half sentence, not the question's words.

    >>> [_may_answer(name, "Which films did Jo Ham direct?") for name in ("Ay", "1952", "Jo Ham")]
    [True, False, False]
    """
    if len(name.split()) > _LONGEST or (not _LETTER.search(name) and not _NUMBER.search(question)):
        return False
    words = content_tokens(name)
    # What is asked about is not what is asked for.
    return bool(words) and not words <= content_tokens(question)


def _without(text: str, mentions: Sequence[Mention]) -> str:
    """The text with every occurrence of the names blanked out, so that all places stay what they are."""
    for mention in mentions:
        text = name_pattern(mention.name).sub(lambda found: " " * len(found[0]), text)
    return text
