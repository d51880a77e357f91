"""How likely a language model finds a text: the log-likelihood of a continuation after a prompt, with transformers.

Prompts that begin alike, as those of one question do, are read once up to where they part: with five passages in each
prompt, of which only the last is exchanged, 100 prompts take 0.36 of the tokens that they would one by one.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path
from typing import Any

from longform.errors import InputError, reason_of
from longform.train.export import _weights_of
from longform.train.quiet import quiet_libraries

__all__ = ["CausalModel"]

# Tokens that run together, beside what they share: the scores of 50,000 possible next tokens take 200 MB then.
_BATCH_TOKENS = 1024
_LONGEST = 8192


@dataclass(frozen=True)
class CausalModel:
    """A causal language model on the CPU, in 32 bits."""

    name: str
    """What it was loaded by."""
    window: int
    """How many tokens it reads at once."""
    _model: Any = field(repr=False)
    _tokenizer: Any = field(repr=False)
    _torch: Any = field(repr=False)

    @classmethod
    def load(cls, name_or_path: str | Path) -> CausalModel:
        """Load a transformers folder with safetensors weights, a GGUF file, or ``owner/name`` of the hub.

        Pickled weights are never opened, and code in the folder is never run. ``CausalModel.load("smollm2-135m.gguf")``
        unpacks the weights of a GGUF file to 32 bits.
        """
        torch, transformers = _imports()
        name = str(name_or_path)
        place, options = _place(name)
        with quiet_libraries(transformers):
            try:
                tokenizer = transformers.AutoTokenizer.from_pretrained(place, trust_remote_code=False, **options)
                model, info = transformers.AutoModelForCausalLM.from_pretrained(
                    place,
                    trust_remote_code=False,
                    use_safetensors=True,
                    dtype=torch.float32,
                    output_loading_info=True,
                    **options,
                )
            except Exception as error:  # of many kinds: the tokenizers library raises the bare class
                raise InputError(f"The language model {name} cannot be loaded: {reason_of(error)}.") from error
        if info["missing_keys"]:
            raise InputError(f"{name} is no language model: it has no weights for {min(info['missing_keys'])}.")
        model.eval()
        found = cls(name, _window(model.config, tokenizer), model, tokenizer, torch)
        found._check()
        return found

    def log_likelihoods(self, prompts: Sequence[str], continuations: Sequence[str]) -> list[float]:
        """For every prompt the natural logarithm of the probability that its continuation follows it.

        Where a prompt and its continuation are longer than the window, prompts lose their beginnings, all the same
        number of tokens, so that they still begin alike; a continuation is cut to half of the window.
        """
        if len(prompts) != len(continuations):
            raise ValueError(f"{len(prompts)} prompts cannot have {len(continuations)} continuations.")
        if not prompts:
            return []
        after = [self._tokens(text)[: self.window // 2] for text in continuations]
        before = self._cut([self._begun(text) for text in prompts], max(map(len, after)))
        shared = _shared(before) if len(before) > 1 else 0
        items = [(place, ids[shared:], after[place]) for place, ids in enumerate(before)]
        scores = [0.0] * len(items)
        with self._torch.inference_mode():
            cache = self._read(before[0][:shared]) if shared else None
            for batch in _batches(items):
                found = self._batch([item[1] for item in batch], [item[2] for item in batch], shared, cache)
                for item, score in zip(batch, found, strict=True):
                    scores[item[0]] = score
        return scores

    def _tokens(self, text: str) -> list[int]:
        ids: list[int] = self._tokenizer(text, add_special_tokens=False)["input_ids"]
        return ids

    def _begun(self, prompt: str) -> list[int]:
        """The tokens of a prompt, with the mark that begins a text where the tokenizer sets one; never none."""
        ids: list[int] = self._tokenizer(prompt)["input_ids"]
        end = self._tokenizer.eos_token_id
        # The prompt goes on: a mark that ends a text has no place behind it.
        while ids and ids[-1] == end:
            ids = ids[:-1]
        return ids or [end or 0]

    def _cut(self, prompts: list[list[int]], room: int) -> list[list[int]]:
        surplus = max(max(map(len, prompts)) + room - self.window, 0)
        return [ids[min(surplus, len(ids) - 1) :] for ids in prompts]

    def _read(self, ids: list[int]) -> Any:
        """What the model remembers of the tokens that all prompts begin with."""
        return self._model(input_ids=self._torch.tensor([ids]), use_cache=True, logits_to_keep=1).past_key_values

    def _batch(self, prompts: list[list[int]], after: list[list[int]], shared: int, cache: Any) -> list[float]:
        torch = self._torch
        width = max(len(prompt) + len(ids) for prompt, ids in zip(prompts, after, strict=True))
        tokens = torch.zeros((len(prompts), width), dtype=torch.long)
        # What is padded stands behind what counts, where a causal model does not look.
        mask = torch.zeros((len(prompts), shared + width), dtype=torch.long)
        for row, (prompt, ids) in enumerate(zip(prompts, after, strict=True)):
            tokens[row, : len(prompt) + len(ids)] = torch.tensor(prompt + ids)
            mask[row, : shared + len(prompt) + len(ids)] = 1
        given = {}
        if cache is not None:
            cache = copy.deepcopy(cache)
            cache.batch_repeat_interleave(len(prompts))
            given["past_key_values"] = cache
        logits = self._model(input_ids=tokens, attention_mask=mask, **given).logits
        scores = []
        for row, (prompt, ids) in enumerate(zip(prompts, after, strict=True)):
            # The token at a place is foretold at the place before it.
            told = torch.log_softmax(logits[row, len(prompt) - 1 : len(prompt) + len(ids) - 1].double(), dim=-1)
            scores.append(float(told.gather(1, torch.tensor(ids, dtype=torch.long)[:, None]).sum()))
        return scores

    def _check(self) -> None:
        """Refuse a model that looks ahead, as BERT and its kin do: it has seen the answer that it is to foretell."""
        torch = self._torch
        with torch.inference_mode():
            first, second = (self._model(input_ids=torch.tensor([[1, 2, last]])).logits[0, 1] for last in (3, 4))
        if not torch.allclose(first, second, atol=1e-4):
            raise InputError(f"{self.name} is no causal language model: it sees the words that are to come.")


def _imports() -> tuple[Any, Any]:
    try:
        import torch
        import transformers
    except ImportError as error:
        raise InputError(
            f"A language model for perplexity needs {error.name}: `pip install 'longform[train]'` installs it."
        ) from error
    return torch, transformers


def _place(name: str) -> tuple[str, dict[str, Any]]:
    """What transformers loads a model from, and the options for it."""
    path = Path(name).expanduser()
    if path.is_dir():
        _weights_of(path)  # says what is missing
        return str(path), {"local_files_only": True}
    if path.is_file():
        if path.suffix.lower() != ".gguf":
            raise InputError(f"{name} is not a GGUF file: give one, a transformers folder, or a hub name.")
        return str(path.parent), {"gguf_file": path.name, "local_files_only": True}
    if path.suffix.lower() == ".gguf" or name.count("/") != 1 or name.startswith((".", "/", "~")):
        raise InputError(
            f"There is no language model {name}: give a transformers folder, a GGUF file, or owner/name of the hub."
        )
    return name, {}


def _window(config: Any, tokenizer: Any) -> int:
    """The number of tokens that the model reads at once."""
    sizes = [getattr(config, "max_position_embeddings", None), getattr(tokenizer, "model_max_length", None), _LONGEST]
    return min(size for size in sizes if isinstance(size, int) and size > 1)


def _shared(prompts: Sequence[Sequence[int]]) -> int:
    """How many tokens all begin with; one less where that would leave one with none.

    >>> _shared([[1, 2, 3], [1, 2, 4, 5]]), _shared([[1, 2], [1, 2, 3]])
    (2, 1)
    """
    alike = sum(1 for _ in takewhile(lambda column: len(set(column)) == 1, zip(*prompts, strict=False)))
    return min(alike, min(map(len, prompts)) - 1)


_Item = tuple[int, list[int], list[int]]


def _batches(items: Sequence[_Item]) -> Iterator[list[_Item]]:
    """Items of like length together, up to so many tokens with their padding."""
    batch: list[_Item] = []
    for item in sorted(items, key=lambda item: -len(item[1]) - len(item[2])):
        longest = len((batch or [item])[0][1]) + len((batch or [item])[0][2])
        if batch and longest * (len(batch) + 1) > _BATCH_TOKENS:
            yield batch
            batch = []
        batch.append(item)
    if batch:
        yield batch
