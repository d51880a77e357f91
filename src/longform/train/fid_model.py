"""Fusion-in-Decoder: passages are encoded one by one, and the decoder attends to all of them at once.

G. Izacard and E. Grave, "Leveraging Passage Retrieval with Generative Models for Open Domain Question Answering",
EACL 2021, section 3. The encoder's cost grows linearly with the number of passages; evidence is put together in the
decoder alone. Nothing of T5 changes but where its inputs are cut, so any checkpoint of the family will do.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from longform.errors import InputError, reason_of
from longform.train.fid_data import NONE, SEPARATOR, FidPassage, fid_input
from longform.train.running import needs

__all__ = ["FidReader", "fused", "open_fid"]


def open_fid(folder: str | Path) -> tuple[Any, Any]:
    """The model and the tokenizer of a T5-family folder, in 32 bits; pickled weights are never opened."""
    needs("A Fusion-in-Decoder reader")
    import torch
    import transformers

    folder = Path(folder)
    if not (folder / "config.json").is_file():
        raise InputError(f"{folder} is no model folder: it has no config.json.")
    try:
        config = transformers.AutoConfig.from_pretrained(str(folder), local_files_only=True, trust_remote_code=False)
        if config.model_type not in ("t5", "mt5"):
            raise InputError(f"{folder} is a {config.model_type} model: Fusion-in-Decoder reads with the T5 family.")
        kind = getattr(
            transformers, "T5ForConditionalGeneration" if config.model_type == "t5" else "MT5ForConditionalGeneration"
        )
        model = kind.from_pretrained(str(folder), local_files_only=True, use_safetensors=True, dtype=torch.float32)
        tokenizer = transformers.AutoTokenizer.from_pretrained(str(folder), local_files_only=True)
    except InputError:
        raise
    except Exception as error:
        raise InputError(f"{folder} cannot be opened as a T5 model by transformers: {reason_of(error)}.") from error
    return model, tokenizer


def fused(model: Any, input_ids: Any, attention_mask: Any) -> tuple[Any, Any]:
    """The encoder's states of all passages in a row, and the mask over them.

    ``input_ids`` has the shape (questions, passages, tokens); the states have (questions, passages · tokens, width).
    """
    from transformers.modeling_outputs import BaseModelOutput

    questions, passages, tokens = input_ids.shape
    flat = attention_mask.reshape(questions * passages, tokens)
    # A passage that only fills up a batch has no token at all, over which attention would be undefined.
    seen = flat.clone()
    seen[:, 0] = 1
    states = model.encoder(input_ids=input_ids.reshape(questions * passages, tokens), attention_mask=seen)[0]
    row = states.reshape(questions, passages * tokens, states.shape[-1])
    return BaseModelOutput(last_hidden_state=row), attention_mask.reshape(questions, passages * tokens)


class FidReader:
    """A trained Fusion-in-Decoder reader: from a question and passages to a list of answers.

    ``FidReader.load("my-fid").read("Who sang?", [FidPassage("", "Anna and Bert sang.")])`` gives ``["Anna", "Bert"]``.
    """

    def __init__(self, model: Any, tokenizer: Any, *, max_length: int, answer_length: int, name: str = "fid") -> None:
        self.model, self.tokenizer, self.name = model, tokenizer, name
        self.max_length, self.answer_length = max_length, answer_length

    @classmethod
    def load(cls, folder: str | Path) -> FidReader:
        """Open a folder that ``longform train fid`` wrote."""
        model, tokenizer = open_fid(folder)
        lengths = getattr(model.config, "fid", None) or {"max_length": 200, "answer_length": 200}
        return cls(model.eval(), tokenizer, **lengths, name=Path(folder).resolve().name)

    def encode(self, question: str, passages: Sequence[FidPassage]) -> Any:
        """The tokens of one question with each of its passages, padded to the longest."""
        texts = [fid_input(question, passage) for passage in passages]
        return self.tokenizer(texts, truncation=True, max_length=self.max_length, padding=True, return_tensors="pt")

    def read(self, question: str, passages: Sequence[FidPassage], *, beams: int = 1) -> list[str]:
        """The answers in the order in which the decoder writes them, none where it says that no passage answers."""
        import torch

        if not passages:
            return []
        found = self.encode(question, passages).to(self.model.device)
        with torch.inference_mode():
            states, mask = fused(self.model, found["input_ids"][None], found["attention_mask"][None])
            written = self.model.generate(
                encoder_outputs=states,
                attention_mask=mask,
                max_new_tokens=self.answer_length,
                num_beams=beams,
                do_sample=False,
            )
        text = self.tokenizer.decode(written[0], skip_special_tokens=True)
        return split_written(text)


def split_written(text: str) -> list[str]:
    """The answers in what the decoder wrote, each once.

    >>> split_written("Anna | Bert | Anna |"), split_written("not relevant")
    (['Anna', 'Bert'], [])
    """
    parts = dict.fromkeys(part.strip() for part in text.split(SEPARATOR.strip()))
    return [part for part in parts if part and part != NONE]
