"""What a conversation is about: the name that a pronoun of the next question most likely stands for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from longform.answer.aliases import name_pattern
from longform.answer.mentions import (
    PLACE_WORDS,
    TIME,
    Name,
    is_adjective,
    names_in,
    pronoun_of,
    short_forms,
    without_bracket,
)
from longform.records import Answer, Passage
from longform.text import QUESTION_WORDS, content_tokens, split_sentences
from longform.text.porter import stem

__all__ = ["Turn", "known_names", "topic_of"]

_WHO_IS = re.compile(r"(?:who(?:'s| is| are| was| were)|whose|tell me about)\s+", re.IGNORECASE)
# "Who was King of France?" asks for a name and has none of a person.
_ROLE = re.compile(
    r"(?:the )?(?:King|Queen|Emperor|Empress|President|Pope|Duke|Duchess|Prince|Princess|Tsar|Chancellor|"
    r"Vice President|Prime Minister|Minister|Mayor|Governor|Archbishop|Bishop|Count|Earl|Head|Leader|Captain|Secretary)"
    r"(?: of .+)?",
    re.IGNORECASE,
)
# Nobody points back at more than this.
MOST_TURNS = 6
_MOST_PEOPLE = 6


@dataclass(frozen=True, slots=True)
class Turn:
    """A question as it was understood, so that it stands alone, and its answer, where it got one."""

    question: str
    answer: Answer | None = None

    @property
    def passages(self) -> list[Passage]:
        """The passages behind the answer."""
        return [] if self.answer is None else [hit.passage for hit in self.answer.passages]

    @property
    def sentences(self) -> list[str]:
        """The answer's sentences, where it answers the question."""
        return [one.text for one in self.answer.sentences] if self.answer is not None and self.answer.answered else []

    @property
    def title(self) -> str:
        """The title of the page behind the first sentence that cites one."""
        cited = [one.citations[0] for one in self.answer.sentences if one.citations] if self.answer else []
        return self.passages[cited[0] - 1].title if cited and self.answer and self.answer.answered else ""

    @property
    def asks(self) -> str:
        """The word with which the question asks, in lower case.

        >>> Turn("In which year was it?").asks, Turn("Did he?").asks
        ('which', '')
        """
        found = re.search(r"\b(who|whom|whose|what|which|when|where|why|how)\b", self.question[:80], re.IGNORECASE)
        return found[1].lower() if found else ""


def known_names(turn: Turn) -> list[str]:
    """The names that a question typed in small letters may mean: titles, and names in the answer's passages."""
    found = [without_bracket(passage.title) for passage in turn.passages if passage.title]
    for text in (*turn.sentences, *(passage.text for passage in turn.passages)):
        found += [name.bare for name in names_in(text) if not name.alone and not is_adjective(name, text)]
    # Nobody types the number of a king who is the only one of his name.
    return list(dict.fromkeys([*found, *(re.sub(r" [IVX]+$", "", name) for name in found)]))


def topic_of(pronoun: str, history: Sequence[Turn], question: str = "") -> str | None:
    """The name that "he", "she", "it", "they" or "there" of a question stands for; ``None`` where nothing fits.

    The last turn that offers one decides. What was asked about comes first, but for what asks *for* a name: after "Who
    directed King Kong?" the answer is "he", and the film is "it". Of several people in an answer it is the one of whom
    the passages say most of the question's words, else the first.

    >>> topic_of("he", [Turn("When did Charles X abdicate?"), Turn("What is the capital of France?")])
    'Charles X'
    """
    passages = [passage for turn in history for passage in turn.passages]
    choose = {"he": _person, "she": _person, "they": _several, "there": _place}.get(pronoun, _thing)
    for turn in reversed(history[-MOST_TURNS:]):
        fitting: list[Name] = []
        spoken_of: list[Name] = []
        for name in choose(turn):
            spoken = pronoun_of(name.bare, passages)
            if pronoun in ("he", "she"):
                if spoken == pronoun or (not spoken and name.person and name.after not in PLACE_WORDS | {"of"}):
                    fitting.append(name)
                if spoken == "she" == pronoun:
                    spoken_of.append(name)  # Far more often than not a text says where somebody is a woman.
            elif pronoun == "they" or spoken not in ("he", "she"):
                return name.text
        if pronoun == "she" and not spoken_of and len(fitting) > 1:
            continue
        if fitting:
            return max((spoken_of or fitting)[:_MOST_PEOPLE], key=lambda name: _said_of(name, question, turn)).text
    return None


def _said_of(name: Name, question: str, turn: Turn) -> int:
    """How many of a question's words a sentence says of a person, at most."""
    asked = {stem(word) for word in content_tokens(question) - QUESTION_WORDS}
    forms = [name_pattern(form) for form in {name.bare, *short_forms(name.bare)}]
    said = [
        len(asked & {stem(word) for word in content_tokens(sentence)})
        for passage in turn.passages
        for sentence in split_sentences(passage.text)
        if any(form.search(sentence) for form in forms)
    ]
    return max(said, default=0)


