"""The page: one file that needs no other and asks nobody for anything."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from longform._version import __version__
from longform.audit.finding import Table, Verdict
from longform.report.caveats import share
from longform.report.examples import ShownExample
from longform.report.findings import FoundFinding
from longform.report.gather import DatasetRuns
from longform.report.markup import Markup, csp_hash, tag, text_table
from longform.report.page_examples import examples_section
from longform.report.page_scores import figure, score_tables
from longform.report.plot import Plot
from longform.report.table import ScoreTable

__all__ = ["DatasetPart", "report_page"]

_STATIC = Path(__file__).parent / "static"
_LOGO = Markup(
    '<svg class="brand-mark" viewBox="0 0 24 24" aria-hidden="true"><path d="M4 5h16M4 10h16M4 15h10"/>'
    '<circle cx="18.5" cy="17.5" r="3"/></svg>'
)
_VERDICTS = {Verdict.FINE: "fine", Verdict.CONCERN: "concern", Verdict.UNKNOWN: "unknown"}


@dataclass(frozen=True)
class DatasetPart:
    """What the page shows of a dataset."""

    runs: DatasetRuns
    table: ScoreTable
    plots: Sequence[Plot]
    examples: Sequence[ShownExample]


def report_page(
    title: str,
    parts: Sequence[DatasetPart],
    *,
    caveats: Sequence[str],
    findings: Sequence[FoundFinding],
    origins: Sequence[Table],
    commands: Sequence[str],
) -> str:
    """The whole page. Its policy allows the one style and the one script that are in it, by their hashes, and nothing
    else: what an answer says is never run, and nothing is fetched.
    """
    style = "\n".join((_STATIC / name).read_text(encoding="utf-8") for name in ("report.css", "plots.css"))
    script = (_STATIC / "report.js").read_text(encoding="utf-8")
    policy = (
        f"default-src 'none'; style-src {csp_hash(style)}; script-src {csp_hash(script)}; "
        "base-uri 'none'; form-action 'none'"
    )
    sections = [_dataset(part, f"d{place}") for place, part in enumerate(parts)]
    contents = [tag("a", part.runs.label, href=f"#d{place}") for place, part in enumerate(parts)]
    if findings:
        sections.append(_findings(findings))
        contents.append(tag("a", "Audits", href="#audits"))
    sections.append(_origins(origins, commands))
    contents.append(tag("a", "Make it again", href="#origins"))
    body = [
        tag("a", "Skip to the scores", href="#main", class_="skip"),
        tag(
            "header",
            tag("span", _LOGO, "Longform", class_="brand"),
            tag("nav", *contents, aria_label="Sections"),
            tag("button", "Dark", type="button", id="theme", class_="quiet", aria_pressed="false", hidden=True),
            class_="bar",
        ),
        tag("main", tag("h1", title), _caveats(caveats), *sections, id="main", tabindex="-1"),
        tag("footer", f"Made by Longform {__version__}.", class_="note"),
        Markup(f"<script>{script}</script>"),
    ]
    head = [
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=policy),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="referrer", content="no-referrer"),
        tag("title", f"{title} · Longform"),
        Markup(f"<style>{style}</style>"),
    ]
    whole = tag("html", tag("head", *head), "\n", tag("body", *body), lang="en")
    return f"<!doctype html>\n{whole}\n"


def _caveats(sentences: Sequence[str]) -> Markup:
    if not sentences:
        return Markup("")
    items = [tag("li", sentence) for sentence in sentences]
    return tag("section", tag("h2", "Before you compare"), tag("ul", *items), class_="card caveats")


def _dataset(part: DatasetPart, prefix: str) -> Markup:
    inner: list[str] = [tag("h2", part.runs.label)]
    if part.runs.unfinished:
        rows = [
            tag(
                "li",
                f"{one.run.system} {one.why}: {share(one.done, one.items)} ",
                tag("progress", max=str(one.items), value=str(one.done), aria_label=f"{one.run.system}, answers made"),
            )
            for one in part.runs.unfinished
        ]
        inner.append(tag("ul", *rows, class_="unfinished", aria_label="Runs that are not in the tables"))
    if part.runs.entries:
        inner.append(score_tables(part.table))
        inner.append(tag("h3", "Plots"))
        inner.append(tag("div", *(figure(plot) for plot in part.plots), class_="plots"))
        inner.append(examples_section(part.examples, prefix))
    else:
        inner.append(tag("p", "No run over this dataset is finished: there is nothing to compare yet."))
    return tag("section", *inner, id=prefix, class_="dataset")


def _findings(findings: Sequence[FoundFinding]) -> Markup:
    cards = []
    for found in findings:
        one = found.finding
        verdict = _VERDICTS[one.verdict]
        parts: list[str] = [
            tag("h3", one.check, " ", tag("span", verdict, class_=f"chip verdict-{verdict}")),
            tag("p", one.words),
        ]
        if found.where:
            parts.insert(1, tag("p", found.where, class_="note"))
        for table in one.tables:
            parts += [tag("h4", table.title), text_table(table.columns, table.rows, table.title)]
            parts += [tag("p", table.note, class_="note")] if table.note else []
        numbers = _flat(one.numbers)
        if numbers and not one.tables:
            inner = text_table(("number", "value"), numbers, f"Numbers of: {one.check}")
            parts.append(tag("details", tag("summary", "The numbers"), inner))
        if one.notes:
            parts.append(tag("ul", *(tag("li", note) for note in one.notes), class_="note"))
        cards.append(tag("article", *parts, class_=f"card finding {verdict}"))
    return tag("section", tag("h2", "Audits"), *cards, id="audits")


def _origins(tables: Sequence[Table], commands: Sequence[str]) -> Markup:
    parts: list[str] = [
        tag("h2", "Make it again"),
        tag("pre", tag("code", "\n".join(commands)), tabindex="0", role="group", aria_label="Commands"),
    ]
    for table in tables:
        shown = text_table(table.columns, table.rows, table.title, numbers=False)
        note = tag("p", table.note, class_="note") if table.note else Markup("")
        parts.append(tag("details", tag("summary", table.title), shown, note, open=table.title == "Data"))
    return tag("section", *parts, id="origins")


def _flat(value: object, name: str = "") -> list[list[str]]:
    """Numbers within numbers as rows: ``a.b`` and its value."""
    if isinstance(value, dict):
        return [row for key, inner in value.items() for row in _flat(inner, f"{name}.{key}" if name else str(key))]
    if isinstance(value, list) and any(isinstance(inner, (dict, list)) for inner in value):
        return [row for place, inner in enumerate(value, 1) for row in _flat(inner, f"{name}.{place}")]
    if isinstance(value, list):
        return [[name, ", ".join(map(_number, value))]]
    return [[name, _number(value)]]


def _number(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else "none" if value is None else str(value)
