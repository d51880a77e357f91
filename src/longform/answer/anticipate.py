"""What may be asked next: questions that the answer raises and the collection answers.

A direct answer sparks follow-up questions (Christmann et al., 2024, section 1). They come from what is
there: pages that the answer or its passages mention and that were not used, sections of the cited pages that were not
used, and people and things that the answer names. Each is offered only where a page of the collection answers it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from longform.answer.aliases import name_key, name_pattern
from longform.answer.mentions import TIME, is_adjective, names_in, pronoun_of, without_bracket
from longform.records import Answer, Hit, Passage
from longform.retrieve.index import Index
from longform.text import content_tokens, split_sentences

__all__ = ["follow_ups"]

# A question whose page is not among the first few that it finds would get another answer.
_DEPTH = 5
_MOST_NAMES = 12

# Headings of which it is sure what they are about; {} is the page's title.
_BY_HEADING = {
    "early life": "What is known about the early life of {}?",
    "death": "How did {} die?",
    "causes": "What caused {}?",
    "aftermath": "What happened after {}?",
    "cast": "Who was in the cast of {}?",
    "production": "How was {} made?",
    "awards": "Which awards did {} win?",
    "history": "What is the history of {}?",
    "reception": "How was {} received?",
    "legacy": "What is the legacy of {}?",
    "fall": "How did {} fall?",
    "reign": "What happened in the reign of {}?",
    "exile": "What is known about the exile of {}?",
    "personal life": "What is known about the personal life of {}?",
    "career": "What is known about the career of {}?",
    "plot": "What is the plot of {}?",
    "discovery": "How was {} discovered?",
    "construction": "How was {} built?",
    "origin": "Where does {} come from?",
    "origins": "Where does {} come from?",
    "geography": "What is the geography of {}?",
    "economy": "What is the economy of {} like?",
    "climate": "What is the climate of {} like?",
}
# Headings that begin so are no things to be said something about.
_NO_NOUNS = "in|on|at|before|after|afterwards|later$|from|with|without|who|what|when|where|how|why|page"


class _Likely(NamedTuple):
    """A question, and the page that answers it."""

    question: str
    page: str


def follow_ups(
    answer: Answer, hits: Sequence[Hit], index: Index | None = None, most: int = 3, asked: Collection[str] = ()
) -> list[str]:
    """Up to ``most`` questions that may come after an answer, likeliest first, each answered by a page.

    ``hits`` are the passages that were found for the question, cited or not. With an ``index`` pages that were not
    found count as well, and every question is searched for: its page has to be among the first passages. Questions of
    ``asked`` are not asked again.

    >>> from longform.records import AnswerSentence
    >>> cited, other = "Charles X fled after the July Revolution.", "The July Revolution was a rising in Paris."
    >>> hits = [Hit(Passage(t, t, t, text, 0, len(text)), 1, 1.0) for t, text in
    ...     [("Charles X", cited), ("July Revolution", other)]]
    >>> answer = Answer("Who fled?", cited, (AnswerSentence(cited, (1,), 1.0, True),), tuple(hits[:1]), "extractive", 1)
    >>> follow_ups(answer, hits)
    ['What was the July Revolution?']
    """
    if not answer.answered or not answer.sentences or most < 1:
        return []
    pages = _Pages(answer, hits, index)
    before = [*asked, answer.question]
    found: list[_Likely] = []
    for likely in chain(_in_turn(_mentioned(pages), _named(pages), _sections(pages)), _dated(pages)):
        if len(found) == most:
            break
        if _is_new(likely.question, [*before, *(one.question for one in found)]) and pages.answers(likely):
            found.append(likely)
    return [one.question for one in found]


class _Pages:
    """The passages that an answer cites, and the others at hand, by page."""

    def __init__(self, answer: Answer, hits: Sequence[Hit], index: Index | None) -> None:
        self.answer, self.index = answer, index
        numbers = {number for sentence in answer.sentences for number in sentence.citations}
        cited = [hit.passage for number, hit in enumerate(answer.passages, 1) if number in numbers]
        self.cited = list({passage.id: passage for passage in cited}.values())
        self.citing = [answer.passages[one.citations[0] - 1].passage for one in answer.sentences if one.citations]
        self.used = {passage.id for passage in self.cited}
        self.cited_pages = {_page(passage) for passage in self.cited}
        self.found = list({hit.passage.id: hit.passage for hit in (*answer.passages, *hits)}.values())

    def of(self, passage: Passage) -> list[Passage]:
        """All passages of the page, as far as they are at hand."""
        if self.index is not None:
            rows = self.index.find(passage.document, of_document=True)
            return [self.index.passage_at(int(row)) for row in rows]
        return [one for one in self.found if one.document == passage.document]

    def titled(self, name: str) -> Passage | None:
        """A passage of the page that has a name as its title and is not cited; ``None`` where there are several."""
        key = name_key(name)
        near = list(self.found)
        if self.index is not None and len(self.index):
            near += [hit.passage for hit in self.index.search(name, min(_DEPTH, len(self.index)), "bm25")]
        same = {_page(one): one for one in near if name_key(one.title) == key and _page(one) not in self.cited_pages}
        return next(iter(same.values())) if len(same) == 1 else None

    def answers(self, likely: _Likely) -> bool:
        """Whether the question finds its page."""
        if self.index is None:
            return any(_page(passage) == likely.page for passage in self.found)
        hits = self.index.search(likely.question, min(_DEPTH, len(self.index)), "bm25")
        return any(_page(hit.passage) == likely.page for hit in hits)


def _page(passage: Passage) -> str:
    """What a passage is part of: rows that were passages already have a page's title and a document of their own."""
    return passage.title or passage.document


