"""The cross-encoder that is trained: how it is built from a base, what it reads, and how well it ranks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from longform.errors import InputError
from longform.train.reranker_data import Sample
from longform.train.reranker_settings import RerankerSettings

if TYPE_CHECKING:
    from longform.records import Passage

__all__ = ["average_precision", "build_model", "pair_texts", "torch_scores"]


def build_model(folder: Path, settings: RerankerSettings) -> Any:
    """A cross-encoder over a base model, with only the layers that are to be kept.

    From a re-ranker that an earlier training kept in torch its head is taken over too.
    """
    import torch
    from sentence_transformers import CrossEncoder
    from sentence_transformers.base.modules import Transformer

    from longform.train.similarity_head import SimilarityHead

    torch.manual_seed(settings.seed)
    limits = {"model_max_length": settings.max_length}
    if settings.head == "cls":
        model = CrossEncoder(str(folder), num_labels=1, max_length=settings.max_length, local_files_only=True)
    else:
        body = Transformer(str(folder), processor_kwargs=limits, model_kwargs={"use_safetensors": True})
        trained = folder / "1_SimilarityHead"
        head = SimilarityHead.load(str(trained)) if trained.is_dir() else SimilarityHead(body.model.config.hidden_size)
        model = CrossEncoder(modules=[body, head], device="cpu")
    model.max_seq_length = settings.max_length
    # The encoder's own tokenizer may leave out which of the two texts a token belongs to.
    model.tokenizer.model_input_names = ["input_ids", "token_type_ids", "attention_mask"]
    inner = model[0].model
    bert = getattr(inner, inner.base_model_prefix, inner)
    layers = getattr(getattr(bert, "encoder", None), "layer", None)
    if layers is None or not hasattr(bert.embeddings, "token_type_embeddings"):
        raise InputError(f"{folder} is no BERT-like model ({type(inner).__name__}): choose another base.")
    if settings.layers:
        if max(settings.layers) >= len(layers):
            raise InputError(
                f"{folder} has the layers 0 to {len(layers) - 1}; there is no layer {max(settings.layers)}."
            )
        bert.encoder.layer = torch.nn.ModuleList([layers[number] for number in settings.layers])
        inner.config.num_hidden_layers = len(settings.layers)
    if settings.head == "similarity":
        inner.config.num_labels = 1
    if settings.head == "similarity" and not (folder / "1_SimilarityHead").is_dir():
        # A sentence encoder has seen the first type only: the second starts as its equal.
        with torch.no_grad():
            bert.embeddings.token_type_embeddings.weight[1:] = bert.embeddings.token_type_embeddings.weight[:1]
    if not settings.train_embeddings:
        bert.embeddings.requires_grad_(False)
    return model


def pair_texts(
    rows: Sequence[tuple[str, Passage]], tokenizer: Any, settings: RerankerSettings
) -> list[tuple[str, str]]:
    """The two texts that the tokenizer makes ``[CLS] question [SEP] title [SEP] text [SEP]`` of."""
    from longform.models.heads import cut_texts

    inner = tokenizer.backend_tokenizer
    inner.no_truncation()
    inner.no_padding()
    questions = cut_texts(inner, [question for question, _ in rows], settings.question_tokens)
    titles = cut_texts(inner, [passage.title for _, passage in rows], settings.title_tokens)
    return [
        (question, f"{title} {tokenizer.sep_token} {passage.text}")
        for question, title, (_, passage) in zip(questions, titles, rows, strict=True)
    ]


def torch_scores(model: Any, rows: Sequence[tuple[str, Passage]], settings: RerankerSettings) -> list[float]:
    """The scores that the torch model gives to questions with passages."""
    from torch.nn import Identity

    texts = pair_texts(rows, model.tokenizer, settings)
    scores = model.predict(texts, batch_size=32, show_progress_bar=False, activation_fn=Identity())
    return [float(score) for score in np.asarray(scores).reshape(-1)]


def average_precision(
    samples: Sequence[Sample], score: Callable[[list[tuple[str, Passage]]], Sequence[float]]
) -> float:
    """The mean over questions of the average precision with which scores put the silver passages first; 0 to 1."""
    rows = [(group.question, passage) for group in samples for passage in group.passages]
    scores = np.asarray(score(rows)) if rows else np.zeros(0)
    values, start = [], 0
    for group in samples:
        here = scores[start : start + len(group.passages)]
        start += len(group.passages)
        labels = (np.asarray(group.labels) > 0)[np.argsort(-here, kind="stable")]
        precision = np.cumsum(labels) / np.arange(1, len(labels) + 1)
        values.append(float(precision[labels].mean()))
    return float(np.mean(values)) if values else 0.0
