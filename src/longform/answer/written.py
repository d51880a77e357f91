"""Answers written by a language model: asked with a prompt, repaired while they come, and checked."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

from longform.answer.citations import CitationRepairer
from longform.answer.echoes import EchoFilter
from longform.answer.grounding import Entails, Grounding, total_groundedness
from longform.answer.prompts import STYLES, make_prompt
from longform.answer.protocol import finish
from longform.answer.sentences import CitedSentence, SentenceStream
from longform.errors import InputError
from longform.models.language.protocol import BrokenStreamError, LanguageModel
from longform.records import Answer, AnswerSentence, Hit
from longform.text import normalize_answer

__all__ = ["LanguageModelAnswerer"]

# An English word is 1.3 tokens, a citation three; an answer may be twice as long as it was asked for.
_TOKENS_PER_WORD = 3
_MORE_TOKENS = 64
# A sentence of so many words is not written twice by one who means it; small models go round in circles.
_LEAST_REPEATED = 5
_ENDS = tuple(".!?…。！？\"'”’»)")


class LanguageModelAnswerer:
    """Has a language model write the answer; it is an :class:`longform.answer.protocol.Answerer`.

    ``words`` is the length that the model is asked for, ``passages`` how many it is given; ``prompt`` and ``best_last``
    are those of :func:`longform.answer.prompts.make_prompt`. Sentences that cite nothing get the citations that support
    them. ``strict`` leaves out sentences that the passages do not support, by their words or, with ``entailment``, by
    that model's judgement.
    """

    def __init__(
        self,
        model: LanguageModel,
        *,
        words: int = 65,
        passages: int = 5,
        prompt: str = "instruct",
        best_last: bool = False,
        strict: bool = False,
        entailment: Entails | None = None,
        max_tokens: int | None = None,
        temperature: float = 0.0,
        seed: int = 0,
    ) -> None:
        if prompt not in STYLES:
            raise InputError(f"There is no prompt {prompt}: choose {' or '.join(STYLES)}.")
        for name, value in (("words", words), ("passages", passages), ("tokens", max_tokens or 1)):
            if value < 1:
                raise InputError(f"An answer needs at least one of its {name}, not {value}.")
        self.model = model
        self._words, self._passages, self._prompt, self._best_last = words, passages, prompt, best_last
        self._strict, self._entailment = strict, entailment
        self._max_tokens = max_tokens or words * _TOKENS_PER_WORD + _MORE_TOKENS
        self._temperature, self._seed = temperature, seed

    @property
    def name(self) -> str:
        """The model's name."""
        return self.model.name

    @property
    def wants(self) -> int:
        """How many passages the model is given."""
        return self._passages

    def answer(self, question: str, hits: Sequence[Hit]) -> Answer:
        """The whole answer at once."""
        return finish(self.stream(question, hits))

    def stream(self, question: str, hits: Sequence[Hit]) -> Iterator[str | Answer]:
        """Pieces of the answer's text as the model writes them, then the answer.

        A model that fails before its first word raises; one that fails later leaves an answer that is not complete.
        """
        if not hits:
            yield Answer(question, "", (), (), self.name, 0.0, answered=False, warnings=("No passages were found.",))
            return
        begun = time.perf_counter()
        prompt = make_prompt(
            question,
            list(hits)[: self._passages],
            count=self.model.count,
            context=self.model.context,
            max_tokens=self._max_tokens,
            model=self.name,
            style=self._prompt,
            words=self._words,
            best_last=self._best_last,
        )
        seconds = {"prompt": time.perf_counter() - begun}
        begun = time.perf_counter()
        writing = _Writing(Grounding(prompt.hits, entails=self._entailment), len(prompt.hits), self._strict)
        pieces = self.model.generate(
            prompt.messages,
            max_tokens=self._max_tokens,
            temperature=self._temperature,
            seed=self._seed,
            stop=prompt.stop,
        )
        shown: list[str] = []
        for piece in writing.repaired(pieces):
            shown.append(piece)
            yield piece
        if writing.circles:
            # Nobody listens any more: the model must not go on in the background.
            getattr(pieces, "close", lambda: None)()
        cut_off = writing.broken is None and not writing.circles and self._is_cut_off(writing.raw)
        too_few = (f"The answer breaks off: {self._max_tokens:,} tokens were too few for it.",) if cut_off else ()
        seconds["write"] = time.perf_counter() - begun
        yield Answer(
            question=question,
            text="".join(shown),
            sentences=tuple(writing.sentences),
            passages=prompt.hits,
            model=self.name,
            groundedness=total_groundedness(writing.sentences),
            answered=bool(writing.sentences),
            complete=writing.broken is None and not cut_off,
            warnings=(*prompt.warnings, *too_few, *writing.warnings()),
            seconds=seconds,
        )

    def _is_cut_off(self, raw: str) -> bool:
        """Whether the model came to its limit in the middle of a sentence."""
        text = raw.rstrip().rstrip("]")
        return not text.endswith(_ENDS) and self.model.count(raw) >= 0.9 * self._max_tokens


