"""A transformers folder that writes: a causal model on the CPU, token by token."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from longform.errors import InputError
from longform.models.language.protocol import Message
from longform.train.likelihood import CausalModel

__all__ = ["WriterModel"]

# A character may take several tokens: until it is whole, it decodes to this.
_HALF = "\ufffd"


@dataclass(frozen=True)
class WriterModel:
    """A language model in a transformers folder; it also tells how likely texts are.

    ``WriterModel.load("my-writer/")`` loads a folder with safetensors weights (or a GGUF file, unpacked to 32 bits).
    """

    name: str
    context: int
    causal: CausalModel = field(repr=False)

    @classmethod
    def load(cls, folder: str | Path, *, context: int | None = None, threads: int | None = None) -> WriterModel:
        """Load a folder; pickled weights are never opened, and code in the folder is never run."""
        for needed in ("torch", "transformers"):
            if find_spec(needed) is None:
                raise InputError(f"Running hf:{folder} needs {needed}: `pip install 'longform[train]'` installs it.")
        causal = CausalModel.load(folder)
        if threads is not None:
            causal._torch.set_num_threads(threads)
        return cls(f"hf:{folder}", min(context or causal.window, causal.window), causal)

    def count(self, text: str) -> int:
        """How many tokens a text is."""
        return len(self.causal._tokens(text))

    def log_likelihoods(self, prompts: Sequence[str], continuations: Sequence[str]) -> list[float]:
        """See :meth:`longform.train.likelihood.CausalModel.log_likelihoods`."""
        return self.causal.log_likelihoods(prompts, continuations)

    def generate(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int,
        temperature: float = 0.0,
        seed: int = 0,
        stop: Sequence[str] = (),
    ) -> Iterator[str]:
        """The answer in pieces."""
        prompt = self._prompt(messages)
        if len(prompt) >= self.context:
            raise InputError(
                f"The context of {self.name} ({self.context:,} tokens) is too small for this prompt of {len(prompt):,}"
                ": give fewer or shorter passages."
            )
        written, shown = [], 0
        reach = max((len(text) for text in stop), default=1) - 1
        for token in self._tokens(prompt, min(max_tokens, self.context - len(prompt)), temperature, seed):
            written.append(token)
            text = self.causal._tokenizer.decode(written, skip_special_tokens=True)
            ends = [place for place in (text.find(mark) for mark in stop if mark) if place >= 0]
            if ends:
                text = text[: min(ends)]
                break
            # What may be the beginning of a stop string is held back, and so is half a character.
            safe = len(text) - reach
            if safe > shown and not text.endswith(_HALF):
                yield text[shown:safe]
                shown = safe
        else:
            text = self.causal._tokenizer.decode(written, skip_special_tokens=True)
        if text[shown:]:
            yield text[shown:]

    def _prompt(self, messages: Sequence[Message]) -> list[int]:
        """The tokens of a conversation: in the model's own template, where it has one."""
        tokenizer = self.causal._tokenizer
        if not getattr(tokenizer, "chat_template", None):
            return self.causal._begun("\n\n".join(message.content for message in messages))
        text = tokenizer.apply_chat_template(
            [message.to_json() for message in messages],
            tokenize=False,
            add_generation_prompt=True,
            enable_thinking=False,
        )
        return self.causal._tokens(text)

    def _tokens(self, prompt: list[int], at_most: int, temperature: float, seed: int) -> Iterator[int]:
        """Token after token, until the model ends its answer."""
        torch, model = self.causal._torch, self.causal._model
        ends = _end_tokens(model, self.causal._tokenizer)
        generator = torch.Generator().manual_seed(seed)
        given, cache = prompt, None
        for _ in range(at_most):
            # Not around the whole loop: the mode is the thread's, and the caller's code runs in between.
            with torch.inference_mode():
                found = model(input_ids=torch.tensor([given]), past_key_values=cache, use_cache=True, logits_to_keep=1)
                logits, cache = found.logits[0, -1].double(), found.past_key_values
                if temperature > 0:
                    odds = torch.softmax(logits / temperature, dim=-1)
                    token = int(torch.multinomial(odds, 1, generator=generator))
                else:
                    token = int(logits.argmax())
            if token in ends:
                return
            yield token
            given = [token]


def _end_tokens(model: Any, tokenizer: Any) -> set[int]:
    """The tokens that end an answer: the model's settings may name several, the tokenizer one."""
    named = getattr(model.generation_config, "eos_token_id", None)
    found = set(named) if isinstance(named, list) else {named}
    return {token for token in (*found, tokenizer.eos_token_id) if isinstance(token, int)}
