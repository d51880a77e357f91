"""Running models: the dense encoder, and the registry that finds weights and checks them."""

from __future__ import annotations

from longform.models.encoder import Encoder
from longform.models.registry import ModelEntry, ModelFiles, find_model, list_models

__all__ = ["Encoder", "ModelEntry", "ModelFiles", "find_model", "list_models"]
