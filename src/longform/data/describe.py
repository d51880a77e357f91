"""What a dataset holds, in numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from statistics import mean, median
from typing import Any

from longform.data.catalogue import CATALOGUE
from longform.data.dataset import Dataset

__all__ = ["describe"]


def describe(dataset: Dataset) -> dict[str, Any]:
    """The dataset's files with their sha256, its counts, and the statistics of its split.

    Words are counted by white space. ``statistics`` holds for each measure its mean, median, least and most over the
    examples that have the thing measured. What no example has is left out.

    >>> from longform.data.example import Example
    >>> ask = Example("1", "Who sang?", ("Ringo sang it.",), (("Ringo", "Starr"),))
    >>> facts = describe(Dataset("mine", "dev", "text", (ask,), {"mine.jsonl": "0" * 64}, 1))
    >>> facts["counts"]["long answers"], facts["statistics"]["words in a long answer"]["mean"]
    (1, 3)
    """
    examples = dataset.examples
    counts = {
        "questions": len(examples),
        "distinct questions": len({" ".join(one.question.lower().split()) for one in examples}),
        "with a long answer": sum(bool(one.long_answers) for one in examples),
        "long answers": sum(len(one.long_answers) for one in examples),
        "with short answers": sum(bool(one.short_answers) for one in examples),
        "short answers": sum(len(one.short_answers) for one in examples),
        "with several readings": sum(len(one.readings) > 1 for one in examples),
        "readings": sum(len(one.readings) for one in examples),
        "follow-up questions": sum(len(one.follow_ups) for one in examples),
        "with pages": sum(bool(one.pages) for one in examples),
        "distinct pages": len({page for one in examples for page in one.pages}),
        "gold passages": sum(len(one.passages) for one in examples),
    }
    measured = {
        "words in a question": [len(one.question.split()) for one in examples],
        "long answers to a question": [len(one.long_answers) for one in examples if one.long_answers],
        "words in a long answer": [len(text.split()) for one in examples for text in one.long_answers],
        "short answers to a question": [len(one.short_answers) for one in examples if one.short_answers],
        "names of a short answer": [len(names) for one in examples for names in one.short_answers],
        "words in a short answer": [
            len(name.split()) for one in examples for names in one.short_answers for name in names
        ],
        "readings of a question": [len(one.readings) for one in examples if one.readings],
        "follow-ups to a question": [len(one.follow_ups) for one in examples if one.follow_ups],
        "pages of a question": [len(one.pages) for one in examples if one.pages],
    }
    source = CATALOGUE.get(dataset.name)
    kinds = Counter(str(one.meta[name]) for one in examples for name in ("type", "domain") if one.meta.get(name))
    return {
        "dataset": dataset.name,
        "title": source.title if source else "rows of JSON",
        "split": dataset.split,
        "task": dataset.task,
        "owner": source.owner if source else "",
        "licence": source.licence if source else "",
        "files": dict(dataset.files),
        "sha256": dataset.sha256,
        "all": dataset.all,
        "published": source.official.get(dataset.split) if source else None,
        "counts": {name: count for name, count in counts.items() if count},
        "kinds": dict(sorted(kinds.items())),
        "statistics": {name: _spread(values) for name, values in measured.items() if values},
    }


def _spread(values: Sequence[int]) -> dict[str, float]:
    return {"mean": mean(values), "median": median(values), "least": min(values), "most": max(values)}
