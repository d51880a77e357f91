"""The length audit: how much of a ROUGE score, or of a lead in ROUGE, is length and nothing else.

Krishna et al., 2021, *Hurdles*, appendix A.6 and Table 11: answers are cut to a fraction of their words (truncate), and
what is left is repeated until it is as long as before (repeat). What repetition wins back, no content was needed for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from longform.audit.enough import FEW, LEVEL, more_to_decide, too_few
from longform.audit.finding import Finding, Table, Verdict
from longform.audit.length_cuts import Row, cut, cut_rows, repeated
from longform.audit.shown import comparison_row, interval_text, metric_name
from longform.data.example import Example
from longform.errors import InputError
from longform.progress import Progress, no_progress
from longform.score.report import Metric, Report, mean_of
from longform.score.statistics import Comparison, Interval, compare, intervals, p_text
from longform.study.scores import score_rows

__all__ = [
    "CHECK",
    "FRACTIONS",
    "HALF",
    "MUCH",
    "Answered",
    "LengthReport",
    "audit_length",
    "difference_text",
    "rouge_of",
    "rouge_steps",
    "share_of",
]

CHECK = "How much of its ROUGE-L is length?"
FRACTIONS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
HALF = 0.5
MUCH = 0.5
"""From this share of a gain on, it is called length."""
SMALL = 0.05
"""What a second half may add, as a share of the score, to be called nothing."""
_KILT_TASKS = ("kilt", "eli5")

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Answered:
    """A system's answers: ``rows`` are as a run keeps them, by id."""

    name: str
    task: str
    examples: Sequence[Example]
    rows: Mapping[str, Row]
    sentences: str = "own"

    def scored(self, rows: Mapping[str, Row] | None = None) -> LengthReport:
        """The scores of these answers, or of others to the same questions."""
        found = score_rows(self.examples, self.rows if rows is None else rows, self.task, sentences=self.sentences)
        rouge = rouge_of(self.task)
        if rouge not in found.columns:
            raise InputError(
                f"The answers of {self.name} have no ROUGE-L to audit: most questions have no long answer."
            )
        return LengthReport(found, rouge)


class LengthReport:
    """Length, ROUGE-L and, where there are short answers, STR-EM of some answers: plain means over the questions."""

    def __init__(self, report: Report, rouge: str) -> None:
        kept = [name for name in ("length", rouge, "str_em") if name in report.columns]
        metrics: list[Metric] = [mean_of(name, "", "", scale=1.0 if name == "length" else 100.0) for name in kept]
        self.report = Report(report.task, report.ids, {name: report.columns[name] for name in kept}, metrics)
        self.rouge = rouge

    def __getitem__(self, name: str) -> float:
        return self.report.scores[name]

    def against(self, other: LengthReport, resamples: int, seed: int) -> dict[str, Comparison]:
        """The difference to other answers to the same questions, metric by metric."""
        return compare(self.report, other.report, resamples=resamples, seed=seed)


def difference_text(found: Comparison) -> str:
    """A difference with its interval, as it is shown.

    >>> difference_text(Comparison(1.0, 1.01, -0.01, -2.0, 3.0, 0.9, 0.9))
    '+0.0 [-2.0, +3.0]'
    """
    value, low, high = (round(number, 1) + 0.0 for number in (found.difference, found.low, found.high))
    return f"{value:+.1f} [{low:+.1f}, {high:+.1f}]"


def rouge_of(task: str) -> str:
    """The ROUGE-L that a task is scored by: KILT's own, or that of a summary."""
    return "rougel" if task in _KILT_TASKS else "rougeLsum"


def rouge_steps(first: LengthReport, second: LengthReport) -> Floats:
    """How much more ROUGE-L the first has than the second, question by question, in the order of the second."""
    place_of = {identifier: place for place, identifier in enumerate(first.report.ids)}
    order = [place_of[identifier] for identifier in second.report.ids]
    steps: Floats = np.asarray(first.report.columns[first.rouge])[order] - second.report.columns[second.rouge]
    return steps


def share_of(part: Floats, gain: Floats, *, resamples: int = 10_000, seed: int = 0) -> Interval:
    """Which share of a mean gain its part is, in %, with the 95 % interval of the bootstrap over questions.

    It means something where the gain is clear of 0.

    >>> share_of(np.array([1.0, 1.0]), np.array([4.0, 4.0])).value
    25.0
    """

    def formula(means: Mapping[str, Any]) -> Any:
        whole = np.asarray(means["gain"])
        return 100.0 * np.asarray(means["part"]) / np.where(np.abs(whole) < 1e-12, 1e-12, whole)

    ids = [str(place) for place in range(len(gain))]
    report = Report("length", ids, {"part": part, "gain": gain}, [Metric("share", "", "", formula)])
    return intervals(report, resamples=resamples, seed=seed)["share"]