def _mentioned(pages: _Pages) -> Iterator[_Likely]:
    """Other pages that the answer, or else a passage that it cites, mentions by their titles."""
    texts = [pages.answer.text, " ".join(passage.text for passage in pages.cited)]
    seen: set[str] = set()
    for text in texts:
        for passage in pages.found:
            bare = without_bracket(passage.title)
            if _page(passage) in pages.cited_pages or _page(passage) in seen or not bare:
                continue
            # A title that is no name, such as "Death", may stand in a text by chance.
            if name_pattern(bare).search(text) and bare in text:
                seen.add(_page(passage))
                yield _Likely(_what_is(passage, pages), _page(passage))
        for name in list(dict.fromkeys(one.bare for one in names_in(text) if not one.alone))[:_MOST_NAMES]:
            other = pages.titled(name)
            if other is not None and _page(other) not in seen:
                seen.add(_page(other))
                yield _Likely(_what_is(other, pages), _page(other))


def _what_is(passage: Passage, pages: _Pages) -> str:
    """ "Who was …?" or "What is …?", where the page opens by saying so."""
    bare = without_bracket(passage.title)
    whole = pages.of(passage) or [passage]
    first = min(whole, key=lambda one: one.start)
    opening = re.match(rf"(The |An? )?{re.escape(bare)}(?: \([^()]*\))? (is|was|are|were) ", first.text)
    if opening is None:
        return f"What does the collection say about “{passage.title}”?"
    # The bracket is what tells a page from its namesakes.
    shown = f"{(opening[1] or '').lower()}{passage.title}"
    if _is_person(bare, whole):
        return f"Who {opening[2]} {shown}?"
    # "What was Charles X?" would be rude: without an article, only what the page calls "it" is a thing for sure.
    thing = opening[1] or pronoun_of(bare, whole) in ("it", "they")
    return f"What {opening[2]} {shown}?" if thing else f"What is known about {shown}?"


def _sections(pages: _Pages) -> Iterator[_Likely]:
    """Sections, not cited, of the two pages that the answer cites most."""
    cited = {_page(passage): passage for passage in reversed(pages.cited)}
    for page, _ in Counter(map(_page, pages.citing)).most_common(2):
        everything = sorted(pages.of(cited[page]), key=lambda one: one.start)
        used = {one.section for one in everything if one.id in pages.used}
        for passage in everything:
            if passage.section and passage.section not in used and passage.id not in pages.used and passage.title:
                used.add(passage.section)
                yield _Likely(_about_section(passage.section, passage.title, everything), page)


