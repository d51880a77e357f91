"""What the batch size does to a contrastive retriever: one training for each size, on the same pairs.

Krishna et al., 2021, *Hurdles to Progress in Long-form Question Answering*, appendix A.2 and Table 8: R-precision on
ELI5 rises from 6.2 with batches of 256 to 13.3 with 12,288, all other settings kept.
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from longform.errors import InputError
from longform.files import atomic_write, sha256_of
from longform.train.card import command_line, data_rows, table, write_card
from longform.train.contrast import encoder_model, encoder_settings, fit, scores_of
from longform.train.pairs import read_pairs, split_pairs, with_titles
from longform.train.retrieval_check import RetrievalCheck, RetrievalScores
from longform.train.retriever_settings import RetrieverSettings
from longform.train.running import Checkpoints, Report, all_cores, needs, no_report, quiet_training

__all__ = ["AblationRow", "ablate_batch", "table_of"]


@dataclass(frozen=True, slots=True)
class AblationRow:
    """One line of the table: a batch size, how it was trained, and how well it finds held-out answers.

    The first line is the base: no batch, no steps, no loss. Losses of different batch sizes are not comparable: it is
    harder to tell an answer from 511 others than from 7.
    """

    batch: int | None
    steps: int
    loss: float | None
    scores: RetrievalScores
    seconds: float


def ablate_batch(
    pairs: Sequence[str | Path],
    base: str,
    out: str | Path,
    sizes: Sequence[int],
    settings: RetrieverSettings | None = None,
    *,
    limit: int | None = None,
    report: Report = no_report,
) -> list[AblationRow]:
    """Train once for each batch size, all else equal, and write the table to ``out/README.md``.

    Scores are the last step's, not the best look's, with texts cut at the training length. Sizes that are done are
    kept in ``out/rows.json``: started again with the same arguments it goes on with the next one.
    """
    settings = replace(settings or RetrieverSettings(), looks=1)
    if not sizes or len(set(sizes)) != len(sizes):
        raise InputError("Give two or more different batch sizes, such as 8,64,512.")
    for size in sizes:
        replace(settings, batch=size).check()
    if not settings.validation:
        raise InputError("An ablation needs held-out questions: set a validation share above 0.")
    paths, out = [Path(path) for path in pairs], Path(out)
    rows, counts = read_pairs(paths, limit)
    training, held = split_pairs(rows, settings.validation, settings.seed)
    if settings.titles:
        training, held = with_titles(training), with_titles(held)
    if max(sizes) > len(training):
        raise InputError(f"There are {len(training):,} pairs to train on, fewer than a batch of {max(sizes):,}.")
    check = RetrievalCheck(held)
    needs("Training a retriever")
    from longform.train.base import base_folder, weights_sha256

    with quiet_training(), all_cores():
        folder = base_folder(base)
        described = encoder_settings(folder)
        record = {
            **settings.to_json(),
            "batch": None,
            "base_sha256": weights_sha256(folder),
            "pairs_sha256": [sha256_of(path) for path in paths],
            "limit": limit,
        }
        done = _Done(out, record)
        if None not in done.rows:
            scores = scores_of(encoder_model(folder, settings), check, described, settings.max_length)
            done.add(AblationRow(None, 0, None, scores, 0.0))
        for size in sizes:
            if size in done.rows:
                continue
            chosen = replace(settings, batch=size)
            checkpoints = Checkpoints(out / f"training-{size}")
            model = encoder_model(folder, chosen)
            started = time.monotonic()
            # No looks: the best of several would favour the size that is looked at most often.
            loss = fit(
                model,
                described,
                training,
                RetrievalCheck([]),
                chosen,
                checkpoints,
                record | {"batch": size},
                report,
                f"batch {size}",
            )
            seconds = max(checkpoints.seconds(), time.monotonic() - started)
            steps = max(round(-(-len(training) // size) * settings.epochs), 1)
            scores = scores_of(model, check, described, settings.max_length)
            done.add(AblationRow(size, steps, loss, scores, seconds))
            checkpoints.clear()
    finished = [done.rows[size] for size in (None, *sizes)]
    _write(out, finished, paths, counts, len(training), len(held), base, settings)
    return finished


class _Done:
    """The lines that are finished, on disk after each."""

    def __init__(self, out: Path, record: Mapping[str, Any]) -> None:
        self.path, self.record = out / "rows.json", json.loads(json.dumps(record))
        self.rows: dict[int | None, AblationRow] = {}
        if self.path.is_file():
            found = json.loads(self.path.read_text(encoding="utf-8"))
            if found["settings"] != self.record:
                raise InputError(
                    f"{out} holds an ablation with other settings: remove the folder, or choose another --out."
                )
            for row in found["rows"]:
                self.rows[row["batch"]] = AblationRow(**row | {"scores": RetrievalScores(**row["scores"])})
        out.mkdir(parents=True, exist_ok=True)

    def add(self, row: AblationRow) -> None:
        self.rows[row.batch] = row
        kept = {"settings": self.record, "rows": [asdict(row) for row in self.rows.values()]}
        with atomic_write(self.path) as file:
            file.write(json.dumps(kept, indent=2).encode())


def table_of(rows: Sequence[AblationRow]) -> str:
    """The ablation as a Markdown table.

    >>> print(table_of([AblationRow(None, 0, None, RetrievalScores(0.5, 0.75, 0.6), 0.0)]))
    | batch size | steps | last loss | recall@1 | recall@5 | MRR | minutes |
    |---|---|---|---|---|---|---|
    | base, not trained | – | – | 0.5000 | 0.7500 | 0.6000 | – |
    """
    lines: list[list[object]] = []
    for row in rows:
        found = [row.scores.recall_at_1, row.scores.recall_at_5, row.scores.mrr]
        if row.batch is None:
            lines.append(["base, not trained", "–", "–", *found, "–"])
        else:
            lines.append([row.batch, row.steps, row.loss, *found, f"{row.seconds / 60:.1f}"])
    return table(["batch size", "steps", "last loss", "recall@1", "recall@5", "MRR", "minutes"], lines)


def _write(
    out: Path,
    rows: Sequence[AblationRow],
    paths: Sequence[Path],
    counts: Sequence[int],
    training: int,
    held: int,
    base: str,
    settings: RetrieverSettings,
) -> None:
    write_card(
        out,
        "The effect of the batch size on a contrastive retriever",
        f"As Table 8 of Krishna et al., 2021: one training for each batch size on the same {training:,} pairs, all "
        f"other settings kept; how well each finds the long answers of {held:,} held-out pairs among all of them. "
        "Losses of different batch sizes are not comparable.",
        {
            "Table": table_of(rows),
            "Command": command_line(),
            "Data": data_rows(paths, counts),
            "Settings": table(["setting", "value"], [["base", base], *settings.rows("batch", "looks")]),
        },
    )
    for left in out.glob("training-*"):
        shutil.rmtree(left, ignore_errors=True)
