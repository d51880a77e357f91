"""How well people do and agree on Natural Questions, from k annotations of every question.

Kwiatkowski et al., TACL 2019: section 4.4 (how often annotators answer, and how often alike), section 5.2 and
Table 3 (a single annotator and the super-annotator, scored on five references as a system is).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np

from longform.errors import InputError
from longform.score.nq import Judged, h_beta, judge_long, judge_short, ratio_metrics
from longform.score.nq_records import Label, NqSpan
from longform.score.report import Report

__all__ = ["Band", "answer_bands", "answer_coverage", "single_annotator", "super_annotator", "super_label"]

Kind = Literal["long", "short"]
# Section 5.2: NULL if fewer than 8 of 20 annotators answer.
_ALPHA_SHARE = 8 / 20
_CITATION = "Kwiatkowski et al., TACL 2019, section 5.2"


class Band(NamedTuple):
    """The questions whose share of annotators with an answer lies in (``low``, ``high``].

    ``share`` is their part of all questions, the paper's Ê[(θ¹, θ²)]; ``judged`` splits it by an expert's verdict.
    """

    low: float
    high: float
    share: float
    judged: dict[str, float]


def _key(label: Label, kind: Kind) -> Hashable:
    """What is equal for two labels that give the same answer; None for none."""

    def place(span: NqSpan) -> tuple[str, int, int]:
        # One page's annotations all carry the same offsets, so one kind is enough to compare by.
        by_token = span.start_token >= 0
        return ("token", *span[2:]) if by_token else ("byte", *span[:2])

    if kind == "long":
        return place(label.long) if label.has_long else None
    if label.yes_no != "none":
        return label.yes_no
    return frozenset(place(span) for span in label.short if not span.null) if label.has_short else None


def answer_bands(
    annotations: Mapping[str, Sequence[Label]],
    kind: Kind = "long",
    *,
    edges: Sequence[float] = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0),
    verdicts: Mapping[str, str] | None = None,
) -> list[Band]:
    """The curve of the paper's Figure 4: how many questions have which share μ of annotators with an answer.

    Questions that nobody answered lie in no band. ``verdicts`` gives an expert's verdict per question ("C", "Cd", "W").

    >>> yes, none = Label(yes_no="yes"), Label()
    >>> labels = {"1": [yes] * 5, "2": [yes, none, none, none, none]}
    >>> bands = answer_bands(labels, "short", verdicts={"1": "C", "2": "W"})
    >>> bands[0], bands[-1].share
    (Band(low=0.0, high=0.2, share=0.5, judged={'W': 0.5}), 0.5)
    """
    _require(annotations, 1)
    shares = {
        item: sum(_key(label, kind) is not None for label in labels) / len(labels)
        for item, labels in annotations.items()
    }
    bands = []
    for low, high in pairwise(edges):
        inside = [item for item, share in shares.items() if low < share <= high]
        counts: Counter[str] = Counter()
        if verdicts is not None:
            for item in inside:
                if item not in verdicts:
                    raise InputError(f"Item {item} has no verdict.")
                counts[verdicts[item]] += 1
        judged = {verdict: count / len(shares) for verdict, count in sorted(counts.items())}
        bands.append(Band(low, high, len(inside) / len(shares), judged))
    return bands


def answer_coverage(annotations: Mapping[str, Sequence[Label]], kind: Kind = "long", *, most: int = 5) -> list[float]:
    """Which part of all answers the m most popular ones of their question account for, for m = 1 … ``most``.

    Section 4.4: 83 % and 96 % for one and two long answers, 64 % and 90 % for one and three short ones, over all
    annotations that are not null. All 0 where there is none.

    >>> a, b = Label(NqSpan(start_token=1, end_token=2)), Label(NqSpan(start_token=5, end_token=9))
    >>> answer_coverage({"1": [a, a, a, b, Label()]}, most=3)
    [0.75, 1.0, 1.0]
    """
    _require(annotations, 1)
    covered, total = np.zeros(most), 0
    for labels in annotations.values():
        counts = Counter(key for label in labels if (key := _key(label, kind)) is not None)
        sizes = [count for _, count in counts.most_common(most)]
        covered += np.cumsum(sizes + [0] * (most - len(sizes)))
        total += counts.total()
    return [float(value) for value in covered / max(total, 1)]


def super_label(labels: Sequence[Label], *, alpha: int | None = None) -> Label:
    """What the super-annotator says: nothing if fewer than α of ``labels`` give an answer, else the most frequent one.

    Long and short answers are decided apart. α is 8 for the paper's 20 labels, and by default the same share, rounded
    up, of any other number. Among equally frequent answers the one given first wins.

    >>> a, b = Label(yes_no="yes"), Label(yes_no="no")
    >>> super_label([a, b, b, Label()]).yes_no, super_label([a, Label(), Label(), Label()]).yes_no
    ('no', 'none')
    """
    needed = int(np.ceil(_ALPHA_SHARE * len(labels) - 1e-9)) if alpha is None else alpha

    def choose(kind: Kind) -> Label:
        given = [(key, label) for label in labels if (key := _key(label, kind)) is not None]
        if not given or len(given) < needed:
            return Label()
        winner, _ = Counter(key for key, _ in given).most_common(1)[0]
        return next(label for key, label in given if key == winner)

    short = choose("short")
    return Label(choose("long").long, short.short, short.yes_no)


def super_annotator(
    annotations: Mapping[str, Sequence[Label]],
    *,
    references: int = 5,
    alpha: int | None = None,
    threshold: int = 2,
    draws: int = 100,
    seed: int = 0,
) -> Report:
    """The upper bound of section 5.2: many annotators' majority, scored on ``references`` others as a system is.

    The annotations of each question are split at random, ``draws`` times, and the counts averaged before precision and
    recall are taken. The paper, with 25 annotations and one split: 87.2 F1 for long answers, 75.7 for short ones.
    """
    report = _panel(annotations, lambda labels: [super_label(labels, alpha=alpha)], references, threshold, draws, seed)
    return Report("nq-super-annotator", report.ids, report.columns, report.metrics, {**report.settings, "alpha": alpha})


def single_annotator(
    annotations: Mapping[str, Sequence[Label]],
    *,
    references: int = 5,
    threshold: int = 2,
    draws: int = 100,
    seed: int = 0,
) -> Report:
    """One annotator scored on ``references`` others: every annotator outside them in turn, their counts averaged.

    The paper, on 25-way annotations: 73.4 F1 for long answers, 57.5 for short ones (Table 3).

    >>> yes = Label(yes_no="yes")
    >>> single_annotator({"1": [yes] * 6}).scores["short-answer-f1"]
    1.0
    """
    report = _panel(annotations, list, references, threshold, draws, seed)
    return Report("nq-single-annotator", report.ids, report.columns, report.metrics, report.settings)


def _panel(
    annotations: Mapping[str, Sequence[Label]],
    answer: Callable[[Sequence[Label]], Sequence[Label]],
    references: int,
    threshold: int,
    draws: int,
    seed: int,
) -> Report:
    """Score what ``answer`` makes of the labels left over by each split into references and the rest."""
    _require(annotations, references + 1)
    generator = np.random.default_rng(seed)
    names = [f"{kind}_{name}" for kind in ("long", "short") for name in (*Judged._fields, "accuracy")]
    rows = []
    for labels in annotations.values():
        values = []
        for _ in range(draws):
            order = generator.permutation(len(labels))
            gold = [labels[place] for place in order[:references]]
            for label in answer([labels[place] for place in order[references:]]):
                both = [judge(gold, label, threshold=threshold) for judge in (judge_long, judge_short)]
                values.append([value for judged in both for value in (*judged, h_beta(judged))])
        rows.append(np.mean(np.array(values, dtype=np.float64), axis=0))
    columns = dict(zip(names, np.array(rows).T, strict=True))
    metrics = [*ratio_metrics("long", _CITATION), *ratio_metrics("short", _CITATION)]
    settings = {"references": references, "threshold": threshold, "draws": draws, "seed": seed}
    return Report("nq-annotators", list(annotations), columns, metrics, settings)


def _require(annotations: Mapping[str, Sequence[Label]], least: int) -> None:
    if not annotations:
        raise InputError("There are no annotations.")
    for item, labels in annotations.items():
        if len(labels) < least:
            raise InputError(f"Item {item} has {len(labels)} annotations; {least} are needed.")
