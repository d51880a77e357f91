"""What a dataset's scores can tell: what those reach that know nothing of the answer, and what people reach.

*Hurdles* (Krishna et al., 2021, section 3.3): on ELI5 copying the question had a ROUGE-L of 20.0 and people's longest
answer 21.2, so that a system's 24.4 said little.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from longform.audit.bound_systems import LOWER, PEOPLE
from longform.audit.bounds_runs import Bound, Bounds
from longform.audit.enough import FEW, more_questions, too_few
from longform.audit.finding import Finding, Table, Verdict
from longform.audit.shown import (
    digits_of,
    interval_text,
    left_out_notes,
    metric_name,
    quality_metrics,
    restricted,
)
from longform.score.report import Metric, Report
from longform.score.statistics import Comparison, intervals

__all__ = ["CHECK", "NARROW", "audit_bounds"]

CHECK = "Do the scores tell people from what knows nothing?"

NARROW = 0.8
"""A score says little where what knows nothing reaches this share of what people reach."""


def audit_bounds(bounds: Bounds, *, notes: Sequence[str] = (), resamples: int = 10_000, seed: int = 0) -> Finding:
    """Whether the scores of a dataset can tell good answers from bad ones, by its bounds."""
    names = _metrics(bounds.bounds)
    narrow: list[str] = []
    wide: list[str] = []
    unsure: list[str] = []
    fewest = bounds.items
    for name in names:
        floor, people = _floor(bounds.bounds, name), _people(bounds.bounds, name)
        if floor is None or people is None or people.report.scores[name] <= 0:
            continue
        low, high = floor.report.scores[name], people.report.scores[name]
        digits = digits_of(people.report, name)
        reached = f"reaches {low:.{digits}f}, and {people.title} {high:.{digits}f}"
        line = f"on {metric_name(name)} {floor.title} {reached}"
        gap = _gap(floor.report, people.report, name, resamples, seed)
        fewest = min(fewest, gap.n)
        if low >= NARROW * high:
            narrow.append(line)
        elif gap.found.high < 0:
            wide.append(line)
        else:
            needed = more_questions(gap.found, gap.n, resamples=resamples)
            unsure.append(f"{line}, which on {gap.n:,} questions may be {100 * NARROW:.0f} % of it ({_inner(needed)})")
    if (narrow or wide or unsure) and fewest < FEW:
        verdict, words = Verdict.UNKNOWN, f"{too_few(fewest)} So far {'; '.join([*narrow, *unsure, *wide])}."
    elif narrow:
        verdict, words = Verdict.CONCERN, f"Not all: {'; '.join(narrow)}: such a score says little of an answer."
    elif unsure:
        verdict, words = Verdict.UNKNOWN, f"It is not sure: {'; '.join(unsure)}."
    elif wide:
        verdict, words = Verdict.FINE, f"Yes: {'; '.join(wide)}."
    else:
        verdict = Verdict.UNKNOWN
        words = f"Nothing tells what people reach on {bounds.dataset}{_lower_words(bounds, names)}."
    told = left_out_notes(bounds.left_out)
    if any(bound.kind in PEOPLE for bound in bounds.bounds):
        told.append(
            "People's answers are compared with those of the others alone: with one reference less than other rows."
        )
    return Finding(CHECK, verdict, words, [_table(bounds, names, resamples, seed)], _numbers(bounds), [*told, *notes])


class _Gap(NamedTuple):
    """By how much what knows nothing is above the share of people's score that is too near, on ``n`` questions."""

    found: Comparison
    n: int


def _gap(floor: Report, people: Report, metric: str, resamples: int, seed: int) -> _Gap:
    ids = set(floor.ids) & set(people.ids)
    mine, theirs = restricted(floor, ids), restricted(people, ids)
    order = {identifier: place for place, identifier in enumerate(theirs.ids)}
    places = [order[identifier] for identifier in mine.ids]
    columns = {f"floor {name}": np.asarray(column) for name, column in mine.columns.items()}
    columns |= {f"people {name}": np.asarray(column)[places] for name, column in theirs.columns.items()}
    low, high = (next(one for one in report.metrics if one.name == metric) for report in (mine, theirs))

    def formula(means: Mapping[str, Any]) -> Any:
        return low.formula(_of(means, "floor ")) - NARROW * high.formula(_of(means, "people "))

    both = Report("bounds", mine.ids, columns, [Metric("gap", "", "", formula)])
    found = intervals(both, resamples=resamples, seed=seed)["gap"]
    return _Gap(Comparison(mine.scores[metric], NARROW * theirs.scores[metric], *found, 1.0, 1.0), mine.n)


def _of(means: Mapping[str, Any], side: str) -> dict[str, Any]:
    return {name.removeprefix(side): value for name, value in means.items() if name.startswith(side)}


def _inner(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:].rstrip(".")


def _metrics(bounds: Sequence[Bound]) -> list[str]:
    names = dict.fromkeys(name for bound in bounds for name in quality_metrics(bound.report.scores))
    return [name for name in names if any(bound.report.scores.get(name, 0) for bound in bounds)]


def _floor(bounds: Sequence[Bound], metric: str) -> Bound | None:
    lower = [bound for bound in bounds if bound.side == LOWER and metric in bound.report.scores]
    return max(lower, key=lambda bound: bound.report.scores[metric], default=None)


def _people(bounds: Sequence[Bound], metric: str) -> Bound | None:
    """People against each other; that is no choice by the score itself, as the best answer is."""
    return next((bound for bound in bounds if bound.kind == "human" and metric in bound.report.scores), None)


def _lower_words(bounds: Bounds, names: Sequence[str]) -> str:
    told = [
        f"{metric_name(name)} {floor.report.scores[name]:.{digits_of(floor.report, name)}f} ({floor.title})"
        for name in names
        if (floor := _floor(bounds.bounds, name)) is not None
    ]
    return f"; what knows nothing reaches {', '.join(told)}, and a system must be above that" if told else ""


def _table(bounds: Bounds, names: Sequence[str], resamples: int, seed: int) -> Table:
    rows = []
    for bound in bounds.bounds:
        found = intervals(bound.report, resamples=resamples, seed=seed)
        cells = [interval_text(found[name], digits_of(bound.report, name)) if name in found else "" for name in names]
        side = "▼" if bound.side == LOWER else "▲"
        rows.append([bound.name, side, f"{bound.report.n:,}", f"{bound.report.scores['length']:.1f}", *cells])
    columns = ["bound", "", "questions", "words", *(metric_name(name) for name in names)]
    return Table(
        f"Bounds on {bounds.dataset}",
        columns,
        rows,
        "▼ knows nothing of the answer, ▲ knows it beforehand; in brackets the 95 % interval.",
    )


def _numbers(bounds: Bounds) -> Mapping[str, object]:
    return {
        "dataset": bounds.dataset,
        "questions": bounds.items,
        "bounds": {bound.name: {"side": bound.side, "scores": bound.report.scores} for bound in bounds.bounds},
        "left_out": dict(bounds.left_out),
    }