def _asked(turn: Turn) -> list[Name]:
    """The names in the question."""
    found = names_in(turn.question, known_names(turn))
    return [_dated(name, turn.question) for name in found if not is_adjective(name, turn.question)]


def _dated(name: Name, text: str) -> Name:
    """With the year behind it, where it is a thing of which there is one in each: "the World Cup in 2019"."""
    when = re.compile(rf" (?:in|of) {TIME.pattern}").match(text, name.end)
    if when is None or name.text == name.bare:
        return name
    return name._replace(text=f"{name.text}{when.group()}", end=when.end())


def _answering(turn: Turn, most: int | None = None) -> Iterator[Name]:
    """The names that the answer brings in, those of the sentences that share most with the question first."""
    asked = [name.bare.casefold() for name in _asked(turn)]
    words = content_tokens(turn.question)
    nearest = sorted(turn.sentences, key=lambda sentence: -len(words & content_tokens(sentence)))
    for sentence in nearest[:most]:
        for name in names_in(sentence):
            said = name.bare.casefold() in asked or content_tokens(name.bare) <= words
            if said or is_adjective(name, sentence):
                continue
            if not name.alone or _is_title(name, turn):
                yield _lowered(name)


def _is_title(name: Name, turn: Turn) -> bool:
    """Whether a word that opens a sentence is a name: it has its capital within others too."""
    pattern = re.compile(rf"[a-z,] {re.escape(name.bare)}\b")
    return any(pattern.search(passage.text) for passage in turn.passages)


def _lowered(name: Name) -> Name:
    """With a small article: what opened a sentence does not any more."""
    return name._replace(text=f"the {name.text[4:]}") if name.text.startswith("The ") else name


def _plural(name: Name, turn: Turn) -> bool:
    """Whether the answer says that they "are"."""
    return any(re.search(rf"{re.escape(name.bare)} (?:are|were)\b", sentence) for sentence in turn.sentences)


def _title(turn: Turn) -> list[Name]:
    """The title of the page behind the answer, where it is a name: "Charles X" is one, "Women in space" is not."""
    bare = without_bracket(turn.title)
    found = names_in(f"The {bare}")
    name = Name(turn.title, 0, len(turn.title), bare, "")
    whole = len(found) == 1 and found[0].bare == bare
    return [name] if whole and (" " in bare or _is_title(name, turn)) else []


def _person(turn: Turn) -> Iterator[Name]:
    asked = [name for name in _asked(turn) if not _ROLE.fullmatch(name.bare)]
    about = _WHO_IS.match(turn.question)
    if turn.asks in ("who", "whom") and not (about and any(name.start == about.end() for name in asked)):
        answering = list(_answering(turn))
        yield from (answering or asked)
    elif asked:
        yield asked[0]
    else:
        yield from _answering(turn, 1)
        yield from _title(turn)


def _thing(turn: Turn) -> Iterator[Name]:
    titles = {without_bracket(passage.title).casefold() for passage in turn.passages}
    # What the pages are about is what the question is about: the film rather than the part in it.
    asked = sorted(_asked(turn), key=lambda name: name.bare.casefold() not in titles)
    if turn.asks in ("what", "which"):
        # "What is the tallest building in New York?": the building is "it", not the city.
        yield from (name for name in asked if name.after not in PLACE_WORDS)
        yield from (name for name in _answering(turn, 2) if name.start < 25 and not _plural(name, turn))
        yield from _title(turn)
    yield from asked
    if turn.asks not in ("what", "which", "who", "whom"):
        yield from _title(turn)


def _place(turn: Turn) -> Iterator[Name]:
    yield from (name for name in _asked(turn) if name.after in PLACE_WORDS | {"of"})
    yield from _thing(turn)


def _several(turn: Turn) -> Iterator[Name]:
    """Names in a row, "A and B", or one in the plural; a single one hardly ever is "they"."""
    asked = _asked(turn)
    yield from _pairs(turn.question, asked)
    yield from (name for name in asked if re.search(r"[^su]s$", name.bare) and name.text != name.bare)
    words = content_tokens(turn.question)
    for sentence in sorted(turn.sentences, key=lambda one: -len(words & content_tokens(one)))[:1]:
        yield from _pairs(sentence, names_in(sentence))


def _pairs(text: str, names: Sequence[Name]) -> Iterator[Name]:
    for first, second in pairwise(names):
        listed = text[: first.start].endswith(", ")  # The last two of more.
        if re.fullmatch(r" (?:and|&) ", text[first.end : second.start]) and not listed:
            both = text[first.start : second.end]
            yield _lowered(Name(both, first.start, second.end, both, first.after))
