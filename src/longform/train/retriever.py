"""Train an encoder on questions and their long answers, and write it as a folder that dense search uses.

The retriever of Krishna et al., 2021, *Hurdles to Progress in Long-form Question Answering*, section 2.1: long answers
are as long as passages, so an encoder that finds the long answer of a question finds passages that could answer it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from longform.errors import InputError
from longform.files import sha256_of
from longform.progress import Progress, no_progress
from longform.train.card import command_line, data_rows, table, write_card
from longform.train.contrast import encode_with, encoder_model, encoder_settings, fit, scores_of
from longform.train.pairs import Pair, read_pairs, split_pairs, with_titles
from longform.train.retrieval_check import RetrievalCheck, RetrievalScores
from longform.train.retriever_settings import RetrieverSettings
from longform.train.running import Checkpoints, Report, all_cores, needs, no_report, quiet_training

__all__ = ["RetrieverResult", "RetrieverSettings", "score_rows", "train_retriever"]

# Of the held-out answers, so many are encoded by both models to compare their vectors.
COMPARED = 200


@dataclass(frozen=True, slots=True)
class RetrieverResult:
    """A trained encoder: its folder, and how well it finds held-out long answers, before and after.

    ``exported`` are the scores of the written model, ``cosine`` the mean and ``least_cosine`` the least between its
    vectors and the torch model's; all are ``None`` where nothing was held out.
    """

    folder: Path
    before: RetrievalScores | None
    after: RetrievalScores | None
    exported: RetrievalScores | None
    cosine: float | None
    least_cosine: float | None
    pairs: int
    held_out: int
    seconds: float


def train_retriever(
    pairs: Sequence[str | Path],
    base: str,
    out: str | Path,
    settings: RetrieverSettings | None = None,
    *,
    limit: int | None = None,
    int8: bool = True,
    report: Report = no_report,
    progress: Progress = no_progress,
) -> RetrieverResult:
    """Train on files of questions with long answers and write a folder that :class:`longform.models.Encoder` opens.

    ``base`` is what :func:`longform.train.base.base_folder` takes; ``limit`` takes so many pairs. Killed and started
    again with the same arguments it goes on from its last checkpoint.

    ``train_retriever(["qa.jsonl"], "encoder", "my-encoder")`` writes ``model.onnx``, ``tokenizer.json``,
    ``config.json`` and a card, ``README.md``.
    """
    settings = settings or RetrieverSettings()
    settings.check()
    if limit is not None and limit < 2:
        raise InputError(f"limit must be at least 2, not {limit}.")
    paths, out = [Path(path) for path in pairs], Path(out)
    if out.is_file():
        raise InputError(f"{out} is a file: name a folder to write the model to.")
    rows, counts = read_pairs(paths, limit)
    training, held = split_pairs(rows, settings.validation, settings.seed)
    if settings.titles:
        training, held = with_titles(training), with_titles(held)
    check = RetrievalCheck(held)
    # After the reading: a mistake in the arguments need not wait for torch.
    needs("Training a retriever")
    from longform.train.base import base_folder, weights_sha256

    checkpoints = Checkpoints(out / "training")
    with quiet_training(), all_cores():
        folder = base_folder(base)
        described = encoder_settings(folder)
        model = encoder_model(folder, settings)
        progress("scoring the base", 0, 1)
        before = scores_of(model, check, described, described.max_length) if held else None
        progress("scoring the base", 1, 1)
        record = {
            **settings.to_json(),
            "base_sha256": weights_sha256(folder),
            "pairs_sha256": [sha256_of(path) for path in paths],
            "limit": limit,
        }
        fit(model, described, training, check, settings, checkpoints, record, report)
        after = scores_of(model, check, described, described.max_length) if held else None
        trained = checkpoints.folder / "trained"
        model.save(str(trained), create_model_card=False)
        from longform.train.export import export

        progress("exporting", 0, 1)
        export(trained, out, int8=int8, max_length=described.max_length, name=out.resolve().name)
        progress("exporting", 1, 1)
        exported, cosines = _compared(model, out, check, described)
    result = RetrieverResult(
        out,
        before,
        after,
        exported,
        float(cosines.mean()) if held else None,
        float(cosines.min()) if held else None,
        len(training),
        len(held),
        checkpoints.seconds(),
    )
    _write_card(result, paths, counts, base, settings, record, training)
    checkpoints.clear()
    return result


def score_rows(scores: Sequence[tuple[str, RetrievalScores | None]]) -> list[list[object]]:
    """Rows of a table, one for each model that was scored.

    >>> score_rows([("base", RetrievalScores(0.5, 0.75, 0.6)), ("none", None)])
    [['base', 0.5, 0.75, 0.6]]
    """
    return [[name, found.recall_at_1, found.recall_at_5, found.mrr] for name, found in scores if found is not None]


def _compared(model: Any, out: Path, check: RetrievalCheck, described: Any) -> tuple[RetrievalScores | None, Any]:
    """The scores of the written model, and the cosines between its vectors and those of the torch model."""
    if not len(check):
        return None, np.ones(1)
    from longform.models.encoder import Encoder

    encoder = Encoder.load(out)
    sample = check.answers[:COMPARED]
    theirs = encode_with(model, described, described.passage_prompt, described.max_length)(sample)
    ours = encoder.encode(sample)
    lengths = np.linalg.norm(ours, axis=1) * np.linalg.norm(theirs, axis=1)
    return check.scores(encoder.encode_questions, encoder.encode), (ours * theirs).sum(axis=1) / lengths


def _write_card(
    result: RetrieverResult,
    paths: Sequence[Path],
    counts: Sequence[int],
    base: str,
    settings: RetrieverSettings,
    record: dict[str, Any],
    training: Sequence[Pair],
) -> None:
    weights = ", ".join(f"{name} {digest}" for name, digest in record["base_sha256"].items())
    scores = [
        ("before training", result.before),
        ("after, in torch", result.after),
        ("after, as exported", result.exported),
    ]
    agreement = (
        f"\n\nAmong the long answers of all {result.held_out:,} held-out pairs. Vectors of the exported model have a "
        f"cosine of {result.cosine:.4f} to the torch model's in the mean of held-out answers, at the least "
        f"{result.least_cosine:.4f}."
        if result.cosine is not None
        else "Nothing was held out."
    )
    minutes = f"\n\n{len(training):,} pairs × {settings.epochs:g} epochs in {result.seconds / 60:.1f} minutes."
    held = table(["held-out questions", "recall@1", "recall@5", "MRR"], score_rows(scores)) if result.before else ""
    write_card(
        result.folder,
        result.folder.resolve().name,
        "A sentence encoder trained on questions and their long answers: a question close to its answer, far from the "
        "others of its batch (Krishna et al., 2021, *Hurdles to Progress in Long-form Question Answering*, section "
        "2.1). `longform index … --encoder THIS-FOLDER` uses it.",
        {
            "Command": command_line(),
            "Data": data_rows(paths, counts)
            + f"\n\n{result.pairs:,} pairs to train on and {result.held_out:,} held out, which share no question, long "
            "answer or page with them.",
            "Settings": table(["setting", "value"], [["base", base], *settings.rows()])
            + f"\n\nBase weights: sha256 {weights}.",
            "Scores": held + agreement + minutes,
        },
    )
