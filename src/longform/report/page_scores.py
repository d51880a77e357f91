"""The parts of the page that hold scores: tables with intervals and marks, plots with their numbers."""

from __future__ import annotations

from collections.abc import Mapping

from longform.report.bounds import ROLES
from longform.report.formats import best_of, legend
from longform.report.markup import Markup, joined, tag, text_table
from longform.report.measures import is_plain, measure_of
from longform.report.plot import Plot
from longform.report.table import Cell, ScoreTable

__all__ = ["figure", "score_tables"]


def score_tables(whole: ScoreTable) -> Markup:
    """The tables of a dataset, those of the answers first, with what marks and columns mean."""
    parts: list[str] = [tag("p", legend(whole), class_="note")]
    parts += [tag("p", note, class_="note") for note in whole.notes]
    for passages, title in ((False, "Answers"), (True, "Passages")):
        table = whole.part(passages=passages)
        if table is not None:
            parts += [tag("h3", title), _table(table, f"Scores of the {title.lower()} on {whole.label}")]
    about = [(measure_of(name), name) for name in whole.metrics]
    terms = [
        joined([tag("dt", measure.heading), tag("dd", measure.about or f"{name}, as the task's scorer has it")])
        for measure, name in about
    ]
    parts.append(tag("details", tag("summary", "What the columns are"), tag("dl", *terms, class_="terms")))
    return joined(parts)


def figure(plot: Plot) -> Markup:
    """A plot with its caption, and its numbers behind a fold."""
    numbers = text_table(plot.columns, plot.rows, f"Numbers of: {plot.drawing.title}")
    return tag(
        "figure",
        tag("h4", plot.drawing.title),
        Markup(plot.drawing.svg()),
        tag("figcaption", plot.caption),
        tag("details", tag("summary", "The numbers"), numbers),
        class_="card",
    )


def _table(table: ScoreTable, label: str) -> Markup:
    head = [tag("th", "system", scope="col")]
    head += [tag("th", measure_of(name).heading, scope="col") for name in table.metrics]
    best = {name: None if is_plain(name) else best_of(table, name) for name in table.metrics}
    bodies = []
    for heading, systems in table.groups:
        inner = [_row(table, system, best) for system in systems]
        if len(table.groups) > 1:
            # Its cells are apart from the heading, so that the heading stays where it is when the table is scrolled.
            wide = tag("td", colspan=str(len(table.metrics)))
            inner.insert(0, tag("tr", tag("th", heading, scope="rowgroup"), wide, class_="group"))
        bodies.append(tag("tbody", *inner))
    body = tag("table", tag("thead", tag("tr", *head)), *bodies, class_="numbers scores")
    return tag("div", body, class_="scroll", tabindex="0", role="group", aria_label=label)


def _row(table: ScoreTable, system: str, best: Mapping[str, float | None]) -> Markup:
    role = table.roles[system]
    told: list[str] = [system]
    if role is not None:
        told.append(tag("span", ROLES[role], class_=f"chip {role}"))
    if system == table.baseline:
        told.append(tag("span", "baseline", class_="chip"))
    cells = []
    for name in table.metrics:
        cell = table.cells[system].get(name)
        is_best = cell is not None and role is None and cell.value == best[name]
        cells.append(_cell(cell, table.baseline, is_best=is_best))
    return tag("tr", tag("th", *told, scope="row"), *cells, class_="bound-row" if role else "")


def _cell(cell: Cell | None, baseline: str | None, *, is_best: bool) -> Markup:
    if cell is None:
        return tag("td", tag("span", "–", aria_hidden="true"), tag("span", "none", class_="unseen"))
    parts: list[str] = [tag("b", cell.text) if is_best else cell.text]
    if cell.mark and cell.difference is not None and cell.holm is not None:
        better = cell.difference > 0
        parts.append(tag("span", cell.mark, class_="up" if better else "down", aria_hidden="true"))
        p = "< 0.001" if cell.holm < 0.001 else f"= {cell.holm:.3f}"
        parts.append(tag("span", f" {'better' if better else 'worse'} than {baseline}, p {p}", class_="unseen"))
    if cell.interval:
        parts.append(tag("small", cell.interval))
    return tag("td", *parts)
