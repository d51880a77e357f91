"""The tables of a control experiment: scores, words, names and nouns, and how quality goes with overlap."""

from __future__ import annotations

from collections.abc import Mapping

from longform.audit.finding import Table
from longform.audit.shown import difference_text, metric_name
from longform.score.report import Report
from longform.score.statistics import Comparison, Interval, p_text

__all__ = ["correlation_table", "ngram_table", "scores_table", "telling_table"]


def scores_table(
    scores: Mapping[str, Comparison],
    digits: Mapping[str, int],
    n: int,
    best: tuple[int, Mapping[str, Comparison]] | None,
) -> Table:
    """Every score with its change, and with gold passages, on their questions, where there are any."""
    columns = ["score", "found", "random", "found − random", "p"]
    part = best is not None and best[0] < n
    if best is not None:
        of = f", {best[0]:,} of {n:,}" if part else ""
        columns += [*([f"found{of}"] if part else []), f"gold{of}", "gold − found", "p"]
    rows = []
    for name, one in scores.items():
        row = [metric_name(name), _number(one.first, digits[name]), _number(one.second, digits[name])]
        row += [difference_text(one, digits[name]), p_text(one.holm)]
        gold = None if best is None else best[1].get(name)
        if gold is not None:
            row += [_number(gold.second, digits[name])] if part else []
            row += [_number(gold.first, digits[name]), difference_text(gold, digits[name]), p_text(gold.holm)]
        rows.append(row + [""] * (len(columns) - len(row)))
    note = "In brackets the 95 % interval of the paired difference; p by a paired permutation test, after Holm."
    if best is not None and part:
        note += f" Gold is compared on the {best[0]:,} of the {n:,} questions that its run has."
    return Table("Scores", columns, rows, note)


def _number(value: float, digits: int) -> str:
    return f"{value:.{digits}f}"


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
