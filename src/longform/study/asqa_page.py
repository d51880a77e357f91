"""The page of the ASQA study: its table with intervals, and how to make it again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from longform.score.statistics import intervals
from longform.study.again import make_again
from longform.study.asqa_study import AnsweredRow

__all__ = ["asqa_page"]

RESAMPLES = 10_000

# Metric, heading, digits.
COLUMNS = (
    ("length", "words", 0),
    ("rougeLsum", "ROUGE-L", 1),
    ("str_em", "STR-EM", 1),
    ("QA-F1", "Disambig-F1", 1),
    ("DR", "DR", 1),
    ("groundedness", "grounded", 2),
)

_HEAD = """# Long answers to ambiguous questions

{n} questions of ASQA (Stelmakh et al., EMNLP 2022) that nothing was trained or chosen on, over {passages:,} passages of
Wikipedia. ROUGE-L is rougeLsum with stems{splitter} against the better of two references; STR-EM the share of
readings whose short answer stands in the long one; Disambig-F1 what the shipped reader finds of the readings' answers
when it reads nothing but the long one; DR the root of ROUGE-L times Disambig-F1; grounded the share of the answer's
words that stand in the passages it was made from. In brackets the 95 % interval (bootstrap over questions,
{resamples:,} resamples).
Disambig-F1 and DR depend on the reader: compare them within this table only.
"""


_SPLITTERS = {
    "own": " and our own sentence splitter",
    "punkt": " and punkt's sentences, as the official scorer has it,",
}


def asqa_page(
    rows: Sequence[AnsweredRow],
    *,
    command: str,
    hashes: Mapping[str, str],
    passages: int,
    seed: int,
    notes: Sequence[str] = (),
    sentences: str = "own",
) -> str:
    """The page as Markdown."""
    lines = [
        f"| system | {' | '.join(heading for _, heading, _ in COLUMNS)} | |",
        f"|---|{'---|' * len(COLUMNS)}---|",
    ]
    for row in rows:
        bounds = intervals(row.report, resamples=RESAMPLES, seed=seed)
        cells = []
        for metric, _, digits in COLUMNS:
            value, low, high = bounds[metric]
            shown = f"{value:.{digits}f}"
            cells.append(shown if metric == "length" else f"{shown} [{low:.{digits}f}, {high:.{digits}f}]")
        lines.append(f"| **{row.name}** | {' | '.join(cells)} | {row.description} |")
    parts = [
        _HEAD.format(n=rows[0].report.n, passages=passages, resamples=RESAMPLES, splitter=_SPLITTERS[sentences]),
        "\n".join(lines),
        *(["\n".join(f"- {note}" for note in notes)] if notes else []),
        *make_again(command, hashes, seed),
    ]
    return "\n\n".join(part.strip() for part in parts) + "\n"
