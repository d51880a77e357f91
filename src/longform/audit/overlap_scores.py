"""Whether a system scores higher on the test questions that stand in its training set: two groups of items, one run."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from longform.audit.enough import LEVEL, more_to_decide
from longform.audit.finding import Finding, Table, Verdict
from longform.audit.shown import finished, metric_name, quality_metrics
from longform.errors import InputError
from longform.score.report import Metric, Report
from longform.score.statistics import Comparison, holm, p_text
from longform.study.runs import Run

__all__ = ["FEW", "MUCH", "GroupDifference", "audit_scores_by_overlap", "compare_groups"]

FEW = 10
"""With fewer questions in a group than this nothing is said of the difference."""
MUCH = 0.1
"""A score that is higher by this share of itself on questions that overlap is one to be doubted."""
_CHUNK = 1 << 20

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class GroupDifference:
    """A metric on two groups of items: inside − outside, with its bootstrap interval and the permutation test's p."""

    inside: float
    outside: float
    difference: float
    low: float
    high: float
    p: float
    holm: float


def compare_groups(
    report: Report, inside: Collection[str], *, resamples: int = 10_000, seed: int = 0, metrics: Collection[str] = ()
) -> dict[str, GroupDifference]:
    """Every metric on the items of ``inside`` against its value on the others.

    The interval is the percentile bootstrap with each group resampled by itself; p is how often a random group of the
    same size differs as much (two-sided, (hits + 1) / (resamples + 1)); ``holm`` corrects it for all the metrics.

    >>> from longform.score.report import mean_of
    >>> report = Report("x", list("abcdefgh"), {"em": np.array([1.0] * 4 + [0.0] * 4)}, [mean_of("em", "", "")])
    >>> found = compare_groups(report, set("abcd"), resamples=2000)["em"]
    >>> found.difference, 0.01 < found.p < 0.05
    (1.0, True)
    """
    if resamples < 1:
        raise InputError(f"At least one resample is needed, not {resamples}.")
    wanted = set(inside)
    member = np.array([identifier in wanted for identifier in report.ids])
    if not member.any() or member.all():
        raise InputError("A comparison needs items in both groups.")
    names = list(report.columns)
    table = np.stack([np.asarray(report.columns[name], dtype=np.float64) for name in names], axis=1)
    ours, theirs = table[member], table[~member]
    wanted_metrics = [metric for metric in report.metrics if not metrics or metric.name in metrics]
    measured = [metric for metric in wanted_metrics if _varies(metric, names)]
    generator = np.random.default_rng(seed)
    bootstrap: dict[str, list[Floats]] = {metric.name: [] for metric in measured}
    chance: dict[str, list[Floats]] = {metric.name: [] for metric in measured}
    rows = max(1, _CHUNK // len(table))
    for start in range(0, resamples, rows):
        count = min(rows, resamples - start)
        drawn, others = (_drawn_means(group, count, generator) for group in (ours, theirs))
        shuffled = generator.permuted(np.broadcast_to(member, (count, len(member))), axis=1).astype(np.float64)
        first = shuffled @ table / len(ours)
        second = (table.sum(axis=0) - shuffled @ table) / len(theirs)
        for metric in measured:
            bootstrap[metric.name].append(_values(metric, names, drawn) - _values(metric, names, others))
            chance[metric.name].append(_values(metric, names, first) - _values(metric, names, second))
    found: dict[str, GroupDifference] = {}
    for metric in measured:
        one, two = (float(_values(metric, names, group.mean(axis=0)[None])[0]) for group in (ours, theirs))
        low, high = np.quantile(np.concatenate(bootstrap[metric.name]), [0.025, 0.975])
        by_chance = np.abs(np.concatenate(chance[metric.name]))
        limit = abs(one - two)
        hits = int(np.sum(by_chance >= limit - 1e-10 * max(limit, float(by_chance.max()))))
        p = (hits + 1) / (resamples + 1)
        difference = one - two
        found[metric.name] = GroupDifference(
            one, two, difference, min(float(low), difference), max(float(high), difference), p, p
        )
    corrected = holm([one.p for one in found.values()])
    return {
        name: GroupDifference(one.inside, one.outside, one.difference, one.low, one.high, one.p, value)
        for (name, one), value in zip(found.items(), corrected, strict=True)
    }


def audit_scores_by_overlap(
    run: Run, groups: Mapping[str, Collection[str]], *, resamples: int = 10_000, seed: int = 0
) -> Finding:
    """One run's scores on overlapping questions against the others; ``groups`` are ids by what overlaps.

    The first group decides the verdict.
    """
    check = f"Does {run.system} do better on questions that overlap?"
    report, tables, numbers = finished(run), [], {}
    tested = {identifier for ids in groups.values() for identifier in ids}
    unknown = tested - set(report.ids) - {example.id for example in run.examples}
    if unknown:
        raise InputError(
            f"{run.folder} was not asked the test question {sorted(unknown)[0]}: name the same dataset as --test."
        )
    verdict, words = Verdict.UNKNOWN, ""
    for name, ids in groups.items():
        inside = _scored(report, ids)
        if min(len(inside), report.n - len(inside)) < FEW:
            words = words or (
                f"{run.system} has scores on {len(inside)} questions with {name} and {report.n - len(inside)} without: "
                f"fewer than {FEW} on one side tell nothing, and {_all_needed(report.n, len(inside))}."
            )
            continue
        found = compare_groups(report, inside, resamples=resamples, seed=seed, metrics=quality_metrics(report.scores))
        tables.append(_table(name, found, len(inside), report.n - len(inside)))
        numbers[name] = {metric: vars(one) for metric, one in found.items()}
        if not words:
            verdict, words = _verdict(run.system, name, found, report.n, resamples)
    return Finding(check, verdict, words, tables, {"system": run.system, "groups": numbers})


def _all_needed(n: int, inside: int) -> str:
    """How many questions there must be for :data:`FEW` on the smaller side, at the share that was seen."""
    smaller = min(inside, n - inside)
    return f"about {-(-FEW * n // smaller):,} in all would be needed" if smaller else "one side has none at all"


def _scored(report: Report, ids: Collection[str]) -> set[str]:
    """Of some ids those that have scores."""
    return set(report.ids) & set(ids)


def _verdict(
    system: str, group: str, found: Mapping[str, GroupDifference], n: int, resamples: int
) -> tuple[Verdict, str]:
    higher = {name: one for name, one in found.items() if one.holm < LEVEL and one.difference > 0}
    if higher:
        name, one = max(higher.items(), key=lambda item: item[1].difference / max(abs(item[1].outside), 1e-9))
        return Verdict.CONCERN, (
            f"{system} has {metric_name(name)} {one.inside:.1f} on questions with {group} and {one.outside:.1f} on the "
            f"others (difference {one.difference:+.1f}, 95 % interval {one.low:+.1f} to {one.high:+.1f}, "
            f"p = {p_text(one.holm).lstrip('< ')} after correction): report the score on the others."
        )
    widest = max(found.items(), key=lambda item: abs(item[1].difference))
    name, one = widest
    told = (
        f"No score of {system} is higher on questions with {group} by more than chance; the largest difference is "
        f"{metric_name(name)} {one.difference:+.1f} (95 % interval {one.low:+.1f} to {one.high:+.1f}, "
        f"p = {p_text(one.p).lstrip('< ')})."
    )
    open_ = {name: one for name, one in found.items() if one.high >= MUCH * one.outside and one.outside > 0}
    if not open_:
        return Verdict.FINE, told
    name, one = max(open_.items(), key=lambda item: item[1].high / item[1].outside)
    seen = Comparison(one.inside, one.outside, one.difference, one.low, one.high, one.p, one.holm)
    more = more_to_decide(seen, MUCH * one.outside, n, len(found), resamples)
    return Verdict.UNKNOWN, f"{told} {metric_name(name)} may still be higher by {100 * MUCH:.0f} % of itself. {more}"


def _table(group: str, found: Mapping[str, GroupDifference], inside: int, outside: int) -> Table:
    rows = [
        (
            metric_name(name),
            f"{one.inside:.1f}",
            f"{one.outside:.1f}",
            f"{one.difference:+.1f} [{one.low:+.1f}, {one.high:+.1f}]",
            p_text(one.p),
            p_text(one.holm),
        )
        for name, one in found.items()
    ]
    columns = ("score", f"with {group} ({inside:,})", f"others ({outside:,})", "difference", "p", "Holm")
    return Table(f"Scores with {group}", columns, rows)


def _varies(metric: Metric, names: list[str]) -> bool:
    """Whether a metric follows from the means: given two resamples it gives two numbers."""
    return np.shape(metric.formula({name: np.full(2, 0.5) for name in names})) == (2,)


def _values(metric: Metric, names: list[str], means: Floats) -> Floats:
    found: Floats = np.asarray(metric.formula(dict(zip(names, means.T, strict=True))), dtype=np.float64)
    return found


def _drawn_means(group: Floats, count: int, generator: Any) -> Floats:
    places = generator.integers(0, len(group), size=(count, len(group)))
    drawn: Floats = group[places].mean(axis=1)
    return drawn