class _Writing:
    """One answer while it is written: ``raw`` is what the model wrote, ``sentences`` what came of it."""

    def __init__(self, grounding: Grounding, passages: int, strict: bool) -> None:
        self.raw = ""
        self.sentences: list[AnswerSentence] = []
        self.broken: BrokenStreamError | None = None
        self.circles = False
        self._said: set[str] = set()
        self._dropped = 0
        self._grounding, self._strict = grounding, strict
        self._echoes = EchoFilter()
        self._repairer = CitationRepairer(passages)
        self._stream = SentenceStream(self._judge, whole=strict)

    def repaired(self, pieces: Iterator[str]) -> Iterator[str]:
        """The text that may be shown, in pieces."""
        try:
            for piece in pieces:
                self.raw += piece
                if shown := self._stream.feed(self._repairer.feed(self._echoes.feed(piece))):
                    yield shown
                if self.circles:
                    break
        except BrokenStreamError as error:
            self.broken = error
        rest = self._repairer.feed(self._echoes.close()) + self._repairer.close()
        if shown := self._stream.feed(rest) + self._stream.close():
            yield shown

    def _judge(self, sentence: CitedSentence) -> Sequence[int] | None:
        words = normalize_answer(sentence.text)
        if words in self._said and len(words.split()) >= _LEAST_REPEATED:
            self.circles = True
            self._stream.stop()
        self._said.add(words)
        added = () if sentence.citations else self._grounding.citations_for(sentence.text)
        found = self._grounding.judged(CitedSentence(sentence.text, sentence.citations or added))
        if self._strict and not found.supported:
            self._dropped += 1
            return None
        self.sentences.append(found)
        return added

    def warnings(self) -> Iterator[str]:
        """What a reader should know of how the answer came about."""
        if self.broken is not None:
            yield f"The answer is not complete. {self.broken}"
        elif self.circles:
            yield "The model began to repeat itself, and was stopped there."
        elif not self.raw.strip():
            yield "The model wrote nothing."
        elif not self.sentences and not self._dropped:
            yield "The model wrote nothing but citations."
        wrong = list(dict.fromkeys(self._repairer.wrong))
        if wrong:
            numbers = ", ".join(f"[{number}]" for number in wrong[:5]) + (" and more" if len(wrong) > 5 else "")
            yield f"Citations of passages that the model was not given were taken out: {numbers}."
        if self._dropped:
            yield f"Left out, as the passages do not support it: {_sentences(self._dropped)}."
        unsupported = sum(not sentence.supported for sentence in self.sentences)
        if unsupported:
            yield f"Not supported by the passages: {_sentences(unsupported)}."


def _sentences(count: int) -> str:
    return "1 sentence" if count == 1 else f"{count} sentences"
