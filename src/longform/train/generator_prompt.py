"""What a writer learns: the run-time's own prompt, in the model's chat template, and behind it the answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from longform.answer.citations import repaired
from longform.answer.grounding import Grounding
from longform.answer.prompts import make_prompt
from longform.answer.sentences import SentenceStream
from longform.errors import InputError
from longform.models.language.protocol import Message
from longform.records import Hit
from longform.train.generator_settings import GeneratorSettings
from longform.train.generator_tokens import Prompter, Text
from longform.train.likelihood import CausalModel
from longform.train.writer_model import _end_tokens

__all__ = ["cited", "prompter_of", "without_citations"]

# Cutting is not the prompt's matter here: all passages are kept, each a little shorter.
_ENDLESS = 1 << 40

# The prompt asks for about so many words: the answer's own number, to the next multiple of this.
_WORDS = 5


def prompter_of(settings: GeneratorSettings, writer: CausalModel) -> Prompter:
    """Makes the texts of an example, for a model."""
    tokenizer = writer._tokenizer
    ends = _end_tokens(writer._model, tokenizer)
    if tokenizer.eos_token is None:
        raise InputError(f"{writer.name} has no token that ends a text, and would never stop writing: name another.")

    def make(question: str, hits: Sequence[Hit], answer: str) -> Text:
        answer = without_citations(answer)
        words = max(round(len(answer.split()) / _WORDS), 1) * _WORDS
        asked = make_prompt(
            question,
            hits,
            count=len,
            context=_ENDLESS,
            max_tokens=0,
            style=settings.prompt,
            words=words,
            best_last=settings.best_last,
        ).messages
        answer = cited(answer, hits) if settings.cites else answer
        if not getattr(tokenizer, "chat_template", None):
            before = "\n\n".join(message.content for message in asked)
            return Text(before, answer, tokenizer.eos_token, special=True)
        before = _rendered(tokenizer, asked, more=True)
        whole = _rendered(tokenizer, [*asked, Message("assistant", answer)], more=False)
        # The template's own end of a turn, where the run-time stops at it.
        end = whole[len(before + answer) :].strip() if whole.startswith(before + answer) else ""
        first = tokenizer(end, add_special_tokens=False)["input_ids"][:1]
        return Text(before, answer, end if first and first[0] in ends else tokenizer.eos_token, special=False)

    return make


def _rendered(tokenizer: Any, messages: Sequence[Message], *, more: bool) -> str:
    return str(
        tokenizer.apply_chat_template(
            [message.to_json() for message in messages],
            tokenize=False,
            add_generation_prompt=more,
            enable_thinking=False,
        )
    )


def without_citations(answer: str) -> str:
    """An answer without the marks of the page that it was taken from, which cite nothing here.

    >>> without_citations("It rained.[12] It stopped [citation needed].")
    'It rained. It stopped.'
    """
    return "".join(repaired([answer], 0))


def cited(answer: str, hits: Sequence[Hit]) -> str:
    """An answer with the citations that the run-time would add: a sentence cites the passage that holds its words.

    >>> from longform.records import Passage
    >>> rain = Hit(Passage("a", "a", "Rome", "It rained in Rome.", 0, 18), 1, 1.0)
    >>> cited("It rained in Rome. The sun shone on Oslo.", [rain])
    'It rained in Rome [1]. The sun shone on Oslo.'
    """
    grounding = Grounding(hits)
    stream = SentenceStream(lambda sentence: grounding.citations_for(sentence.text))
    return stream.feed(answer) + stream.close()
