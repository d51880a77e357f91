"""Questions with many answers out of a knowledge graph and the pages that state it, with every answer they hold.

A group of triples with the same relation and object is a question, as in QAMPARI (Amouyal et al., 2022, section 2.1):
("director", "John Waters") asks "Which films were directed by John Waters?". A small graph names few of the answers
that its own pages state, and a list would be blamed for the others. So the gold is completed from the pages: a page
answers too where its text states the relation in the words of a fixed pattern ("directed by … John Waters").
Relations without such words ("country of citizenship") are left out.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from longform.errors import InputError
from longform.score.qampari import QampariAnswer, QampariQuestion

__all__ = ["RELATIONS", "Page", "Relation", "graph_questions", "halves"]

# No list of 200 passages can hold more, and few people read it.
MOST = 50


class Page(NamedTuple):
    """A page of the collection."""

    title: str
    text: str


class Relation(NamedTuple):
    """How a relation is asked for, and how pages state it; ``{}`` is the object.

    ``kind`` is what the first sentence of a page must hold: "Which films …?" is not answered by an album.
    """

    question: str
    stated: str
    kind: str = ""


_FILM = r"^[^.]{0,200}?\b(?:film|movie|comedy|western|documentary)\b"
_MUSIC = r"^[^.]{0,200}?\b(?:song|single|album|track)\b"
RELATIONS: Mapping[str, Relation] = {
    "director": Relation(
        "Which films were directed by {}?", r"\bdirected\b(?: and \w+| \w+ed)? by (?:[^.]{{0,60}}\W)?{}\b", _FILM
    ),
    "performer": Relation(
        "Which songs were performed by {}?",
        r"\b(?:song|single|album|track)\b[^.]{{0,80}}\b(?:by|from|of) (?:[^.,]{{0,60}}\W)?{}\b",
        _MUSIC,
    ),
    "composer": Relation(
        "What was composed by {}?",
        r"\b(?:composed|music|score|scored|written|soundtrack)\b[^.]{{0,60}}\bby (?:[^.]{{0,40}}\W)?{}\b",
    ),
    "place of birth": Relation("Who was born in {}?", r"\bborn\b[^.;–]{{0,60}}\b(?:in|at) (?:[^.;]{{0,30}}\W)?{}\b"),
    "place of death": Relation("Who died in {}?", r"\bdied\b[^.;]{{0,60}}\b(?:in|at) (?:[^.;]{{0,30}}\W)?{}\b"),
    "father": Relation(
        "Who were the children of {}?",
        r"\b(?:son|daughter|child|children) of (?:[^.;]{{0,40}}\W)?{}\b(?! and \w+['’]s)",
    ),
    "publication date": Relation(
        "Which films were released in {}?",
        r"^[^.]{{0,120}}\b(?:is|was) an? (?:[\w-]+ ){{0,2}}{} [^.]{{0,60}}\bfilm\b",
        _FILM,
    ),
}


def graph_questions(
    triples: Iterable[Mapping[str, Any]], pages: Sequence[Page], *, least: int = 3, most: int = MOST
) -> list[QampariQuestion]:
    """The questions of a graph that have ``least`` to ``most`` answers with pages of their own, ordered by id.

    >>> pages = [Page(name, f"{name} is a film directed by Jo Ham.") for name in ("Ay", "Bee (film)", "Cee")]
    >>> known = [{"subject": "Ay", "relation": "director", "object": "Jo Ham"}]
    >>> [(question.question, len(question.answers)) for question in graph_questions(known, pages)]
    [('Which films were directed by Jo Ham?', 3)]
    """
    texts = {page.title: page.text for page in pages}
    groups: dict[tuple[str, str], set[str]] = {}
    for triple in triples:
        if not {"subject", "relation", "object"} <= set(triple):
            raise InputError("A triple has no subject, relation or object: give lines with all three.")
        if triple["relation"] in RELATIONS:
            groups.setdefault((triple["relation"], triple["object"]), set()).add(triple["subject"])
    questions = []
    for (relation, thing), subjects in sorted(groups.items()):
        how = RELATIONS[relation]
        stated = re.compile(how.stated.format(re.escape(thing)))
        titles = {subject for subject in subjects if subject in texts}
        titles |= {page.title for page in pages if page.title != thing and stated.search(page.text)}
        titles = {title for title in titles if re.search(how.kind, texts[title])}
        if least <= len(titles) <= most:
            answers = tuple(QampariAnswer(title, _names(title, texts[title])) for title in sorted(titles))
            questions.append(QampariQuestion(f"{relation}__{thing}", how.question.format(thing), answers))
    return questions


def _names(title: str, text: str) -> tuple[str, ...]:
    """The names of what a page is about: its title, with and without a bracket, and what the text opens with."""
    bare = re.sub(r"\s*\([^()]*\)\s*$", "", title) or title
    opening = re.match(r"\W*(.{2,80}?)\s*(?:\(|,| (?:is|was|are|were)\b)", text)
    # "The film was …" opens with no name.
    named = opening is not None and opening[1][:1].isupper() and not opening[1].startswith(("The ", "It", "He", "She"))
    names = [title, bare]
    # A title that is cut at its comma is none.
    if named and opening is not None and not title.startswith(opening[1]):
        names.append(opening[1].strip(" \"“”'"))
    return tuple(dict.fromkeys(name for name in names if name))


def halves(
    questions: Sequence[QampariQuestion], development: int, seed: int
) -> tuple[list[QampariQuestion], list[QampariQuestion]]:
    """So many questions to choose settings on, drawn by the seed, and the others to report."""
    if not 0 < development < len(questions):
        raise InputError(
            f"Of {len(questions)} questions, {development} cannot be set aside: name fewer, and at least 1."
        )
    drawn = set(random.Random(seed).sample([question.id for question in questions], development))
    return [one for one in questions if one.id in drawn], [one for one in questions if one.id not in drawn]
