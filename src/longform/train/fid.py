"""Train a Fusion-in-Decoder reader: from a question and many passages to a list of answers.

QAMPARI (Amouyal et al., 2022, section 4) trains T5 so, "with standard maximum likelihood" of the answers in a row. A
part of the questions is held out; their loss and their F1 are reported before and after.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from longform.errors import InputError
from longform.files import sha256_of
from longform.score.qampari import QampariAnswer, official_measures
from longform.train.base import weights_sha256
from longform.train.card import command_line, data_rows, table, write_card
from longform.train.fid_data import FidExample, Search, fid_target, read_fid, split_fid
from longform.train.fid_model import FidReader, fused, open_fid
from longform.train.fid_settings import FidSettings
from longform.train.running import (
    Checkpoints,
    Report,
    TrainingStep,
    all_cores,
    needs,
    no_report,
    quiet_training,
    report_callback,
    train,
)

__all__ = ["FidScores", "FidSettings", "TrainedFid", "train_fid"]


@dataclass(frozen=True, slots=True)
class FidScores:
    """On held-out questions: the mean loss of a token, and QAMPARI's official numbers, 0 to 1."""

    loss: float
    precision: float
    recall: float
    f1: float


@dataclass(frozen=True, slots=True)
class TrainedFid:
    """A reader that was trained: where it is, and how good it is on questions that it never saw."""

    folder: Path
    before: FidScores
    after: FidScores
    seconds: float
    counts: dict[str, int]


def train_fid(
    data: str | Path,
    out: str | Path,
    *,
    base: str | Path,
    search: Search | None = None,
    index: str | None = None,
    settings: FidSettings | None = None,
    keep: bool = False,
    report: Report = no_report,
) -> TrainedFid:
    """Train a reader from a T5-family folder on the rows of a JSONL file, and write it to ``out`` with its card.

    ``train_fid("lists.jsonl", "my-fid", base="t5-base")`` writes a folder that ``FidReader.load("my-fid")`` opens. A
    run that was killed goes on from its last checkpoint, in ``out/training``. ``search`` finds the passages of rows
    that carry none; ``index`` says, for the card and for going on, what it searches.
    """
    needs("Training a Fusion-in-Decoder reader")
    settings, data, out, base = settings or FidSettings(), Path(data), Path(out), Path(base)
    if (out / "model.safetensors").exists():
        raise InputError(f"{out} holds a model already: choose another --out, or remove it.")
    learnt, held = split_fid(read_fid(data, search), settings.held_out, settings.limit, settings.seed)
    if not base.is_dir():
        raise InputError(f"{base} is no folder: --base takes a T5-family model in a folder, with model.safetensors.")
    started, checkpoints = time.monotonic(), Checkpoints(out / "training")
    with quiet_training(), all_cores():
        model, tokenizer = open_fid(base)
        checkpoint = checkpoints.last(
            {
                **{name: value for name, value in asdict(settings).items() if name != "save_steps"},
                "base": weights_sha256(base),
                "data": sha256_of(data),
                "index": index,
                "transformers": version("transformers"),
            }
        )
        spent = checkpoints.seconds()
        reader = FidReader(
            model, tokenizer, max_length=settings.max_length, answer_length=settings.answer_length, name=out.name
        )
        before = _scores(reader, held, settings, report, "reading untrained")
        _fit(reader, learnt, settings, checkpoints, checkpoint, report)
        after = _scores(reader, held, settings, report, "testing")
        counts = {"train": len(learnt), "held_out": len(held)}
        result = TrainedFid(out, before, after, spent + time.monotonic() - started, counts)
        _write(reader, result, settings, data, base, index, checkpoints)
    if not keep:
        checkpoints.clear()
    return result


