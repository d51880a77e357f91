"""A transformers folder as a language model; torch, which that takes, lives in :mod:`longform.train`."""

from __future__ import annotations

from pathlib import Path

from longform.models.language.protocol import LanguageModel

__all__ = ["open_folder"]


def open_folder(folder: str | Path, *, context: int | None = None, threads: int | None = None) -> LanguageModel:
    """The causal model in a folder with safetensors weights; needs ``longform[train]``.

    Slower than a GGUF file of the same model, but it also tells how likely a text is.
    """
    from longform.train.writer_model import WriterModel

    return WriterModel.load(folder, context=context, threads=threads)
