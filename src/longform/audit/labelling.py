"""Pairs for a person to label: a CSV with an empty column, and labels that are on disk as soon as they are given."""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from longform.audit.overlap_pairs import QuestionPair
from longform.audit.paraphrase import THRESHOLD
from longform.errors import FailureError, InputError, reason_of
from longform.files import atomic_write

__all__ = ["COLUMNS", "LABELS", "LabelFile", "read_labels", "to_label", "write_pairs"]

COLUMNS = (
    "test_id",
    "train_id",
    "label",
    "test_question",
    "train_question",
    "probability",
    "cosine",
    "rank_by_meaning",
    "rank_by_words",
    "same_page",
    "same_topic",
)
"""The columns of a file of pairs; of a file of labels the first three are enough."""

LABELS = {"y": True, "n": False}
"""What a label says: the same question, or another. ``s`` is a pair that a person has passed over."""
_SPELLINGS = {"y": "y", "yes": "y", "1": "y", "2": "y", "true": "y", "n": "n", "no": "n", "0": "n", "false": "n"}
_SKIPPED = {"s", "skip", "?"}
# What a spreadsheet would compute; a number is none.
_FORMULA = re.compile(r"^(?:[=+@\t\r]|-(?!\d+(?:\.\d+)?$))")


def write_pairs(path: Path, pairs: Sequence[QuestionPair]) -> None:
    """Write pairs as CSV; ``label`` is empty where nobody has given one."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for pair in pairs:
        writer.writerow([_FORMULA.sub(r"'\g<0>", cell) for cell in _row(pair)])
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(path) as file:
            file.write(text.getvalue().encode("utf-8", "replace"))
    except OSError as error:
        raise FailureError(f"{path} cannot be written: {reason_of(error)}.") from error


def read_labels(path: Path) -> dict[tuple[str, str], bool]:
    """The labels of a CSV with the columns ``test_id``, ``train_id`` and ``label``; the last of a pair counts.

    ``y`` (yes, 1, true; 2, as in *Hurdles*) is the same question, ``n`` (no, 0, false) another; an empty label and
    ``s`` say nothing.
    """
    return {pair: LABELS[label] for pair, label in _all_labels(path).items() if label in LABELS}


def to_label(pairs: Sequence[QuestionPair], done: dict[tuple[str, str], str]) -> list[QuestionPair]:
    """The pairs that have no label yet, those first of which the decision is least sure.

    So that an hour of labelling changes the most, whenever it ends.
    """
    left = [pair for pair in pairs if (pair.test.id, pair.train.id) not in done]
    return sorted(left, key=lambda pair: abs(pair.probability - THRESHOLD))


class LabelFile:
    """A CSV of labels that grows by one durable line for each label; what is in it when it is opened stays.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "labels.csv"
    >>> with LabelFile(path) as labels:
    ...     labels.add("t1", "n7", "y")
    >>> read_labels(path)
    {('t1', 'n7'): True}
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.done: dict[tuple[str, str], str] = {}

    def __enter__(self) -> LabelFile:
        self.done = _all_labels(self.path) if self.path.exists() else {}
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            columns = _columns(self.path) if self.path.exists() and self.path.stat().st_size else None
            self._file = self.path.open("a", encoding="utf-8", newline="")
            self._writer = csv.DictWriter(self._file, columns or COLUMNS[:3], restval="", lineterminator="\n")
            if columns is None:
                self._writer.writeheader()
            elif not self.path.read_bytes().endswith(b"\n"):
                self._file.write("\n")
            self._keep()
        except OSError as error:
            raise FailureError(f"{self.path} cannot be written: {reason_of(error)}.") from error
        return self

    def add(self, test: str, train: str, label: str) -> None:
        """Add a label (``y``, ``n`` or ``s``); it is on disk when this returns."""
        self._writer.writerow({"test_id": test, "train_id": train, "label": label})
        self._keep()
        self.done[test, train] = label

    def _keep(self) -> None:
        self._file.flush()
        os.fsync(self._file.fileno())

    def __exit__(self, *_: object) -> None:
        self._file.close()


def _row(pair: QuestionPair) -> list[str]:
    return [
        pair.test.id,
        pair.train.id,
        "" if pair.label is None else "y" if pair.label else "n",
        pair.test.question,
        pair.train.question,
        f"{pair.probability:.3f}",
        f"{pair.cosine:.3f}",
        str(pair.meaning_rank or ""),
        str(pair.words_rank or ""),
        "" if pair.shares_page is None else "yes" if pair.shares_page else "no",
        "yes" if pair.topic else "no",
    ]


def _all_labels(path: Path) -> dict[tuple[str, str], str]:
    """Every label of a file, ``s`` as well; pairs without one are left out."""
    _columns(path)
    found = {}
    for number, row in _rows(path):
        label = (row["label"] or "").strip().lower()
        if not label:
            continue
        kept = "s" if label in _SKIPPED else _SPELLINGS.get(label)
        if kept is None:
            raise InputError(f"{path}:{number}: the label {label!r} is neither y, n nor s.")
        found[_unquoted(row["test_id"]), _unquoted(row["train_id"])] = kept
    return found


def _unquoted(cell: str | None) -> str:
    """A cell without the apostrophe that kept a spreadsheet from taking it for a formula."""
    return cell[1:] if cell and cell[0] == "'" and _FORMULA.match(cell[1:]) else cell or ""


def _rows(path: Path) -> Iterator[tuple[int, dict[str, str | None]]]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            for row in reader:
                yield reader.line_num, row
    except FileNotFoundError:
        raise InputError(f"{path} does not exist.") from None
    except (csv.Error, UnicodeDecodeError) as error:
        raise InputError(f"{path} is no CSV in UTF-8 ({error}).") from None


def _columns(path: Path) -> list[str]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            columns = next(csv.reader(file), [])
    except FileNotFoundError:
        raise InputError(f"{path} does not exist.") from None
    except IsADirectoryError:
        raise InputError(f"{path} is a folder: name a CSV file.") from None
    except (csv.Error, UnicodeDecodeError) as error:
        raise InputError(f"{path} is no CSV in UTF-8 ({error}).") from None
    missing = [name for name in COLUMNS[:3] if name not in columns]
    if missing and columns:
        raise InputError(f"{path} has no column {missing[0]}: labels have test_id, train_id and label.")
    return columns
