"""How scores are called in a report, what they measure, and which of them stand together."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from longform.report.gather import DatasetRuns
from longform.score.report import Metric

__all__ = ["Measure", "digits_of", "is_passages", "is_plain", "measure_of", "quality_of", "shown_quality"]

# The scores that say best how good an answer is, the first first.
_QUALITY = ("DR", "C-F1", "QA-F1", "rougeLsum", "rougel", "f1", "str_em", "em")
_BARS = ("DR", "QA-F1", "C-F1", "str_em", "rougeLsum", "rougel", "precision", "recall", "f1")


class Measure(NamedTuple):
    """A score's name as a heading, and what it measures."""

    heading: str
    about: str


_MEASURES = {
    "length": Measure("length", "words of the answer, by white space"),
    "str_em": Measure("STR-EM", "share of the short answers of which a name stands in the answer"),
    "rougeLsum": Measure("ROUGE-L", "ROUGE-L F of a summary, against the better reference"),
    "rougel": Measure("ROUGE-L (KILT)", "ROUGE-L F as KILT has it, against the best reference"),
    "QA-EM": Measure("QA-EM", "share of the readings that a reader answers exactly from the answer"),
    "QA-F1": Measure("Disambig-F1", "word overlap of what a reader finds in the answer for each reading"),
    "QA-Hit": Measure("QA-Hit", "share of the questions with every reading exact"),
    "DR": Measure("DR", "root of Disambig-F1 times ROUGE-L"),
    "C-F1": Measure("C-F1", "word overlap of what a reader finds in the answer for each question of the conversation"),
    "em": Measure("EM", "the normalised answer equals a gold one"),
    "f1": Measure("F1", "F1 of the words with the best gold answer; of a list, F1 of the answers that it names"),
    "groundedness": Measure("grounded", "share of the answer's words, stop words aside, that stand in its passages"),
    "answer_recall": Measure("answers", "share of the short answers in the first k passages"),
    "page_recall": Measure("pages", "share of the gold pages among the first k passages"),
    "follow_up_recall": Measure("follow-ups", "share of the follow-ups' answers in the first k passages"),
}
_AT = re.compile(r"(?P<name>\w+_recall)@(?P<k>\d+)")


def measure_of(name: str) -> Measure:
    """How a score is called and what it measures; one that is not known has its own name.

    >>> measure_of("answer_recall@5")
    Measure(heading='answers@5', about='share of the short answers in the first 5 passages')
    """
    found = _AT.fullmatch(name)
    if found and found["name"] in _MEASURES:
        heading, about = _MEASURES[found["name"]]
        return Measure(f"{heading}@{found['k']}", about.replace(" k ", f" {found['k']} "))
    return _MEASURES.get(name, Measure(name, ""))


def is_passages(name: str) -> bool:
    """Whether a score is one of the passages, not of the answer."""
    return name == "groundedness" or _AT.fullmatch(name) is not None


def is_plain(name: str) -> bool:
    """Whether a score only describes: neither more nor less of it is better."""
    return name in ("length", "num_preds")


def digits_of(metric: Metric, values: Sequence[float]) -> int:
    """Decimals: one on a scale to 100, three on a scale to 1."""
    unit = metric.scale == 1.0 and metric.column is not None and not is_plain(metric.name)
    return 3 if unit and all(abs(value) <= 1.0 for value in values) else 1


def quality_of(dataset: DatasetRuns, wanted: Sequence[str] = ()) -> str | None:
    """The score that stands for how good an answer is: the first wanted, else the best known that all systems have."""
    shared = [
        name
        for name in (dataset.competing[0].report.scores if dataset.competing else ())
        if all(name in entry.report.scores for entry in dataset.competing)
        and not is_passages(name)
        and not is_plain(name)
    ]
    return next((name for name in (*wanted, *_QUALITY, *shared) if name in shared), None)


def shown_quality(dataset: DatasetRuns, wanted: Sequence[str] = ()) -> list[str]:
    """The scores that have a plot of bars: at most four."""
    names = {name for entry in dataset.competing for name in entry.report.scores}
    chosen = [name for name in (wanted or _BARS) if name in names and not is_plain(name)]
    if not chosen:
        quality = quality_of(dataset)
        chosen = [quality] if quality is not None else []
    return chosen[:4]
