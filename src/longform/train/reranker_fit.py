"""The training itself: labels, losses and sentence-transformers' trainer."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from longform.progress import Progress, no_progress
from longform.records import Passage
from longform.train.reranker_data import Sample
from longform.train.reranker_model import average_precision, pair_texts, torch_scores
from longform.train.reranker_settings import RerankerSettings
from longform.train.running import Checkpoints, Report, report_callback, train

__all__ = ["Teacher", "fit", "labels_of", "open_teacher"]

# Of the names of a model's parameters, those of the similarity head.
HEAD_PARAMETERS = r"(.*\.)?1\.(dense\.|out\.|scale$|bias$)"

# What stands for "silver" in the list loss: so far above 0 that the silver passages share the whole target. Graded ones
# share it by their weights: two with 1 and 0.3 have 0.88 and 0.03 of it, six others 0.016 each.
SILVER_LABEL, GRADED_LABEL = 10.0, 4.0


class Teacher(Protocol):
    """What scores the passages of a question: a cross-encoder, or the similarity of an encoder's vectors."""

    def score(self, question: str, passages: Sequence[Passage]) -> Sequence[float] | NDArray[Any]: ...


def open_teacher(name: str, index: str | Path | None = None) -> Teacher:
    """A teacher by its name: ``similarity`` is the encoder's, any other a re-ranker.

    The vectors of an ``index`` that has some are used, and its encoder; else the shipped one encodes.
    """
    if name != "similarity":
        from longform.models.cross_encoder import CrossEncoder

        return CrossEncoder.load(name)
    from longform.models import Encoder
    from longform.rerank import SimilarityReranker
    from longform.retrieve import Index

    opened = None if index is None else Index.open(index)
    if opened is None or opened.manifest.dense is None:
        return SimilarityReranker(Encoder.load())
    return SimilarityReranker(opened.encoder, opened)


def labels_of(
    samples: Sequence[Sample],
    settings: RerankerSettings,
    teachers: Sequence[Teacher] = (),
    progress: Progress = no_progress,
) -> list[list[float]]:
    """What the loss is to come to for every passage of every sample.

    Without teachers the labels, scaled for the list loss. With them the mean of their scores, each first brought to
    mean 0 and deviation 1 over the passages of the question, so that none outweighs the others by its scale; a silver
    passage gets ``teacher_lift`` times its weight on top.
    """
    if not teachers:
        top = (GRADED_LABEL if settings.graded else SILVER_LABEL) if settings.loss == "list" else 1.0
        return [[top * label for label in row.labels] for row in samples]
    labels = []
    for done, row in enumerate(samples, 1):
        taught = np.mean([_standard(teacher.score(row.question, row.passages)) for teacher in teachers], axis=0)
        labels.append((taught + settings.teacher_lift * np.asarray(row.labels)).tolist())
        progress("asking the teachers", done, len(samples))
    return labels


def _standard(scores: Sequence[float] | NDArray[Any]) -> NDArray[np.float64]:
    values = np.asarray(scores, dtype=np.float64)
    centred: NDArray[np.float64] = values - values.mean()
    deviation = float(values.std())
    return centred / deviation if deviation > 1e-9 else centred


def fit(
    model: Any,
    samples: Sequence[Sample],
    labels: Sequence[Sequence[float]],
    looked_at: Sequence[Sample],
    settings: RerankerSettings,
    checkpoints: Checkpoints,
    record: dict[str, Any],
    report: Report,
) -> None:
    import torch
    from datasets import Dataset
    from sentence_transformers.cross_encoder import CrossEncoderTrainer, CrossEncoderTrainingArguments
    from sentence_transformers.cross_encoder.losses import BinaryCrossEntropyLoss, ListNetLoss
    from sentence_transformers.sentence_transformer.evaluation import SentenceEvaluator

    checkpoint = checkpoints.last(record)
    texts = [
        pair_texts([(row.question, passage) for passage in row.passages], model.tokenizer, settings) for row in samples
    ]
    if settings.loss == "list":
        data = Dataset.from_dict(
            {
                "query": [pairs[0][0] for pairs in texts],
                "docs": [[text for _, text in pairs] for pairs in texts],
                "labels": [list(row) for row in labels],
            }
        )
        loss: Any = ListNetLoss(model, mini_batch_size=-1)
    else:
        flat = [(*pair, label) for pairs, row in zip(texts, labels, strict=True) for pair, label in zip(pairs, row)]  # noqa: B905
        data = Dataset.from_dict(
            {name: [row[column] for row in flat] for column, name in enumerate(("query", "response", "label"))}
        )
        loss = BinaryCrossEntropyLoss(model)
    steps = max(-(-len(data) // settings.batch), 1)
    every = max(steps // settings.looks, 1)

    class Looks(SentenceEvaluator):  # type: ignore[misc, unused-ignore]
        def __init__(self) -> None:
            super().__init__()
            self.primary_metric = "average_precision"

        def __call__(self, model: Any, *_: Any, **__: Any) -> dict[str, float]:
            return {"average_precision": average_precision(looked_at, lambda rows: torch_scores(model, rows, settings))}

    arguments = CrossEncoderTrainingArguments(
        output_dir=str(checkpoints.folder),
        num_train_epochs=1,
        per_device_train_batch_size=settings.batch,
        learning_rate=settings.learning_rate,
        # A fresh head learns faster than a trained body.
        learning_rate_mapping={HEAD_PARAMETERS: 5 * settings.learning_rate} if settings.head == "similarity" else {},
        weight_decay=settings.weight_decay,
        warmup_steps=max(round(settings.warmup * steps), 1),
        seed=settings.seed,
        data_seed=settings.seed,
        use_cpu=not torch.cuda.is_available(),
        eval_strategy="steps" if looked_at else "no",
        eval_steps=every,
        save_strategy="steps",
        save_steps=every,
        save_total_limit=2,
        load_best_model_at_end=bool(looked_at),
        metric_for_best_model="eval_average_precision",
        greater_is_better=True,
        logging_steps=10,
        report_to="none",
        disable_tqdm=True,
        dataloader_pin_memory=False,
    )
    trainer = CrossEncoderTrainer(
        model=model,
        args=arguments,
        train_dataset=data,
        loss=loss,
        evaluator=Looks() if looked_at else None,
        callbacks=[report_callback(report, checkpoints)],
    )
    train(trainer, checkpoint)
