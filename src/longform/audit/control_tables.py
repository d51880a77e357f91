"""The tables of a control experiment: scores, words, names and nouns, and how quality goes with overlap."""

from __future__ import annotations

from collections.abc import Mapping

from longform.audit.finding import Table
from longform.audit.shown import difference_text, digits_of, metric_name
from longform.score.report import Report
from longform.score.statistics import Comparison, Interval, p_text

__all__ = ["correlation_table", "ngram_table", "scores_table", "telling_table"]


def scores_table(scores: Mapping[str, Comparison], best: tuple[int, Mapping[str, Comparison]] | None) -> Table:
    """Every score with its change, and with gold passages where there are any."""
    columns = ["score", "found", "random", "found − random", "p"]
    if best is not None:
        columns += ["gold", "gold − found", "p"]
    rows = []
    for name, one in scores.items():
        gold = None if best is None else best[1].get(name)
        digits = digits_of(one.first, one.second, 0.0 if gold is None else gold.first)
        row = [metric_name(name), f"{one.first:.{digits}f}", f"{one.second:.{digits}f}"]
        row += [difference_text(one, digits), p_text(one.holm)]
        if best is not None:
            shown = (
                [] if gold is None else [f"{gold.first:.{digits}f}", difference_text(gold, digits), p_text(gold.holm)]
            )
            row += shown or [""] * 3
        rows.append(row)
    note = "In brackets the 95 % interval of the paired difference; p by a paired permutation test, after Holm."
    if best is not None:
        note += f" Gold against found is on the {best[0]:,} questions that have gold passages."
    return Table("Scores", columns, rows, note)


_OUTPUTS = {"found": "from the passages found", "random": "from random passages", "people": "by people (the longest)"}


def ngram_table(drawn: Mapping[tuple[str, str], Report]) -> Table:
    """As in Table 2 of the paper."""
    rows = []
    for output, shown in _OUTPUTS.items():
        if (output, "found") in drawn:
            mine, floor = (drawn[output, passages].scores for passages in ("found", "random"))
            rows.append([shown, *(f"{one[name]:.1f}" for name in ("1-gram", "2-gram") for one in (mine, floor))])
    columns = ("answers", "1-grams in found", "1-grams in random", "2-grams in found", "2-grams in random")
    return Table(
        "Words of the answers in the passages, %",
        columns,
        rows,
        "The floor of the first row is its own column of random passages; the second row never saw the passages found.",
    )


def telling_table(drawn: Mapping[tuple[str, str], Report]) -> Table:
    """As in Table 4 of the paper."""
    rows = []
    for output, shown in _OUTPUTS.items():
        if (output, "found") in drawn:
            mine, floor = (drawn[output, passages].scores for passages in ("found", "random"))
            rows.append([shown, *(f"{one:.1f}" for one in (mine["in question"], mine["telling"], floor["telling"]))])
    columns = ("answers", "in the question", "in found, not in the question", "in random, not in the question")
    return Table("Names, numbers and nouns of the answers, %", columns, rows)


def correlation_table(correlations: Mapping[str, Interval | None]) -> Table:
    """Spearman between each score and the 1-gram overlap."""
    rows = [
        [
            metric_name(name),
            "one of the two is the same everywhere"
            if one is None
            else f"{one.value:+.2f} [{one.low:+.2f}, {one.high:+.2f}]",
        ]
        for name, one in correlations.items()
    ]
    return Table(
        "Quality and overlap",
        ("score", "Spearman's ρ with the 1-gram overlap"),
        rows,
        "Over the answers from the passages found; in brackets the 95 % bootstrap interval.",
    )
