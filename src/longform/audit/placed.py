"""Where a system stands between what knows nothing of the answer and people, score by score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from longform.audit.bound_systems import LOWER, PEOPLE
from longform.audit.bounds_runs import Bound, Bounds
from longform.audit.enough import FEW, LEVEL, more_questions, questions_needed
from longform.audit.finding import Finding, Table, Verdict
from longform.audit.shown import (
    comparison_row,
    difference_text,
    digits_of,
    finished,
    left_out_notes,
    metric_name,
    quality_metrics,
    restricted,
)
from longform.errors import InputError
from longform.score.report import Report
from longform.score.statistics import Comparison, compare, holm, p_text
from longform.study.runs import Run
from longform.study.scores import score_rows

__all__ = ["CHECK", "Placed", "place_run", "place_system"]

CHECK = "Is it above what knows nothing?"


@dataclass(frozen=True)
class Placed:
    """A system against a bound on one score; ``p`` is corrected for all of them."""

    metric: str
    bound: Bound
    found: Comparison
    p: float
    n: int
    tests: int

    @property
    def needed(self) -> int | None:
        """About how many questions would tell, where it is not sure."""
        return questions_needed(self.found, self.n, self.tests) if self.where == "not sure" else None

    @property
    def where(self) -> str:
        """Above or below, where chance alone does not explain it; else "not sure"."""
        if self.p >= LEVEL or self.found.difference == 0:
            return "not sure"
        return "above" if self.found.difference > 0 else "below"

    @property
    def digits(self) -> int:
        """How many digits behind the point are shown."""
        return digits_of(self.bound.report, self.metric)

    @property
    def system_text(self) -> str:
        """The system's score as it is shown."""
        return f"{self.found.first:.{self.digits}f}"

    @property
    def bound_text(self) -> str:
        """The bound's score as it is shown."""
        return f"{self.found.second:.{self.digits}f}"

    @property
    def against(self) -> str:
        """The two scores, for a sentence."""
        return f"{self.system_text} against {self.bound_text}"


def place_run(run: Run, bounds: Bounds, *, resamples: int = 10_000, seed: int = 0) -> Finding:
    """Where a run's system stands; with people it is compared on the very references that they are compared with."""
    report = finished(run)
    alike = {bound.name: _scored_alike(run, report, bound) for bound in bounds.bounds if bound.references}
    return place_system(run.system, report, bounds, alike=alike, resamples=resamples, seed=seed)


def place_system(
    name: str,
    report: Report,
    bounds: Bounds,
    *,
    alike: Mapping[str, Report] | None = None,
    resamples: int = 10_000,
    seed: int = 0,
) -> Finding:
    """Where a system stands between the bounds of its dataset, score by score, on the questions of each bound.

    ``alike`` are the system's scores against the references of a bound, by its name, where they are not all.
    """
    places = _placed(name, report, bounds.bounds, alike or {}, resamples, seed)
    lower = [one for one in places if one.bound.side == LOWER]
    below = [one for one in lower if one.where != "above" and one.found.difference <= 0 and one.n >= FEW]
    unsure = [one for one in lower if one.where != "above" and one not in below]
    beyond = [one for one in places if one.bound.kind in PEOPLE and one.where == "above"]
    if below or beyond:
        verdict = Verdict.CONCERN
        told = [
            f"{name} is {where} {_and([f'{one.bound.title} ({one.bound_text})' for one in group])} on "
            f"{metric_name(metric)}, with {group[0].system_text}"
            for (metric, where), group in _grouped(below).items()
        ]
        told += [
            f"{name} is above {one.bound.title} on {metric_name(one.metric)} ({one.against}), "
            f"which says more of the score than of the system"
            for one in _worst(beyond)
        ]
        words = f"{'; '.join(told)}."
    elif unsure or not lower:
        verdict = Verdict.UNKNOWN
        told = [
            f"on {metric_name(one.metric)} it is not surely above {one.bound.title} ({one.against})"
            for one in _worst(unsure)
        ]
        words = f"The {report.n:,} questions do not tell: {'; '.join(told) or 'there is no bound to compare with'}."
        if unsure:
            # The one that takes the most questions: with as many, all are told.
            hardest = max(unsure, key=lambda one: (one.needed is None, one.needed or 0))
            words += f" {more_questions(hardest.found, hardest.n, hardest.tests, resamples)}"
    else:
        verdict = Verdict.FINE
        told = [
            f"on {metric_name(metric)} it has {one.system_text}, {one.bound.title} {one.bound_text}"
            for metric, one in _highest(lower).items()
        ]
        words = f"Yes: {'; '.join(told)}."
    numbers = {
        "system": name,
        "questions": report.n,
        "placed": [
            {"metric": one.metric, "bound": one.bound.name, "side": one.bound.side, "where": one.where, "items": one.n}
            | {**comparison_row(one.found), "holm": one.p, "needed": one.needed}
            for one in places
        ],
    }
    notes = left_out_notes(bounds.left_out)
    widest = max((one.n for one in places), default=report.n)
    if widest < report.n:
        notes.append(f"{name} is compared on {widest:,} of its {report.n:,} questions: those that the bounds are over.")
    return Finding(f"{CHECK} ({name})", verdict, words, [_placed_table(name, places)], numbers, notes)


