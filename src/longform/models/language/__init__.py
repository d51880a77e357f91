"""Language models behind one protocol: a GGUF file in this process, any OpenAI-compatible endpoint, a folder."""

from __future__ import annotations

from longform.models.language.names import language_fingerprint, open_language_model
from longform.models.language.protocol import BrokenStreamError, LanguageModel, Message

__all__ = ["BrokenStreamError", "LanguageModel", "Message", "language_fingerprint", "open_language_model"]
