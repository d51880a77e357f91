"""The card of a trained reader."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from longform.files import sha256_of
from longform.train.card import command_line, table, write_card
from longform.train.reader_settings import ReaderSettings
from longform.train.squad import Split

if TYPE_CHECKING:
    from longform.train.reader import TrainedReader

__all__ = ["write_reader_card"]

SCORES = {
    "exact": "exact match",
    "f1": "F1",
    "HasAns_exact": "exact match, questions with an answer",
    "HasAns_f1": "F1, questions with an answer",
    "NoAns_f1": "accuracy, questions without an answer",
    "null_accuracy": "agreement on which questions have no answer",
    "null_precision": "precision of “no answer”",
    "null_recall": "recall of “no answer”",
}


def write_reader_card(
    folder: Path,
    result: TrainedReader,
    settings: ReaderSettings,
    split: Split,
    files: Sequence[Path],
    *,
    base: str,
    weights: Mapping[str, str],
) -> Path:
    """Write ``README.md``: scores before and after, data, settings, and the command that makes it again."""
    return write_card(
        folder,
        f"{result.folder.resolve().name}: a reader with a null answer",
        "Finds the answer to an English question in a text, or says that there is none. "
        f"`longform.models.Reader.load` opens it; windows of {settings.max_length} tokens.",
        {
            "Scores": _scores(result, split),
            "Data": _data(result, split, files),
            "Training": _training(result, settings, base, weights),
            "Made by": command_line(),
        },
    )


def _scores(result: TrainedReader, split: Split) -> str:
    none = sum(not example.answers for example in split.test)
    silent = 100 * none / len(split.test)
    rows = []
    for name, meaning in SCORES.items():
        value, low, high = result.scores[name]
        # What a reader gets that never answers: all of the unanswerable questions, and nothing else.
        never = {"HasAns_exact": 0.0, "HasAns_f1": 0.0, "NoAns_f1": 100.0, "null_recall": 100.0}.get(name, silent)
        rows.append([meaning, f"{result.before[name]:.1f}", f"{never:.1f}", f"{value:.1f} ({low:.1f} … {high:.1f})"])
    return "\n\n".join(
        [
            table(["in percent", "before training", "never answering", "this model (95 % interval)"], rows),
            f"SQuAD 2.0's measures (Rajpurkar et al., ACL 2018) on {len(split.test):,} questions, {none:,} of them "
            f"without an answer, about articles that were neither trained on nor chosen on: {_articles(split.test)}. "
            "Measured on the files in this folder. “No answer” is given where it scores higher than the best answer by "
            f"more than {result.null_threshold:g} (`null_threshold` in config.json, chosen on the validation part; "
            "before training: 0).",
            f"The weights in torch give the very same answer to {100 * result.agreement:.1f} % of the test questions, "
            f"and the same span to {100 * result.span_agreement:.1f} % of the answerable ones when both must answer.",
        ]
    )


def _data(result: TrainedReader, split: Split, files: Sequence[Path]) -> str:
    counts = result.counts
    parts = [
        ["training", counts["train"], _articles(split.train)],
        *([["training, from JSONL", counts["extra"], ""]] if counts["extra"] else []),
        ["validation (epoch, threshold)", counts["validation"], _articles(split.validation)],
        ["test", counts["test"], _articles(split.test)],
    ]
    lines = [
        table(["file", "sha256"], [[path.name, f"`{sha256_of(path)}`"] for path in files]),
        table(["part", "questions", "articles"], parts),
    ]
    if counts["extra_skipped"]:
        lines.append(
            f"Left out: {counts['extra_skipped']:,} rows of JSONL whose answer does not stand in the text (or in no "
            "passage that was found), or whose text is held out."
        )
    return "\n\n".join(lines)


def _articles(examples: Sequence[object]) -> str:
    titles = sorted({str(getattr(example, "article", "")) for example in examples})
    shown = ", ".join(title.replace("_", " ").replace("|", " ") for title in titles[:20])
    return shown if len(titles) <= 20 else f"{shown} and {len(titles) - 20:,} more"


def _training(result: TrainedReader, settings: ReaderSettings, base: str, weights: Mapping[str, str]) -> str:
    hashes = ", ".join(f"{name} `{value}`" for name, value in weights.items())
    rows = [[name.replace("_", " "), "all" if value is None else value] for name, value in asdict(settings).items()]
    epochs = ", ".join(f"{float(score):.1f}" for score in result.validation_f1.values())
    return "\n\n".join(
        [
            f"From `{Path(base).name}` ({hashes}), its head for spans drawn at random; AdamW, linear warm-up and "
            f"decay. Best validation F1 after each epoch: {epochs}; the best epoch is kept. It took "
            f"{result.seconds / 60:.0f} minutes in all.",
            table(["setting", ""], rows),
        ]
    )
