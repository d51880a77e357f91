"""What one run alone tells of its passages: whether its answers hold more of them than of those of other questions."""

from __future__ import annotations

from longform.audit.control import GAP, Evidence, texts_of
from longform.audit.drawn import drawn_report, others_passages, passages_of
from longform.audit.enough import more_to_decide
from longform.audit.finding import Finding, Table, Verdict
from longform.audit.shown import comparison_row
from longform.errors import InputError
from longform.score.statistics import compare
from longform.study.runs import Run

__all__ = ["CHECK", "audit_passages"]

CHECK = "Do its answers hold what it retrieved?"


def audit_passages(run: Run, *, resamples: int = 10_000, seed: int = 0) -> Finding:
    """The overlaps of a control experiment without its second run: the floor are passages of other questions.

    Whether the answers would be as good without the passages it cannot tell: that takes the second run
    (:func:`longform.audit.control.audit_control`).
    """
    own = {identifier: passages_of(row) for identifier, row in run.rows.items()}
    if not any(own.values()):
        raise InputError(f"{run.folder} keeps no passages, so there is nothing that its answers could draw on.")
    examples = [example for example in run.examples if example.id in run.rows]
    if len(examples) < 2:
        raise InputError(f"{run.folder} has one question, and the floor are the passages of others.")
    texts = texts_of(run)
    mine = drawn_report(examples, texts, own)
    floor = drawn_report(examples, texts, others_passages(run.rows, seed))
    gap = compare(mine, floor, resamples=resamples, seed=seed)
    telling = gap["telling"]
    draws = Evidence.judge(telling, GAP, len(examples))
    held = (
        f"of the names, numbers and nouns of its answers {telling.first:.0f} % stand in the passages that it was given "
        f"and not in the question, and {telling.second:.0f} % in passages of other questions"
    )
    if draws.shown:
        verdict, words = (
            Verdict.FINE,
            f"Yes: {held}. Whether they make the answers better, `longform audit control` tells.",
        )
    elif draws.shown is False:
        verdict, words = Verdict.CONCERN, f"Hardly: {held}."
    else:
        verdict, words = Verdict.UNKNOWN, f"These {len(examples)} questions do not tell: {held}."
        words += f" {more_to_decide(telling, GAP, len(examples), len(gap), resamples)}"
    rows = [
        [name, f"{one.first:.1f}", f"{one.second:.1f}", f"{one.difference:+.1f} [{one.low:+.1f}, {one.high:+.1f}]"]
        for name, one in (
            ("1-grams", gap["1-gram"]),
            ("2-grams", gap["2-gram"]),
            ("names, numbers, nouns not in the question", telling),
        )
    ]
    table = Table(
        "Words of the answers in passages, %",
        ("of the answers", "in its own", "in those of others", "difference"),
        rows,
    )
    numbers = {
        "questions": len(examples),
        "overlap": {name: comparison_row(one) for name, one in gap.items() if name != "in question"},
        "evidence": {"draws": draws.shown},
    }
    return Finding(CHECK, verdict, words, [table], numbers)
