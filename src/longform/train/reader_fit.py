"""Fine-tuning a transformer to find answers: transformers' own trainer, and what it needs around it."""

from __future__ import annotations

import inspect
import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import Any

from longform.errors import InputError, reason_of
from longform.files import atomic_write
from longform.train.reader_windows import by_length, collate
from longform.train.running import Checkpoints, Report, report_callback, train

__all__ = ["Body", "Fit", "best_checkpoint", "fit", "open_body"]


# What the families call the dropout of attention. Without it torch's fused attention runs on a CPU too: 5.7 windows of
# 176 tokens a second on one core where it is 4.7 with it. The dropout of everything else stays.
ATTENTION_DROPOUT = ("attention_probs_dropout_prob", "attention_dropout")


@dataclass(frozen=True)
class Body:
    """A torch model with a head for spans, and what it takes."""

    model: Any
    inputs: tuple[str, ...]
    padding: int

    @property
    def typed(self) -> bool:
        """Whether the model tells question and text apart by token types."""
        return "token_type_ids" in self.inputs


@dataclass(frozen=True)
class Fit:
    """How long and how fast to learn."""

    epochs: int
    batch: int
    learning_rate: float
    warmup: float
    weight_decay: float
    seed: int
    save_steps: int


def open_body(
    folder: Path, *, layers: Sequence[int] | None = None, train_embeddings: bool = True, seed: int = 0
) -> Body:
    """A model from a transformers folder; a head that the folder has not is drawn at random by the seed."""
    import torch
    import transformers

    torch.manual_seed(seed)
    try:
        config = transformers.AutoConfig.from_pretrained(str(folder), local_files_only=True, trust_remote_code=False)
        for name in ATTENTION_DROPOUT:
            if hasattr(config, name):
                setattr(config, name, 0.0)
        # A start and an end; a re-ranker to begin from says 1.
        config.num_labels = 2
        model = transformers.AutoModelForQuestionAnswering.from_pretrained(
            str(folder), config=config, local_files_only=True, trust_remote_code=False, use_safetensors=True
        )
    except Exception as error:
        raise InputError(f"{folder} cannot be opened as a reader by transformers: {reason_of(error)}.") from error
    model = model.to(torch.float32)
    if layers is not None:
        _keep_layers(model, layers, folder)
    if not train_embeddings:
        # Half of MiniLM's numbers are its word table; a few thousand questions see a few of its rows, and moving
        # those alone tears them away from their neighbours.
        model.get_input_embeddings().weight.requires_grad_(False)
    typed = "token_type_ids" in inspect.signature(model.forward).parameters
    typed = typed and (getattr(config, "type_vocab_size", None) or 0) > 1
    return Body(
        model,
        ("input_ids", "attention_mask", *(("token_type_ids",) if typed else ())),
        config.pad_token_id if isinstance(config.pad_token_id, int) else 0,
    )


def _keep_layers(model: Any, layers: Sequence[int], folder: Path) -> None:
    """Take layers out of a model, those named being kept in their order."""
    body = model.base_model
    stack = getattr(body, "encoder", None) or getattr(body, "transformer", None)
    if stack is None or not hasattr(stack, "layer"):
        raise InputError(f"{folder}: layers can be taken out of BERT-like models only.")
    there = len(stack.layer)
    if not layers or sorted(set(layers)) != list(layers) or not 0 <= layers[0] <= layers[-1] < there:
        raise InputError(f"--layers must name layers from 0 to {there - 1}, each once and in order.")
    stack.layer = type(stack.layer)([stack.layer[place] for place in layers])
    model.config.num_hidden_layers = len(layers)


