"""The contrastive training of an encoder: every question close to its long answer, far from the others of its batch.

Krishna et al., 2021, *Hurdles to Progress in Long-form Question Answering*, section 2.1 (C-REALM): the loss is the
cross-entropy of the right answer among all answers of the batch. The paper multiplies vectors as they are; here they
have length one, and their cosine is multiplied by ``scale`` (1 / temperature). Large batches fit into memory because
vectors are computed twice, in small parts: once without gradients, for the loss, and once with them (Gao et al., 2021,
*Scaling Deep Contrastive Learning Batch Size under Memory Limited Setup*, https://arxiv.org/abs/2101.06983).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from longform.errors import InputError, reason_of
from longform.models.encoder_settings import EncoderSettings, read_settings
from longform.train.pairs import Pair
from longform.train.retrieval_check import RetrievalCheck, RetrievalScores
from longform.train.retriever_settings import RetrieverSettings
from longform.train.running import Checkpoints, Report, report_callback, train

__all__ = ["encode_with", "encoder_model", "encoder_settings", "fit", "scores_of"]


def encoder_settings(folder: Path) -> EncoderSettings:
    """What a base folder says of length, pooling and prompts; in the oldest layout it stands one folder above."""
    return read_settings(folder.parent if folder.name == "0_Transformer" else folder)


def encoder_model(folder: Path, settings: RetrieverSettings) -> Any:
    """A base folder as a sentence-transformers model: a transformer, pooling, and vectors of length one."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.base.modules import Normalize, Transformer
    from sentence_transformers.sentence_transformer.modules import Pooling

    torch.manual_seed(settings.seed)
    described = encoder_settings(folder)
    try:
        body = Transformer(
            str(folder),
            max_seq_length=described.max_length,
            model_kwargs={"use_safetensors": True, "local_files_only": True, "dtype": torch.float32},
            processor_kwargs={"local_files_only": True},
            config_kwargs={"local_files_only": True},
        )
    except (OSError, ValueError, KeyError) as error:
        raise InputError(f"{folder} cannot be opened by transformers: {reason_of(error)}.") from error
    positions = getattr(body.model.config, "max_position_embeddings", None)
    if positions is not None and settings.max_length > positions:
        raise InputError(f"{folder} has {positions} positions: set --max-length to {positions} or less.")
    modules = [body, Pooling(int(body.model.config.hidden_size), described.pooling)]
    prompts = {"query": described.question_prompt, "document": described.passage_prompt}
    model = SentenceTransformer(
        modules=modules + ([Normalize()] if described.normalise else []),
        device="cuda" if torch.cuda.is_available() else "cpu",
        prompts={name: prompt for name, prompt in prompts.items() if prompt} or None,
        similarity_fn_name="cosine" if described.normalise else "dot",
    )
    # The library would encode examples for a card of its own, which is not wanted.
    model.model_card_data.set_widget_examples = lambda _: None
    if not settings.train_embeddings:
        # Half of a small model's weights: without them a step needs half the memory, and words that the training
        # questions do not have keep the meaning that they share with those that they do have.
        body.model.get_input_embeddings().requires_grad_(False)
    return model


def encode_with(model: Any, described: EncoderSettings, prompt: str, length: int) -> Callable[[list[str]], Any]:
    """A function from texts to the torch model's vectors, as :class:`longform.models.Encoder` prepares texts."""

    def encode(texts: list[str]) -> NDArray[np.float32]:
        before, model.max_seq_length = model.max_seq_length, length
        try:
            vectors = model.encode(
                _prepared(texts, prompt, described), batch_size=16, show_progress_bar=False, prompt=""
            )
        finally:
            model.max_seq_length = before
        return np.asarray(vectors, dtype=np.float32)

    return encode


def scores_of(model: Any, check: RetrievalCheck, described: EncoderSettings, length: int) -> RetrievalScores:
    """How well the torch model finds held-out answers, with texts cut at ``length`` tokens."""
    return check.scores(
        encode_with(model, described, described.question_prompt, length),
        encode_with(model, described, described.passage_prompt, length),
    )