def audit_length(
    system: Answered,
    *,
    fractions: Sequence[float] = FRACTIONS,
    resamples: int = 10_000,
    seed: int = 0,
    progress: Progress = no_progress,
) -> Finding:
    """Score the answers cut to each fraction, and repeated to their length, and judge by the half."""
    wanted = _checked(fractions)
    whole = system.scored()
    cuts: dict[float, LengthReport] = {}
    repeats: dict[float, LengthReport] = {}
    for done, fraction in enumerate(wanted):
        progress("Cutting and repeating", done, len(wanted))
        if fraction == 1.0:
            cuts[fraction] = repeats[fraction] = whole
            continue
        cuts[fraction] = system.scored(cut_rows(system.rows, _changed(cut, fraction)))
        repeats[fraction] = system.scored(cut_rows(system.rows, _changed(repeated, fraction)))
    progress("Cutting and repeating", len(wanted), len(wanted))
    rouge = whole.rouge
    lost = whole.against(cuts[HALF], resamples, seed)[rouge]
    regained = repeats[HALF].against(cuts[HALF], resamples, seed)[rouge]
    gains = lost.p < LEVEL and lost.difference > 0
    share = None
    if gains:
        part, gain = rouge_steps(repeats[HALF], cuts[HALF]), rouge_steps(whole, cuts[HALF])
        share = share_of(part, gain, resamples=resamples, seed=seed)
    verdict, words = _judged(system.name, whole, cuts, lost, share, resamples)
    numbers = {
        "system": system.name,
        "questions": whole.report.n,
        "metric": rouge,
        "whole": whole.report.scores,
        "truncate": {f"{fraction:g}": found.report.scores for fraction, found in cuts.items()},
        "repeat": {f"{fraction:g}": found.report.scores for fraction, found in repeats.items()},
        "second_half": comparison_row(lost),
        "repetition": comparison_row(regained),
        "share_of_second_half_that_is_length": None if share is None else dict(share._asdict()),
    }
    return Finding(CHECK, verdict, words, [_table(cuts, repeats, resamples, seed)], numbers)


def _changed(change: Callable[[str, float], str], fraction: float) -> Callable[[str, str, int], str]:
    return lambda _identifier, text, _place: change(text, fraction)


def _checked(fractions: Sequence[float]) -> list[float]:
    wrong = [fraction for fraction in fractions if not 0 < fraction <= 1]
    if wrong:
        raise InputError(f"A fraction of an answer lies above 0 and is at most 1: {wrong[0]:g} does not.")
    return sorted({*fractions, HALF, 1.0})


def _judged(
    name: str,
    whole: LengthReport,
    cuts: Mapping[float, LengthReport],
    lost: Comparison,
    share: Interval | None,
    resamples: int,
) -> tuple[Verdict, str]:
    rouge, words = metric_name(whole.rouge), whole["length"]
    best = max(cuts, key=lambda fraction: (cuts[fraction][whole.rouge], fraction))
    said = f"{name} says {words:.0f} words on average and has {rouge} {whole[whole.rouge]:.1f}."
    if whole.report.n < FEW:
        return Verdict.UNKNOWN, f"{said} {too_few(whole.report.n)}"
    nothing = SMALL * whole[whole.rouge]
    if share is None and lost.high > nothing:
        more = more_to_decide(lost, nothing, whole.report.n, resamples=resamples)
        return Verdict.UNKNOWN, (
            f"{said} What its second half adds is not sure: {lost.difference:+.1f} points, 95 % interval "
            f"{lost.low:+.1f} to {lost.high:+.1f}. {more}"
        )
    if share is None:
        half = f"The first half of its words alone has {cuts[HALF][whole.rouge]:.1f}"
        least = lost.p < LEVEL and lost.difference < 0
        ending = "more words lower its score, they do not raise it" if least else "its score does not come from length"
        more = f", the first {100 * best:.0f} % {cuts[best][whole.rouge]:.1f}" if least and best != HALF else ""
        return Verdict.FINE, f"{said} {half}{more}: {ending}."
    part = f"{share.value:.0f} % of that ({share.low:.0f} to {share.high:.0f})" if share.value > 0 else "nothing"
    text = (
        f"{said} Its second half adds {lost.difference:.1f} points (95 % interval {lost.low:.1f} to {lost.high:.1f}); "
        f"saying the first half twice adds {part}"
    )
    if share.value >= 100 * MUCH:
        return Verdict.CONCERN, f"{text}: most of what more words bring is length, not content."
    return Verdict.FINE, f"{text}: what more words bring is mostly content."


def _table(
    cuts: Mapping[float, LengthReport], repeats: Mapping[float, LengthReport], resamples: int, seed: int
) -> Table:
    whole = cuts[1.0]
    with_answers = "str_em" in whole.report.scores
    rouge, rows = metric_name(whole.rouge), []
    for fraction, found in cuts.items():
        shown = intervals(found.report, resamples=resamples, seed=seed)[whole.rouge]
        step = repeats[fraction].against(found, resamples, seed)[whole.rouge] if fraction < 1 else None
        row = [
            f"{fraction:g}",
            f"{found['length']:.1f}",
            interval_text(shown),
            f"{repeats[fraction][whole.rouge]:.1f}",
            "" if step is None else difference_text(step),
            "" if step is None else p_text(step.p),
        ]
        rows.append((*row, f"{found['str_em']:.1f}") if with_answers else tuple(row))
    columns = ["fraction", "words", f"{rouge}, cut", f"{rouge}, repeated", "repeated − cut", "p"]
    return Table(
        "Cut to a fraction, and repeated to the full length",
        [*columns, "STR-EM, cut"] if with_answers else columns,
        rows,
        "In brackets 95 % intervals, those of differences paired. Repetition adds no answer, so STR-EM is given once.",
    )