def _fit(
    reader: FidReader,
    examples: Sequence[FidExample],
    settings: FidSettings,
    checkpoints: Checkpoints,
    checkpoint: str | None,
    report: Report,
) -> None:
    """transformers' trainer with the fused encoder in the place of the plain one."""
    import torch
    from transformers import Trainer, TrainingArguments

    class FidTrainer(Trainer):  # type: ignore[misc, unused-ignore]
        def compute_loss(self, model: Any, inputs: Any, return_outputs: bool = False, **_: Any) -> Any:
            outputs = _forward(model, inputs)
            return (outputs.loss, outputs) if return_outputs else outputs.loss

    torch.manual_seed(settings.seed)
    steps = -(-len(examples) // (settings.batch * settings.accumulate)) * settings.epochs
    arguments = TrainingArguments(
        output_dir=str(checkpoints.folder),
        per_device_train_batch_size=settings.batch,
        gradient_accumulation_steps=settings.accumulate,
        num_train_epochs=settings.epochs,
        learning_rate=settings.learning_rate,
        lr_scheduler_type="linear",
        warmup_steps=round(settings.warmup * steps),
        weight_decay=settings.weight_decay,
        save_strategy="steps",
        save_steps=settings.save_steps,
        save_total_limit=1,
        logging_steps=1,
        report_to=[],
        disable_tqdm=True,
        use_cpu=not torch.cuda.is_available(),
        dataloader_pin_memory=False,
        remove_unused_columns=False,
        seed=settings.seed,
    )
    trainer = FidTrainer(
        model=reader.model,
        args=arguments,
        train_dataset=list(examples),
        data_collator=lambda batch: collate(reader, batch, settings.passages),
    )
    trainer.add_callback(report_callback(report, checkpoints))
    train(trainer, checkpoint)
    reader.model.eval()


def _forward(model: Any, inputs: Any) -> Any:
    states, mask = fused(model, inputs["input_ids"], inputs["attention_mask"])
    return model(encoder_outputs=states, attention_mask=mask, labels=inputs["labels"])


def collate(reader: FidReader, examples: Sequence[FidExample], passages: int) -> dict[str, Any]:
    """A batch: tokens of shape (questions, passages, tokens), and labels of the answers alone."""
    import torch

    found = [reader.encode(example.question, example.passages[:passages]) for example in examples]
    shape = (len(found), *(max(one["input_ids"].shape[axis] for one in found) for axis in (0, 1)))
    padding = reader.tokenizer.pad_token_id
    ids = torch.full(shape, padding, dtype=torch.long)
    mask = torch.zeros(shape, dtype=torch.long)
    for row, one in enumerate(found):
        count, length = one["input_ids"].shape
        ids[row, :count, :length], mask[row, :count, :length] = one["input_ids"], one["attention_mask"]
    targets = [fid_target(example, passages) for example in examples]
    labels = reader.tokenizer(
        targets, truncation=True, max_length=reader.answer_length, padding=True, return_tensors="pt"
    )
    wanted = labels["input_ids"].masked_fill(labels["attention_mask"] == 0, -100)
    return {"input_ids": ids, "attention_mask": mask, "labels": wanted}


def _scores(
    reader: FidReader, examples: Sequence[FidExample], settings: FidSettings, report: Report, stage: str
) -> FidScores:
    """Loss and F1 on questions that are not learnt from."""
    import torch

    reader.model.eval()
    losses, tokens = 0.0, 0
    rows: list[dict[str, float]] = []
    for done, example in enumerate(examples, 1):
        batch = {
            name: value.to(reader.model.device) for name, value in collate(reader, [example], settings.passages).items()
        }
        with torch.inference_mode():
            count = int((batch["labels"] != -100).sum())
            losses, tokens = losses + float(_forward(reader.model, batch).loss) * count, tokens + count
        written = reader.read(example.question, example.passages[: settings.passages])
        gold = [QampariAnswer(names[0], names) for names in example.answers]
        rows.append(official_measures(gold, written) if gold else {"precision": 0.0, "recall": 0.0, "f1": 0.0})
        report(TrainingStep(stage, done, len(examples), None, None))
    means = {name: sum(row[name] for row in rows) / len(rows) for name in ("precision", "recall", "f1")}
    return FidScores(losses / max(tokens, 1), **means)


def _write(
    reader: FidReader,
    result: TrainedFid,
    settings: FidSettings,
    data: Path,
    base: Path,
    index: str | None,
    checkpoints: Checkpoints,
) -> None:
    """The folder: weights, tokenizer, card; the weights come last, and make the folder a model."""
    unfinished = checkpoints.folder / "written"
    shutil.rmtree(unfinished, ignore_errors=True)
    reader.model.config.fid = {"max_length": settings.max_length, "answer_length": settings.answer_length}
    reader.model.save_pretrained(unfinished)
    reader.tokenizer.save_pretrained(unfinished)
    names = ("loss", "precision", "recall", "f1")
    scores = [[name, getattr(result.before, name), getattr(result.after, name)] for name in names]
    hashes = ", ".join(f"{name} `{value}`" for name, value in weights_sha256(base).items())
    write_card(
        unfinished,
        f"{result.folder.resolve().name}: a Fusion-in-Decoder reader",
        "Lists the answers to a question that up to "
        f"{settings.passages} passages hold. `longform.train.fid_model.FidReader.load` opens it.",
        {
            "Scores": table(["held-out questions", "before training", "after"], scores)
            + f"\n\nOn {result.counts['held_out']:,} questions that were not learnt from: the mean loss of a token, "
            "and QAMPARI's official scores, 0 to 1.",
            "Data": data_rows([data], [sum(result.counts.values())])
            + (f"\n\nPassages from the index `{Path(index).name}`." if index else ""),
            "Training": f"From `{base.name}` ({hashes}); AdamW, linear warm-up and decay. It took "
            f"{result.seconds / 60:.0f} minutes.\n\n"
            + table(["setting", ""], [[name.replace("_", " "), value] for name, value in asdict(settings).items()]),
            "Made by": command_line(),
        },
    )
    result.folder.mkdir(parents=True, exist_ok=True)
    for path in sorted(unfinished.iterdir(), key=lambda path: path.suffix == ".safetensors"):
        path.replace(result.folder / path.name)
