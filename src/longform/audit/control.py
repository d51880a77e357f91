"""The control experiment: does a system use what it retrieves? (Krishna et al., 2021, *Hurdles*, section 3.1)

The same answerer and prompt answer the same questions twice: from the passages that the search found, and from random
ones. If the answers are as good, and hold as much of the passages found, when the system never saw these, then it does
not use them. A third run from gold passages tells how much better passages could make it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from longform.audit.control_tables import correlation_table, ngram_table, scores_table, telling_table
from longform.audit.correlation import spearman
from longform.audit.drawn import Texts, drawn_report, others_passages, passages_of
from longform.audit.enough import FEW, LEVEL, more_to_decide
from longform.audit.finding import Finding, Verdict
from longform.audit.shown import comparison_row, digits_of, finished, metric_name, quality_metrics, restricted
from longform.data.example import Example
from longform.data.having import longest_reference
from longform.errors import InputError
from longform.score.report import Report
from longform.score.statistics import Comparison, compare
from longform.study.runs import Run

__all__ = ["CHECK", "GAIN", "GAP", "Evidence", "audit_control", "texts_of", "unlike_settings"]

CHECK = "Does it use what it retrieves?"

GAIN = 0.05
"""A score is better for the passages found if it is higher by at least this share of itself."""
GAP = 5.0
"""Answers draw on the passages found if they hold at least so many points more of these than answers made without."""


@dataclass(frozen=True)
class Evidence:
    """A difference, and whether it is there (``True``), is ruled out (``False``), or neither (``None``)."""

    value: float
    low: float
    high: float
    shown: bool | None

    @classmethod
    def judge(cls, found: Comparison, least: float, n: int) -> Evidence:
        """There: significant (after Holm's correction) and at least ``least``. Ruled out: the interval is below it.

        >>> Evidence.judge(Comparison(30.0, 20.0, 10.0, 8.0, 12.0, 0.001, 0.001), 5.0, 100).shown
        True
        >>> Evidence.judge(Comparison(24.4, 24.2, 0.2, -0.5, 0.9, 0.6, 0.6), 1.2, 100).shown
        False
        """
        if found.holm < LEVEL and found.low > 0 and found.difference >= least:
            shown: bool | None = True
        else:
            shown = False if found.high < least and n >= FEW else None
        return cls(found.difference, found.low, found.high, shown)


def audit_control(
    found: Run,
    random: Run,
    gold: Run | None = None,
    *,
    notes: Sequence[str] = (),
    resamples: int = 10_000,
    seed: int = 0,
) -> Finding:
    """The finding over two runs, or three: with the passages found, with random ones, and with gold ones.

    ``gold`` may be over some of the questions alone; it is compared on these.
    """
    _check_roles(found, random, gold)
    reports = {"found": finished(found), "random": finished(random)}
    _check_scores([run for run in (found, random, gold) if run is not None])
    scores = compare(reports["found"], reports["random"], resamples=resamples, seed=seed)
    n = reports["found"].n
    notes = list(notes)
    predicted = {identifier: passages_of(row) for identifier, row in found.rows.items()}
    if not any(predicted.values()):
        raise InputError(f"{found.folder} keeps no passages, so there is nothing that its answers could draw on.")
    floor = {identifier: passages_of(row) for identifier, row in random.rows.items()}
    if not any(floor.values()):
        floor = others_passages(found.rows, seed)
        notes.append("The run with random passages keeps none: the floor are passages of other questions.")
    drawn = _drawn(found, random, predicted, floor)
    gap = compare(drawn["found", "found"], drawn["random", "found"], resamples=resamples, seed=seed)
    best = None
    if gold is not None:
        best = _gold_scores(reports["found"], finished(gold), resamples, seed)
    overlap = restricted(drawn["found", "found"], reports["found"].ids)
    correlations = {
        name: spearman(reports["found"].columns[name], overlap.columns["1-gram"], resamples=resamples, seed=seed)
        for name in quality_metrics(scores)
        if name in reports["found"].columns
    }
    better = {
        name: Evidence.judge(one, GAIN * one.first, n)
        for name in quality_metrics(scores)
        if (one := scores[name]).first > 0
    }
    draws = Evidence.judge(gap["telling"], GAP, n)
    digits = {name: digits_of(reports["found"], name) for name in scores}
    verdict, words = _verdict(scores, digits, better, gap["telling"], draws, n)
    if verdict is Verdict.UNKNOWN:
        words += f" {_more(scores, better, gap, n, resamples)}"
    tables = (
        scores_table(scores, digits, n, best),
        ngram_table(drawn),
        telling_table(drawn),
        correlation_table(correlations),
    )
    numbers = {
        "questions": n,
        "scores": {name: comparison_row(one) for name, one in scores.items()},
        "scores_against_gold": None
        if best is None
        else {
            "questions": best[0],
            "scores": {name: comparison_row(one) for name, one in best[1].items()},
        },
        "overlap": {
            f"{output} answers in {passages} passages": report.scores for (output, passages), report in drawn.items()
        },
        "overlap_gap": {name: comparison_row(one) for name, one in gap.items()},
        "spearman_quality_1gram": {name: None if one is None else list(one) for name, one in correlations.items()},
        "evidence": {
            "better": {name: one.shown for name, one in better.items()},
            "draws": draws.shown,
        },
    }
    return Finding(CHECK, verdict, words, tables, numbers, notes)


def texts_of(run: Run) -> dict[str, list[str]]:
    """The answers of a run by id."""
    return {identifier: [answer["text"] for answer in row["answers"]] for identifier, row in run.rows.items()}


def unlike_settings(found: Run, other: Run) -> list[str]:
    """The settings in which two runs differ, besides those that the passages of a control come from."""
    mine, theirs = (run.record["identity"]["system"] for run in (found, other))
    # Gold passages come from no index, and answers out of files are files of their own.
    apart = {"given", "file"} | ({"index"} if theirs.get("given") == "gold" else set())
    return [key for key in dict.fromkeys([*mine, *theirs]) if key not in apart and mine.get(key) != theirs.get(key)]


def _check_roles(found: Run, random: Run, gold: Run | None) -> None:
    if found.folder.resolve() == random.folder.resolve():
        raise InputError(f"{found.folder} is named twice: a control compares it with a run from random passages.")
    if found.record["identity"]["examples"] != random.record["identity"]["examples"]:
        raise InputError(f"{found.folder} and {random.folder} are over other questions: a control asks the same ones.")
    if gold is not None and not set(gold.rows) <= set(found.rows):
        raise InputError(f"{gold.folder} and {found.folder} are over other questions: a control asks the same ones.")
    for run, role, option in (
        (found, "found", "--run"),
        (random, "random", "--run-random"),
        (gold, "gold", "--run-gold"),
    ):
        settings = {"kind": "stored"} if run is None else run.record["identity"]["system"]
        # Of answers out of a file nobody but their owner knows which passages they were made from.
        if run is not None and settings["kind"] != "stored" and settings.get("given") != role:
            told = f"{settings['given']} passages" if "given" in settings else f"no setting given, a {settings['kind']}"
            raise InputError(f'{option} takes a run with given = "{role}", and {run.folder} is one with {told}.')
    for other in (random, gold):
        if other is not None and (unlike := unlike_settings(found, other)):
            raise InputError(
                f"{found.folder} and {other.folder} differ in {unlike[0]}, and not in their passages alone: a control "
                "has everything else alike."
            )


def _check_scores(runs: Sequence[Run]) -> None:
    for name in ("sentences", "reader"):
        first = finished(runs[0]).settings.get(name)
        other = next((run for run in runs if finished(run).settings.get(name) != first), None)
        if other is not None:
            raise InputError(
                f"{runs[0].folder} and {other.folder} are scored with other {name} ({first} and "
                f"{other.report.settings.get(name)}): score them alike, by the [scores] of their studies."
            )


def _drawn(
    found: Run, random: Run, predicted: Mapping[str, Texts], floor: Mapping[str, Texts]
) -> dict[tuple[str, str], Report]:
    """The measures for each answer (from the passages found, from random ones, people's) in each kind of passage."""
    examples = found.examples
    outputs: dict[str, tuple[Sequence[Example], dict[str, list[str]]]] = {
        "found": (examples, texts_of(found)),
        "random": (examples, texts_of(random)),
    }
    answered = [example for example in examples if example.long_answers]
    if answered:
        outputs["people"] = (answered, {one.id: [one.long_answers[longest_reference(one)]] for one in answered})
    return {
        (output, name): drawn_report(kept, texts, passages)
        for output, (kept, texts) in outputs.items()
        for name, passages in (("found", predicted), ("random", floor))
    }


def _gold_scores(found: Report, gold: Report, resamples: int, seed: int) -> tuple[int, dict[str, Comparison]]:
    ids = set(gold.ids) & set(found.ids)
    if not ids:
        raise InputError("The run with gold passages has no scored question in common with the run that it is beside.")
    mine, theirs = restricted(found, ids), restricted(gold, ids)
    return mine.n, compare(theirs, mine, resamples=resamples, seed=seed)


def _more(
    scores: Mapping[str, Comparison],
    better: Mapping[str, Evidence],
    gap: Mapping[str, Comparison],
    n: int,
    resamples: int,
) -> str:
    """How many questions would tell: of the scores the one that promises most, else of the words of the answers."""
    undecided = [name for name, one in better.items() if one.shown is None]
    if not undecided:
        return more_to_decide(gap["telling"], GAP, n, len(gap), resamples)
    name = max(undecided, key=lambda name: scores[name].difference / scores[name].first)
    return more_to_decide(scores[name], GAIN * scores[name].first, n, len(scores), resamples)


def _verdict(
    scores: Mapping[str, Comparison],
    digits: Mapping[str, int],
    better: Mapping[str, Evidence],
    telling: Comparison,
    draws: Evidence,
    n: int,
) -> tuple[Verdict, str]:
    falls = sorted(better, key=lambda name: -better[name].value / scores[name].first)
    gains = [name for name in falls if better[name].shown]
    told = "; ".join(
        f"{metric_name(name)} is {scores[name].first:.{digits[name]}f} with the passages found and "
        f"{scores[name].second:.{digits[name]}f} with random ones"
        for name in (gains or falls)[:2]
    )
    held = (
        f"of the names, numbers and nouns of its answers {telling.first:.0f} % stand in the passages found and not in "
        f"the question, of those in answers made from random passages {telling.second:.0f} %"
    )
    if gains:
        if draws.shown is False:
            return (
                Verdict.FINE,
                f"Yes, by its scores: {told}. Few words tell of it, though: {held}.",
            )
        return Verdict.FINE, f"Yes: {told}; {held}."
    if better and all(one.shown is False for one in better.values()):
        if draws.shown:
            return (
                Verdict.CONCERN,
                f"It copies from the passages, but its answers are no better for them: {told}; {held}.",
            )
        if draws.shown is False:
            return Verdict.CONCERN, f"There is no sign that it does: {told}; {held}."
        return Verdict.CONCERN, f"Its answers are no better for the passages found: {told}; {held}."
    return Verdict.UNKNOWN, f"These {n} questions do not tell: {told + '; ' if told else ''}{held}."
