"""The sentences of an answer while it is written: each is judged as soon as it is whole.

>>> cited_sentences("Dr. Curie won twice [1][2]. Why?")
[CitedSentence(text='Dr. Curie won twice.', citations=(1, 2)), CitedSentence(text='Why?', citations=())]
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from longform.answer.citations import marks
from longform.text import sentence_spans

__all__ = ["CitedSentence", "Judge", "SentenceStream", "cited_sentences"]

# How much must follow a stop before it is known whether it ends its sentence: "Mr." asks for the next word or two.
_REACH = 48

_CANDIDATE = re.compile(r"[.!?…。！？\n]+")
_MARK = re.compile(r"\s*\[(\d+)\]")
_ENDING = re.compile(r"[.!?…。！？]+[\"'”’»)]*$")


class CitedSentence(NamedTuple):
    """A sentence without its citation marks, and the passages that it cites, in their order."""

    text: str
    citations: tuple[int, ...]


Judge = Callable[[CitedSentence], Sequence[int] | None]
"""Given a whole sentence, the passages that it shall cite as well; ``None`` where it must not stand."""


class SentenceStream:
    """Lets an answer through as it comes, up to where a sentence may end, and waits there until that is known.

    A number that a sentence cites a second time is taken out. When a sentence is whole, ``judge`` may add citations,
    which are put before its stop. With ``whole``, sentences come out one by one, and those for which ``judge`` says
    ``None`` do not come out. Like the repairer, it reads texts the same however they are cut into pieces.
    ``sentences`` are those that came out.
    """

    def __init__(self, judge: Judge, *, whole: bool = False) -> None:
        self.sentences: list[CitedSentence] = []
        self._judge, self._whole = judge, whole
        self._text = ""  # from the beginning of the current sentence
        self._shown = ""  # what came out of it
        self._from = 0  # up to where it is known to go on
        self._gap = ""  # the white space before it
        self._any = False
        self._stopped = False

    def stop(self) -> None:
        """Let nothing more through than the sentence that is being judged: ``judge`` may call it."""
        self._stopped = True

    def feed(self, piece: str) -> str:
        """What can come out, given one more piece of repaired text."""
        self._text += piece
        if self._stopped or not self._text.strip():
            return ""
        return self._finished(_REACH) + self._going_on()

    def close(self) -> str:
        """The rest, at the end of the text."""
        out = "" if self._stopped else self._finished(0)
        last = self._text.strip()
        self._text = ""
        return out + (self._end(last) if last and not self._stopped else "")

    def _finished(self, reach: int) -> str:
        """The ends of the sentences that are whole; ``reach`` characters must follow an end."""
        out = ""
        while (
            not self._stopped
            and (found := _CANDIDATE.search(self._text, self._from))
            and len(self._text) >= found.end() + reach
        ):
            window = self._text[: found.end() + _REACH]
            following = _CANDIDATE.search(window, found.end())
            limit = following.start() if following else len(window)
            ends = [span.end for span in sentence_spans(window)[:-1] if self._from <= span.end <= limit]
            if not ends or not ends[0]:
                self._from = found.end()
                continue
            sentence, rest = self._text[: ends[0]], self._text[ends[0] :]
            out += self._end(sentence)
            self._text = rest.lstrip()
            gap = rest[: len(rest) - len(self._text)]
            # Where a sentence was dropped, there are two.
            self._gap = max(self._gap, gap, key=lambda space: (space.count("\n"), len(space)))
        return out

    def _going_on(self) -> str:
        """What can be shown of the sentence that is being written."""
        if self._whole or self._stopped:
            return ""
        found = _CANDIDATE.search(self._text, self._from)
        safe = self._text[: found.start()] if found else self._text
        # What stands before a mark goes with it if it is taken out; a mark may not be whole yet.
        if safe.rfind("[") > safe.rfind("]"):
            safe = safe[: safe.rfind("[")]
        safe = _without_repeats(safe.rstrip())
        new, self._shown = safe[len(self._shown) :], safe if len(safe) > len(self._shown) else self._shown
        return self._with_gap(new)

    def _end(self, sentence: str) -> str:
        """What is left to show of a sentence that is whole."""
        sentence = _without_repeats(sentence)
        plain = _plain(sentence)
        more = self._judge(plain)
        shown, self._shown, self._from = self._shown, "", 0
        if more is None and self._whole:
            return ""
        new = [number for number in more or () if number not in plain.citations]
        if new:
            ending = _ENDING.search(sentence)
            place = max(ending.start() if ending else len(sentence), len(shown))
            space = "" if sentence[:place].endswith("]") else " "
            sentence = sentence[:place] + space + marks(new) + sentence[place:]
        self.sentences.append(CitedSentence(plain.text, (*plain.citations, *new)))
        return self._with_gap(sentence[len(shown) :])

    def _with_gap(self, text: str) -> str:
        """Text with the white space before it, which is left out before the first and after the last sentence."""
        if not text:
            return ""
        gap, self._gap = self._gap if self._any else "", ""
        self._any = True
        return gap + text


def cited_sentences(text: str) -> list[CitedSentence]:
    """The sentences of a text whose citations are in order, and what each cites."""
    stream = SentenceStream(lambda sentence: ())  # noqa: ARG005
    stream.feed(text)
    stream.close()
    return stream.sentences


def _without_repeats(sentence: str) -> str:
    seen: set[str] = set()

    def once(found: re.Match[str]) -> str:
        if found[1] in seen:
            return ""
        seen.add(found[1])
        return found[0]

    return _MARK.sub(once, sentence)


def _plain(sentence: str) -> CitedSentence:
    numbers = tuple(dict.fromkeys(int(number) for number in _MARK.findall(sentence)))
    return CitedSentence(_MARK.sub("", sentence).strip(), numbers)
