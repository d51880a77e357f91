"""Running models: the encoder, the cross-encoder, the reader, the judge of entailment; the registry of weights."""

from __future__ import annotations

from longform.models.cross_encoder import CrossEncoder
from longform.models.encoder import Encoder
from longform.models.entailment import Entailment
from longform.models.reader import Reader, ReaderAnswer
from longform.models.registry import ModelEntry, ModelFiles, find_model, list_models

__all__ = [
    "CrossEncoder",
    "Encoder",
    "Entailment",
    "ModelEntry",
    "ModelFiles",
    "Reader",
    "ReaderAnswer",
    "find_model",
    "list_models",
]