def fit(
    body: Body,
    windows: Sequence[dict[str, Any]],
    how: Fit,
    checkpoints: Checkpoints,
    checkpoint: str | None,
    validate: Callable[[Any], float],
    tokenizer_json: bytes,
    report: Report,
) -> Path:
    """Train; the folder of the weights with the best validation score of all epochs' ends.

    AdamW, its rate rising linearly over the share ``warmup`` of all steps and falling to zero over the rest.
    """
    import torch
    from transformers import Trainer, TrainingArguments

    steps = ceil(len(windows) / how.batch)
    lengths = [len(window["input_ids"]) for window in windows]

    class ByLength(torch.utils.data.Sampler):  # type: ignore[misc, type-arg, name-defined, unused-ignore]
        def __init__(self) -> None:
            self.epoch = 0

        def set_epoch(self, epoch: int) -> None:
            self.epoch = epoch

        def __len__(self) -> int:
            return len(lengths)

        def __iter__(self) -> Iterator[int]:
            return by_length(lengths, how.batch, how.seed, self.epoch)

    class ReaderTrainer(Trainer):  # type: ignore[misc, unused-ignore]
        # The trainer's own grouping draws from the global generator, which a resumed epoch starts elsewhere.
        def _get_train_sampler(self, *_: Any, **__: Any) -> Any:
            return ByLength()

    arguments = TrainingArguments(
        output_dir=str(checkpoints.folder),
        per_device_train_batch_size=how.batch,
        num_train_epochs=how.epochs,
        learning_rate=how.learning_rate,
        lr_scheduler_type="linear",
        warmup_steps=round(how.warmup * steps * how.epochs),
        weight_decay=how.weight_decay,
        save_strategy="steps",
        save_steps=how.save_steps,
        save_total_limit=1,
        logging_steps=10,
        report_to=[],
        disable_tqdm=True,
        use_cpu=not torch.cuda.is_available(),
        dataloader_pin_memory=False,
        remove_unused_columns=False,
        seed=how.seed,
    )
    trainer = ReaderTrainer(
        model=body.model,
        args=arguments,
        train_dataset=list(windows),
        data_collator=lambda batch: collate(batch, body.padding, body.typed),
    )
    trainer.add_callback(_keeper(checkpoints.folder, steps, validate, tokenizer_json))
    trainer.add_callback(report_callback(report, checkpoints))
    train(trainer, checkpoint)
    return best_checkpoint(checkpoints.folder)


def best_checkpoint(folder: Path) -> Path:
    """The folder with the best weights so far."""
    return folder / str(json.loads((folder / "best.json").read_text(encoding="utf-8"))["folder"])


def _keeper(folder: Path, steps: int, validate: Callable[[Any], float], tokenizer_json: bytes) -> Any:
    """A callback that scores the model after every epoch, and keeps the best.

    It acts at the end of the epoch's last step, before the trainer can write a checkpoint of that step: no kill can
    leave a checkpoint behind an epoch that was not scored.
    """
    from transformers import TrainerCallback

    record = folder / "best.json"

    class Keeper(TrainerCallback):  # type: ignore[misc, unused-ignore]
        def on_step_end(self, args: Any, state: Any, control: Any, model: Any = None, **_: Any) -> None:  # noqa: ARG002
            if state.global_step % steps:
                return
            score = validate(model)
            known = json.loads(record.read_text(encoding="utf-8")) if record.is_file() else {"scores": {}}
            scores = {**known["scores"], str(state.global_step // steps): score}
            name = f"best-{state.global_step}"
            # A run that went on from an earlier checkpoint comes to an epoch's end a second time.
            if "score" in known and (score <= known["score"] or known["folder"] == name):
                _write(record, {**known, "scores": scores})
                return
            target = folder / name
            shutil.rmtree(target, ignore_errors=True)
            model.save_pretrained(target)
            (target / "tokenizer.json").write_bytes(tokenizer_json)
            _write(record, {"score": score, "folder": name, "scores": scores})
            for old in folder.glob("best-*"):
                if old != target:
                    shutil.rmtree(old, ignore_errors=True)

    return Keeper()


def _write(path: Path, content: dict[str, Any]) -> None:
    with atomic_write(path) as file:
        file.write(json.dumps(content, indent=2).encode())
