"""Tables for papers and programs: Markdown, LaTeX, CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from longform.audit.finding import Table, no_tags
from longform.report.bounds import CONTROL, ROLES
from longform.report.measures import measure_of
from longform.report.table import LEVELS, Cell, ScoreTable

__all__ = ["best_of", "csv_rows", "escape_latex", "legend", "to_csv", "to_latex", "to_markdown"]

_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
}
_PARTS = ((False, "answers"), (True, "passages"))
COLUMNS = (
    "dataset",
    "system",
    "bound",
    "metric",
    "n",
    "value",
    "low",
    "high",
    "baseline",
    "difference",
    "p",
    "p_holm",
    "mark",
)


def legend(table: ScoreTable) -> str:
    """What the marks of a table say, in a sentence or two."""
    told = f"{table.n:,} questions; 95 % bootstrap intervals."
    if table.baseline is None:
        return told
    # A test of few resamples cannot be sure, however large the difference: say so rather than let marks be missing.
    smallest = table.tests / (table.resamples + 1)
    least = f" So few resamples cannot show p < {smallest:.2g}." if smallest >= min(LEVELS) else ""
    return (
        f"{told} ↑ better and ↓ worse than {table.baseline} (paired permutation test, {table.resamples:,} resamples, "
        f"Holm-corrected for {table.tests:,} tests on this dataset): * p < 0.05, ** p < 0.01.{least}"
    )


def to_markdown(tables: Sequence[ScoreTable], commands: Sequence[str] = (), data: Table | None = None) -> str:
    """All tables, a section for each dataset; then ``commands`` that make them again, and hashes of the ``data``."""
    parts = ["# Scores"]
    for whole in tables:
        told = [legend(whole), *(f"Note: {note}" for note in whole.notes)]
        parts += [f"## {_markdown(whole.label)}", *map(no_tags, told)]
        for passages, title in _PARTS:
            table = whole.part(passages=passages)
            if table is None:
                continue
            head = ["system", *(measure_of(name).heading for name in table.metrics)]
            lines = [f"| {' | '.join(map(_markdown, head))} |", f"|---|{'---:|' * len(table.metrics)}"]
            for system in table.systems:
                role = ROLES[table.roles[system]]
                name = _markdown(system) + (f" ({role})" if role else "")
                cells = [_markdown_cell(table.cells[system].get(metric)) for metric in table.metrics]
                lines.append(f"| {' | '.join([name, *cells])} |")
            parts += [f"### Scores of the {title}", "\n".join(lines)]
    if commands:
        # A tag stays text in a code block.
        parts += ["## Make it again", "\n".join(["```", *commands, "```"])]
    if data is not None:
        parts.append(data.markdown())
    return "\n\n".join(parts) + "\n"


def to_latex(tables: Sequence[ScoreTable]) -> str:
    """All tables as floats for ``booktabs``; the best competing system of a score is bold."""
    parts = [r"% Needs \usepackage{booktabs}."]
    for whole in tables:
        for passages, title in _PARTS:
            table = whole.part(passages=passages)
            if table is not None:
                parts.append(_latex_table(table, title))
    return "\n\n".join(parts) + "\n"


def escape_latex(text: str) -> str:
    r"""Text as LaTeX prints it.

    >>> escape_latex("a_b & 95 %")
    'a\\_b \\& 95 \\%'
    """
    return "".join(_LATEX.get(character, character) for character in text)


def csv_rows(tables: Sequence[ScoreTable]) -> list[dict[str, object]]:
    """One row for each score of each system; numbers as they are, not rounded."""
    return [
        {
            "dataset": table.label,
            "system": system,
            "bound": table.roles[system] or "",
            "metric": metric,
            "n": table.n,
            "value": cell.value,
            "low": cell.low,
            "high": cell.high,
            "baseline": table.baseline or "",
            "difference": cell.difference,
            "p": cell.p,
            "p_holm": cell.holm,
            "mark": cell.mark,
        }
        for table in tables
        for system in table.systems
        for metric, cell in table.cells[system].items()
    ]


def to_csv(tables: Sequence[ScoreTable]) -> str:
    """:func:`csv_rows` as a file; what is not there is empty."""
    file = io.StringIO()
    writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(csv_rows(tables))
    return file.getvalue()


def best_of(table: ScoreTable, metric: str) -> float | None:
    """The highest score among the systems that compete; ``None`` where all have the same."""
    values = [
        table.cells[system][metric].value
        for system in table.systems
        if table.roles[system] is None and metric in table.cells[system]
    ]
    return max(values) if len(set(values)) > 1 else None


def _markdown(text: str) -> str:
    return "".join(f"\\{character}" if character in "\\|*_`<>[]" else character for character in text)


def _markdown_cell(cell: Cell | None) -> str:
    if cell is None:
        return ""
    interval = f" ({cell.interval})" if cell.interval else ""
    return f"{cell.text}{cell.mark.replace('*', chr(92) + '*')}{interval}"


def _latex_table(table: ScoreTable, title: str) -> str:
    caption = f"{table.label}: scores of the {title}. {legend(table)}"
    head = " & ".join(["System", *(escape_latex(measure_of(name).heading) for name in table.metrics)])
    best = {name: best_of(table, name) if name != "length" else None for name in table.metrics}
    groups = ["\n".join(_latex_row(table, system, best) for system in systems) for _, systems in table.groups]
    body = "\n\\midrule\n".join(groups)
    label = "".join(character if character.isalnum() else "-" for character in f"{table.label}-{title}")
    return "\n".join(
        [
            r"\begin{table}",
            r"\centering",
            f"\\caption{{{_arrows(escape_latex(caption))}}}",
            f"\\label{{tab:{label}}}",
            f"\\begin{{tabular}}{{l{'r' * len(table.metrics)}}}",
            r"\toprule",
            f"{head} \\\\",
            r"\midrule",
            body,
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
        ]
    )


def _latex_row(table: ScoreTable, system: str, best: dict[str, float | None]) -> str:
    role = ROLES[table.roles[system]] if table.roles[system] == CONTROL else ""
    cells = [escape_latex(f"{system} ({role})" if role else system)]
    for metric in table.metrics:
        cell = table.cells[system].get(metric)
        if cell is None:
            cells.append("--")
            continue
        is_best = table.roles[system] is None and cell.value == best[metric]
        text = f"\\textbf{{{cell.text}}}" if is_best else cell.text
        mark = f"$^{{{_mark(cell.mark)}}}$" if cell.mark else ""
        interval = f" {{\\scriptsize [{cell.interval.replace('–', ', ')}]}}" if cell.interval else ""
        cells.append(f"{text}{mark}{interval}")
    return " & ".join(cells) + r" \\"


def _mark(mark: str) -> str:
    return mark.replace("↑", r"\uparrow").replace("↓", r"\downarrow").replace("*", r"\ast ").rstrip()


def _arrows(text: str) -> str:
    """Arrows are no letters of LaTeX's fonts."""
    return text.replace("↑", r"$\uparrow$").replace("↓", r"$\downarrow$")
