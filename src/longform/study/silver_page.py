"""The page of the SILVER study: its table with intervals and paired tests, and how to make it again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from longform.score.statistics import compare, holm, intervals, p_text
from longform.study.again import make_again
from longform.study.silver_study import StudyRow

__all__ = ["silver_page"]

RESAMPLES = 10_000

_HEAD = """# Weak supervision for re-ranking, method by method

Table 1 of Christmann et al., 2024 (*Retrieving Contextual Information for Long-Form Question Answering using Weak
Supervision*), made anew: the share of direct answers and of gold pages among the first {k} passages, for {n} questions
that nothing was trained or chosen on. Every re-ranker orders the same {pool} candidates of BM25. One is trained for
each method of choosing silver passages, all with the same settings and on the same number of pairs. In brackets the
95 % interval (bootstrap over questions, {resamples:,} resamples); p is that of a paired permutation test against BM25,
corrected after Holm for all rows of the column.
"""


def silver_page(
    rows: Sequence[StudyRow],
    *,
    command: str,
    hashes: Mapping[str, str],
    k: int,
    pool: int,
    seed: int,
    notes: Sequence[str] = (),
) -> str:
    """The page as Markdown; the first row is what the others are tested against."""
    base, *others = rows
    metrics = list(base.report.scores)
    tests = {row.name: compare(row.report, base.report, resamples=RESAMPLES, seed=seed) for row in others}
    corrected: dict[tuple[str, str], float] = {}
    for metric in metrics:
        values = holm([tests[row.name][metric].p for row in others])
        corrected.update({(row.name, metric): value for row, value in zip(others, values, strict=True)})
    lines = [
        "| system | direct answers | p | pages | p | |",
        "|---|---|---|---|---|---|",
    ]
    for row in rows:
        bounds = intervals(row.report, resamples=RESAMPLES, seed=seed)
        cells = [f"**{row.name}**"]
        for metric in metrics:
            value, low, high = bounds[metric]
            p = corrected.get((row.name, metric))
            cells += [f"{value:.3f} [{low:.3f}, {high:.3f}]", "" if p is None else p_text(p)]
        lines.append(f"| {' | '.join([*cells, row.description])} |")
    parts = [
        _HEAD.format(k=k, n=base.report.n, pool=pool, resamples=RESAMPLES),
        "\n".join(lines),
        *(["\n".join(f"- {note}" for note in notes)] if notes else []),
        *make_again(command, hashes, seed),
    ]
    return "\n\n".join(part.strip() for part in parts) + "\n"
