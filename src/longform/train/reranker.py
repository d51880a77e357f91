"""Train a re-ranker on silver passages: a cross-encoder over ``[CLS] question [SEP] title [SEP] text``.

Christmann et al., 2024, section 2 and appendix A, on sentence-transformers' trainer. The paper's settings are the
defaults; what makes small models learn faster on a CPU is there to be chosen: a loss over the list of a question's
passages, a teacher, fewer layers, shorter inputs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from longform.errors import FailureError, InputError
from longform.files import sha256_of
from longform.progress import Progress, no_progress
from longform.silver import read_silver
from longform.train.card import command_line, data_rows, table, write_card
from longform.train.reranker_data import Group, Likeness, Sample, read_groups, sample, split
from longform.train.reranker_settings import RerankerSettings
from longform.train.running import Checkpoints, Report, all_cores, needs, no_report, quiet_training

__all__ = ["RerankerResult", "RerankerSettings", "train_reranker"]

# Of validation: this many other passages beside the silver ones, drawn once, are ranked at each look.
VALIDATION_OTHERS = 15

# Eight bits move neighbours past each other, which where scores hardly differ is no loss. A model that has less of the
# torch model's top 5 and also finds fewer silver passages is another model; so is one that finds far fewer.
LEAST_AGREEMENT, SMALL_LOSS, LARGE_LOSS = 0.85, 0.02, 0.04


@dataclass(frozen=True, slots=True)
class RerankerResult:
    """A trained re-ranker: its folder, and the average precision of silver passages on the validation questions."""

    folder: Path
    before: float
    after: float
    exported: float
    agreement: float
    pairs: int
    seconds: float


def train_reranker(
    silver: Sequence[str | Path],
    base: str,
    out: str | Path,
    settings: RerankerSettings | None = None,
    *,
    index: str | Path | None = None,
    teachers: Sequence[str] = (),
    limit: int | None = None,
    int8: bool = True,
    keep_torch: bool = False,
    report: Report = no_report,
    progress: Progress = no_progress,
) -> RerankerResult:
    """Train on silver files and write a folder that :class:`longform.models.CrossEncoder` opens.

    ``base`` is a sentence encoder or any BERT-like model; ``teachers`` are re-rankers, or ``similarity``, whose
    scores are learned together with the labels (the list loss only); ``limit`` takes so many questions.
    With ``keep_torch`` the folder ``torch`` in ``out`` holds the 32-bit model, which another training can start from.
    Killed and started again with the same arguments it goes on from its last checkpoint.
    """
    settings = settings or RerankerSettings()
    settings.check()
    if teachers and settings.loss != "list":
        raise InputError("A teacher's scores are learned by the list loss: add --loss list.")
    needs("Training a re-ranker")
    from longform.train.base import base_folder
    from longform.train.export_reranker import export_reranker
    from longform.train.reranker_fit import fit, labels_of, open_teacher
    from longform.train.reranker_model import average_precision, build_model, torch_scores

    paths, out = [Path(path) for path in silver], Path(out)
    place = index or str(read_silver(str(paths[0])).header["index"])
    groups = read_groups(paths, index, graded=settings.graded, progress=progress)
    groups = groups[:limit] if limit else groups
    training, validation = split(groups, settings.validation, settings.split_seed)
    looked_at = sample(
        validation[: settings.validation_questions], max(settings.positives, 5), VALIDATION_OTHERS, 1, settings.seed
    )
    likeness: Likeness | None = open_teacher("similarity", place).score if settings.hard else None  # type: ignore[assignment]
    samples = sample(
        training,
        settings.positives,
        settings.negatives,
        settings.epochs,
        settings.seed,
        hard=settings.hard,
        likeness=likeness,
    )
    with quiet_training(), all_cores():
        folder = base_folder(base)
        labels = labels_of(samples, settings, [open_teacher(name, place) for name in teachers], progress)
        model = build_model(folder, settings)
        before = average_precision(looked_at, lambda rows: torch_scores(model, rows, settings))
        record = {
            **asdict(settings),
            "layers": list(settings.layers),
            "base_sha256": sha256_of(next(iter(sorted(folder.glob("*.safetensors"))))),
            "silver_sha256": [sha256_of(path) for path in paths],
            "teachers": list(teachers),
            "limit": limit,
        }
        checkpoints = Checkpoints(out / "training")
        fit(model, samples, labels, looked_at, settings, checkpoints, record, report)
        after = average_precision(looked_at, lambda rows: torch_scores(model, rows, settings))
        if keep_torch:
            model.save_pretrained(str(out / "torch"))
        export_reranker(model, folder, out, settings, name=out.resolve().name, int8=int8)
    exported, agreement = _check(out, model, looked_at, settings, after)
    result = RerankerResult(
        out,
        before,
        after,
        exported,
        agreement,
        sum(len(row.passages) for row in samples),
        checkpoints.seconds(),
    )
    _write_card(result, paths, groups, training, validation, base, teachers, settings, record)
    checkpoints.clear()
    return result


def _check(
    out: Path, model: Any, looked_at: Sequence[Sample], settings: RerankerSettings, after: float
) -> tuple[float, float]:
    """The exported model's average precision, and the share of torch's top 5 that it has in its own."""
    from longform.models.cross_encoder import CrossEncoder
    from longform.train.reranker_model import average_precision, torch_scores

    exported = CrossEncoder.load(out)
    shared, precisions = [], []
    for row in looked_at:
        ours = np.asarray(exported.score(row.question, row.passages))
        theirs = np.asarray(torch_scores(model, [(row.question, passage) for passage in row.passages], settings))
        top = min(5, len(row.passages))
        best = set(np.argsort(-ours, kind="stable")[:top]) & set(np.argsort(-theirs, kind="stable")[:top])
        shared.append(len(best) / top)
        precisions.append(average_precision([row], lambda _, found=ours: found))  # type: ignore[misc]
    if not shared:
        return 0.0, 1.0
    precision, agreement = float(np.mean(precisions)), float(np.mean(shared))
    if precision < after - (SMALL_LOSS if agreement < LEAST_AGREEMENT else LARGE_LOSS):
        raise FailureError(
            f"The exported model in {out} ranks otherwise than the one in torch: it has {agreement:.0%} of its top 5, "
            f"and an average precision of {precision:.3f} where torch has {after:.3f}; start the same command with "
            "--fp32 to export the finished training in 32 bits."
        )
    return precision, agreement


def _write_card(
    result: RerankerResult,
    paths: Sequence[Path],
    groups: Sequence[Group],
    training: Sequence[Group],
    validation: Sequence[Group],
    base: str,
    teachers: Sequence[str],
    settings: RerankerSettings,
    record: dict[str, Any],
) -> None:
    shown = [[field.name.replace("_", " "), getattr(settings, field.name) or "–"] for field in fields(settings)]
    looked = min(len(validation), settings.validation_questions)
    write_card(
        result.folder,
        result.folder.resolve().name,
        "A re-ranker trained on silver passages (Christmann et al., 2024, "
        "*Retrieving Contextual Information for Long-Form Question Answering using Weak Supervision*). Input: "
        "`[CLS] question [SEP] title [SEP] text`; output: one score, higher is better.",
        {
            "Command": command_line(),
            "Data": data_rows(paths, [len(groups)] if len(paths) == 1 else ["–"] * len(paths))  # type: ignore[list-item]
            + f"\n\n{len(groups):,} questions with silver passages: {len(training):,} to train on, "
            f"{len(validation):,} to validate on, of which {looked:,} were looked at.",
            "Settings": table(["setting", "value"], [["base", base], ["teachers", ", ".join(teachers) or "–"], *shown])
            + f"\n\nBase weights: sha256 {record['base_sha256']}.",
            "Scores": table(
                ["average precision of silver passages, validation", "value"],
                [
                    ["before training", result.before],
                    ["after, in torch", result.after],
                    ["after, as exported", result.exported],
                ],
            )
            + f"\n\nOf the torch model's top 5 the exported model has {result.agreement:.1%}. "
            f"{result.pairs:,} pairs in {result.seconds / 60:.0f} minutes.",
        },
    )
