"""The training itself: low-rank additions to a causal model's weights, and the loss on the answers alone.

E. Hu et al., 2022, "LoRA: Low-Rank Adaptation of Large Language Models": every weight matrix W of the layers becomes
W + (alpha / rank) · B A, of which only A and B learn. For SmolLM2-135M with rank 16 these are 4.9 million numbers.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from math import ceil
from pathlib import Path
from typing import Any

from longform.errors import InputError, reason_of
from longform.train.generator_settings import GeneratorSettings
from longform.train.generator_tokens import IGNORED, Row, collate
from longform.train.running import Checkpoints, Report, TrainingStep, no_report, report_callback, train

__all__ = ["add_lora", "fit", "held_out_loss"]


def add_lora(model: Any, settings: GeneratorSettings, name: str) -> Any:
    """The model with additions to the weights of all its layers; the same seed draws the same ones."""
    import torch
    from peft import LoraConfig, get_peft_model

    torch.manual_seed(settings.seed)
    config = LoraConfig(
        task_type="CAUSAL_LM",
        r=settings.rank,
        lora_alpha=settings.alpha,
        lora_dropout=settings.dropout,
        # All linear layers but the last, which foretells.
        target_modules="all-linear",
    )
    try:
        return get_peft_model(model, config)
    except ValueError as error:
        raise InputError(f"{name} has no layers that can be fine-tuned: {reason_of(error)}.") from error


def held_out_loss(model: Any, rows: Sequence[Row], report: Report = no_report) -> float:
    """The mean negative log-likelihood (natural logarithm) of an answer's token, its end among them."""
    import torch

    was_training = model.training
    model.eval()
    total, tokens = 0.0, 0
    with torch.inference_mode():
        for done, row in enumerate(rows, 1):
            batch = {name: _placed(value, model) for name, value in _batch(model, [row]).items()}
            labels = batch.pop("labels")
            count = len(row.ids) - row.prompt
            total += float(_answer_loss(model(**batch), labels, count)) * count
            tokens += count
            report(TrainingStep("reading held-out answers", done, len(rows), None, None))
    model.train(was_training)
    return total / max(tokens, 1)


def fit(
    model: Any,
    rows: Sequence[Row],
    held: Sequence[Row],
    settings: GeneratorSettings,
    checkpoints: Checkpoints,
    checkpoint: str | None,
    report: Report,
) -> list[tuple[int, float]]:
    """Train, ending with the weights of the lowest held-out loss, or the last ones where nothing is held out.

    AdamW; its rate rises over the share ``warmup`` of the steps and falls linearly to zero. Returns steps and their
    held-out losses.
    """
    import torch
    from transformers import Trainer, TrainerCallback, TrainerState, TrainingArguments

    accumulated = settings.batch // settings.mini_batch
    steps = max(ceil(len(rows) / settings.batch * settings.epochs), 1)
    every = max(steps // settings.looks, 1)

    class WriterTrainer(Trainer):  # type: ignore[misc, unused-ignore]
        # The trainer's own mean is over batches: short answers would count more than long ones.
        def evaluate(self, *_: Any, **__: Any) -> dict[str, float]:
            metrics = {"eval_loss": held_out_loss(self.model, held)}
            self.log(metrics)
            self.control: Any = self.callback_handler.on_evaluate(self.args, self.state, self.control, metrics)
            return metrics

    class LastLook(TrainerCallback):  # type: ignore[misc, unused-ignore]
        # Looks are a whole number of steps apart, and the last step need not be one of them.
        def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:  # noqa: ARG002
            if state.global_step >= state.max_steps:
                control.should_evaluate, control.should_save = bool(held), True

    arguments = TrainingArguments(
        output_dir=str(checkpoints.folder),
        max_steps=steps,
        per_device_train_batch_size=settings.mini_batch,
        gradient_accumulation_steps=accumulated,
        learning_rate=settings.learning_rate,
        lr_scheduler_type="linear",
        warmup_steps=round(settings.warmup * steps),
        weight_decay=settings.weight_decay,
        max_grad_norm=1.0,
        seed=settings.seed,
        data_seed=settings.seed,
        use_cpu=not torch.cuda.is_available(),
        eval_strategy="steps" if held else "no",
        eval_steps=every,
        save_strategy="steps",
        save_steps=every,
        save_total_limit=2,
        load_best_model_at_end=bool(held),
        metric_for_best_model="eval_loss",
        greater_is_better=False,
        logging_steps=1,
        report_to="none",
        disable_tqdm=True,
        dataloader_pin_memory=False,
        remove_unused_columns=False,
    )
    trainer = WriterTrainer(
        model=model,
        args=arguments,
        train_dataset=list(rows),
        eval_dataset=list(held) or None,
        data_collator=lambda batch: _batch(model, batch),
        compute_loss_func=_answer_loss,
        callbacks=[LastLook(), report_callback(report, checkpoints)],
    )
    if checkpoint is not None and _steps_of(checkpoint) >= steps:
        # Killed behind the last step: the trainer would go one step further.
        trainer.state = TrainerState.load_from_json(str(Path(checkpoint) / "trainer_state.json"))
        best = trainer.state.best_model_checkpoint or checkpoint
        model.load_adapter(best, model.active_adapters[0])
    else:
        train(trainer, checkpoint)
    return [(row["step"], row["eval_loss"]) for row in trainer.state.log_history if "eval_loss" in row]


def _steps_of(checkpoint: str) -> int:
    return int(checkpoint.rpartition("-")[2])


def _answer_loss(outputs: Any, labels: Any, num_items_in_batch: Any = None) -> Any:
    """The cross-entropy of the answers' tokens, divided by how many there are in the whole step."""
    import torch

    logits = outputs.logits[:, :-1].float()
    wanted = labels[:, labels.shape[1] - logits.shape[1] :].to(logits.device)
    total = torch.nn.functional.cross_entropy(
        logits.reshape(-1, logits.shape[-1]), wanted.reshape(-1), ignore_index=IGNORED, reduction="sum"
    )
    return total / (num_items_in_batch if num_items_in_batch is not None else wanted.ne(IGNORED).sum())


def _batch(model: Any, rows: Sequence[Row]) -> dict[str, Any]:
    body = model.get_base_model() if hasattr(model, "get_base_model") else model
    keep = "logits_to_keep" in inspect.signature(body.forward).parameters
    return collate(rows, padding=0, keep=keep)


def _placed(value: Any, model: Any) -> Any:
    return value.to(model.device) if hasattr(value, "to") else value