def _scored_alike(run: Run, report: Report, bound: Bound) -> Report:
    """The system's scores with its answers compared with the references that the bound's answers are compared with."""
    examples = [example for example in run.examples if example.id in bound.references]
    rows = {
        example.id: {
            **run.rows[example.id],
            "answers": [
                {"text": answer["text"], "references": places}
                for answer in run.rows[example.id]["answers"]
                for places in bound.references[example.id]
            ],
        }
        for example in examples
    }
    sentences = str(report.settings.get("sentences", "own"))
    again = score_rows(examples, rows, run.task, sentences=sentences)
    mine = restricted(report, again.ids)
    # What a reader found does not depend on references, and is kept.
    changed = {name: column for name, column in again.columns.items() if name in mine.columns}
    return replace(mine, columns={**mine.columns, **changed})


def _placed(
    name: str, report: Report, bounds: Sequence[Bound], alike: Mapping[str, Report], resamples: int, seed: int
) -> list[Placed]:
    found: list[tuple[str, Bound, Comparison, int]] = []
    for bound in bounds:
        whole = alike.get(bound.name, report)
        ids = set(whole.ids) & set(bound.report.ids)
        if not ids:
            raise InputError(
                f"{name} and the bound {bound.name} have no question in common: name a run of this dataset."
            )
        mine, theirs = restricted(whole, ids), restricted(bound.report, ids)
        compared = compare(mine, theirs, resamples=resamples, seed=seed)
        # Where both have nothing, as with exact match of long answers, there is nothing to compare.
        told = [metric for metric in quality_metrics(compared) if compared[metric].first or compared[metric].second]
        found += [(metric, bound, compared[metric], mine.n) for metric in told]
    corrected = holm([one.p for _, _, one, _ in found])
    return [
        Placed(metric, bound, one, p, n, len(found))
        for (metric, bound, one, n), p in zip(found, corrected, strict=True)
    ]


def _grouped(places: Sequence[Placed]) -> dict[tuple[str, str], list[Placed]]:
    """Those that a sentence tells together: on one score, surely below or only not above; the highest bound first."""
    found: dict[tuple[str, str], list[Placed]] = {}
    for one in sorted(places, key=lambda one: -one.found.second):
        found.setdefault((one.metric, "below" if one.where == "below" else "not above"), []).append(one)
    return found


def _and(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def _worst(places: Sequence[Placed]) -> list[Placed]:
    """The farthest bound of each score."""
    found: dict[str, Placed] = {}
    for one in places:
        if one.metric not in found or abs(one.found.difference) > abs(found[one.metric].found.difference):
            found[one.metric] = one
    return list(found.values())


def _highest(places: Sequence[Placed]) -> dict[str, Placed]:
    """The highest bound of each score."""
    found: dict[str, Placed] = {}
    for one in places:
        if one.metric not in found or one.found.second > found[one.metric].found.second:
            found[one.metric] = one
    return found


def _placed_table(name: str, places: Sequence[Placed]) -> Table:
    rows = [
        [
            metric_name(one.metric),
            one.bound.name,
            "▼" if one.bound.side == LOWER else "▲",
            one.bound_text,
            one.system_text,
            difference_text(one.found, one.digits),
            p_text(one.p),
            one.where,
        ]
        for one in sorted(places, key=lambda one: one.metric)
    ]
    return Table(
        f"{name} between the bounds",
        ("score", "bound", "", "bound's", "system's", "difference", "p", "it is"),
        rows,
        "p by a paired permutation test, after Holm over all rows. Beside people a system has their references alone.",
    )