def _about_section(section: str, title: str, passages: Sequence[Passage]) -> str:
    first = passages[0].text
    lead = re.match(rf"(The )?{re.escape(without_bracket(title))} (?:is|was) ", first)
    if lead and section.lower() in _BY_HEADING:
        return _BY_HEADING[section.lower()].format(f"{(lead[1] or '').lower()}{title}")
    if re.match(rf"(?:{_NO_NOUNS})\b", section.lower()):
        return f"What does “{title}” say under “{section}”?"
    start, *rest = section.split()
    text = " ".join(passage.text for passage in passages)
    # A name of one word has its capital within sentences too; another heading need not be one.
    name = re.search(rf"[a-z,] {re.escape(start)}", text) is not None
    named = names_in(f"The {section}")
    whole = len(named) == 1 and named[0].bare == section and (name or bool(rest)) and not start.isupper()
    if whole and _is_person(section, passages):
        return f"Who was {section}?"
    common = not name and " ".join(rest) == " ".join(rest).lower()
    small = common and re.search(rf"\b{re.escape(start.lower())}\b", text) is not None
    if small and lead:
        return f"What about the {section.lower()} of {(lead[1] or '').lower()}{title}?"
    return f"What does “{title}” say about {start.lower() if small else start}{section[len(start) :]}?"


def _is_person(name: str, passages: Sequence[Passage]) -> bool:
    return pronoun_of(name, passages) in ("he", "she")


def _named(pages: _Pages) -> Iterator[_Likely]:
    """People and things that the answer names, of whom a passage says more than the answer does."""
    said = content_tokens(pages.answer.text)
    asked = content_tokens(pages.answer.question)
    for sentence in pages.answer.sentences:
        for name in names_in(sentence.text):
            tokens = content_tokens(name.bare)
            if name.alone or is_adjective(name, sentence.text) or len(tokens) < 2 or tokens <= asked:
                continue
            for passage in pages.found:
                more = _more_about(name.bare, passage, said)
                if more:
                    known = name.text if not name.text.startswith("The ") else f"the {name.bare}"
                    asks = (
                        f"Who was {known}?"
                        if _is_person(name.bare, pages.found)
                        else f"What else is known about {known}?"
                    )
                    yield _Likely(asks, _page(passage))
                    break


def _more_about(name: str, passage: Passage, said: set[str]) -> bool:
    """Whether a sentence of a passage opens with a name and says at least four words that were not said."""
    return any(
        sentence.startswith(name) and len(content_tokens(sentence) - said) >= 4
        for sentence in split_sentences(passage.text)
    )


def _dated(pages: _Pages) -> Iterator[_Likely]:
    """Years of the answer's first sentence of which other pages tell something else."""
    for match in TIME.finditer(pages.answer.sentences[0].text):
        year = re.search(r"[12]\d{3}$", match.group())
        if year is None or year.group() in pages.answer.question:
            continue
        for passage in pages.found:
            if _page(passage) not in pages.cited_pages and re.search(rf"\b{year.group()}\b", passage.text):
                yield _Likely(f"What else happened in {year.group()}?", _page(passage))
                break


def _is_new(question: str, before: Sequence[str]) -> bool:
    """Whether a question asks for something that none of the others asked for."""
    words = content_tokens(question) - content_tokens("What else is known does the collection say")
    return not any(words <= content_tokens(other) for other in before)


def _in_turn(*sources: Iterator[_Likely]) -> Iterator[_Likely]:
    """One of each in turn, as long as there are any: another page, somebody named, more of this page."""
    left = list(sources)
    while left:
        for one in list(left):
            likely = next(one, None)
            if likely is None:
                left.remove(one)
            else:
                yield likely