def fit(
    model: Any,
    described: EncoderSettings,
    pairs: Sequence[Pair],
    check: RetrievalCheck,
    settings: RetrieverSettings,
    checkpoints: Checkpoints,
    record: dict[str, Any],
    report: Report,
    stage: str = "training",
) -> float:
    """Train ``model`` in place and return the last step's loss; of several looks the best by MRR is kept."""
    import torch
    from datasets import Dataset
    from sentence_transformers import SentenceTransformerTrainer, SentenceTransformerTrainingArguments
    from sentence_transformers.sentence_transformer.evaluation import SentenceEvaluator
    from sentence_transformers.sentence_transformer.losses import (
        CachedMultipleNegativesRankingLoss,
        MultipleNegativesRankingLoss,
    )
    from sentence_transformers.util import cos_sim, dot_score

    checkpoint = checkpoints.last(record)
    batch = min(settings.batch, len(pairs))
    steps = max(round(-(-len(pairs) // batch) * settings.epochs), 1)
    every = max(steps // settings.looks, 1)
    data = Dataset.from_dict(
        {
            "question": _prepared([pair.question for pair in pairs], described.question_prompt, described),
            "answer": _prepared([pair.answer for pair in pairs], described.passage_prompt, described),
        }
    )
    options: dict[str, Any] = {
        "scale": settings.scale if described.normalise else 1.0,
        "similarity_fct": cos_sim if described.normalise else dot_score,
    }
    loss = (
        CachedMultipleNegativesRankingLoss(model, mini_batch_size=settings.mini_batch, **options)
        if batch > settings.mini_batch
        # One part is the whole batch: no need to compute its vectors twice.
        else MultipleNegativesRankingLoss(model, **options)
    )

    class Trainer(SentenceTransformerTrainer):  # type: ignore[misc, unused-ignore]
        # By the trainer and not by its arguments, which are pickled into every checkpoint.
        def get_batch_sampler(self, dataset: Any, *_: Any, **options: Any) -> Any:  # noqa: ARG002
            return _batches(pairs, **options)

    class Look(SentenceEvaluator):  # type: ignore[misc, unused-ignore]
        def __init__(self) -> None:
            super().__init__()  # type: ignore[no-untyped-call, unused-ignore]
            self.primary_metric = "mrr"

        def __call__(self, model: Any, *_: Any, **__: Any) -> dict[str, float]:
            return {"mrr": scores_of(model, check, described, settings.max_length).mrr}

    arguments = SentenceTransformerTrainingArguments(
        output_dir=str(checkpoints.folder),
        max_steps=steps,
        per_device_train_batch_size=batch,
        learning_rate=settings.learning_rate,
        weight_decay=settings.weight_decay,
        warmup_steps=round(settings.warmup * steps),
        seed=settings.seed,
        data_seed=settings.seed,
        use_cpu=not torch.cuda.is_available(),
        eval_strategy="steps" if len(check) else "no",
        eval_steps=every,
        save_strategy="steps",
        save_steps=every,
        save_total_limit=2,
        load_best_model_at_end=bool(len(check)),
        metric_for_best_model="eval_mrr",
        greater_is_better=True,
        logging_steps=1,
        report_to="none",
        disable_tqdm=True,
        dataloader_pin_memory=False,
    )
    before, model.max_seq_length = model.max_seq_length, settings.max_length
    trainer = Trainer(
        model=model,
        args=arguments,
        train_dataset=data,
        loss=loss,
        evaluator=Look() if len(check) else None,
        callbacks=[report_callback(report, checkpoints, stage)],
    )
    train(trainer, checkpoint)
    model.max_seq_length = before
    return float(next((row["loss"] for row in reversed(trainer.state.log_history) if "loss" in row), float("nan")))


def _prepared(texts: Sequence[str], prompt: str, described: EncoderSettings) -> list[str]:
    return [(prompt + text).lower() if described.lowercase else prompt + text for text in texts]


def _batches(pairs: Sequence[Pair], **options: Any) -> Any:
    """Batches in which no two pairs share a question's words or an answer, sorted by the answers' length.

    Sorted, the small parts into which gradient caching cuts a batch hold answers of one length, and little is padded;
    the loss does not depend on the order.
    """
    from datasets import Dataset
    from sentence_transformers.base.sampler import NoDuplicatesBatchSampler

    keys = Dataset.from_list([dict(zip(("question", "answer"), pair.keys, strict=True)) for pair in pairs])
    lengths = [len(pair.answer) for pair in pairs]

    class Batches(NoDuplicatesBatchSampler):  # type: ignore[misc, unused-ignore]
        def __iter__(self) -> Iterator[list[int]]:
            for rows in super().__iter__():
                yield sorted(rows, key=lambda row: (lengths[row], row))

    return Batches(keys, **options)
