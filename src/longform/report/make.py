"""A report made and written: ``index.html``, ``tables.md``, ``tables.tex``, ``scores.csv`` and the plots as files."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from longform.errors import FailureError, InputError, reason_of
from longform.files import atomic_write
from longform.progress import Progress, no_progress
from longform.report.bars import bars
from longform.report.caveats import caveats
from longform.report.curves import recall_plot, turns_plot
from longform.report.examples import shown_examples
from longform.report.formats import to_csv, to_latex, to_markdown
from longform.report.gather import DatasetRuns, Gathered, gather
from longform.report.measures import quality_of, shown_quality
from longform.report.origins import commands, origins
from longform.report.page import DatasetPart, report_page
from longform.report.plot import Plot
from longform.report.scatter import scatter
from longform.report.table import NO_BASELINE, ScoreTable, score_table
from longform.report.timing import timing

__all__ = ["ReportFiles", "make_report"]

PAGE, MARKDOWN, LATEX, CSV, PLOTS = "index.html", "tables.md", "tables.tex", "scores.csv", "plots"

# Bytes of a file's name; most systems allow 255, of which a suffix and a temporary name take some.
_LONGEST = 150


class ReportFiles(NamedTuple):
    """What was written: the page, all files, the tables, and what a reader must know before comparing."""

    page: Path
    files: Sequence[Path]
    tables: Sequence[ScoreTable]
    caveats: Sequence[str]
    examples: int


def make_report(
    runs: str | Path,
    output: str | Path,
    *,
    baseline: str | None = None,
    metrics: Sequence[str] = (),
    examples: int = 20,
    seed: int = 0,
    resamples: int = 10_000,
    title: str | None = None,
    command: str = "",
    progress: Progress = no_progress,
) -> ReportFiles:
    """Make a report of the runs in a folder, and write it to another.

    ``baseline`` is the system that others are tested against: by default the first of each dataset that is no bound,
    ``"none"`` for no tests. ``metrics`` are the scores to show, all by default; the first says how good an answer is.
    Of each dataset, ``examples`` questions are shown. The same runs and settings give the same bytes.
    """
    if examples < 0:
        raise InputError(f"The number of examples is 0 or more, not {examples}.")
    if resamples < 1:
        raise InputError(f"At least one resample is needed, not {resamples}.")
    gathered = gather(runs)
    _check(gathered, baseline, metrics)
    tests = sum(max(0, len(dataset.entries) - 1) for dataset in gathered.datasets)
    done = 0

    def tested() -> None:
        nonlocal done
        done += 1
        progress("testing", done, tests)

    parts = []
    for place, dataset in enumerate(gathered.datasets):
        table = score_table(dataset, baseline=baseline, metrics=metrics, resamples=resamples, seed=seed, on_test=tested)
        quality, shown = quality_of(dataset, metrics), shown_quality(dataset, metrics)
        plots = _plots(dataset, table, quality, shown, f"d{place}")
        parts.append(DatasetPart(dataset, table, plots, shown_examples(dataset, quality, shown, examples, seed)))
    told = caveats(gathered)
    made = command or f"longform study report {runs} -o {output}"
    again, from_where = commands(gathered, made), origins(gathered)
    page = report_page(
        title or f"Report of {gathered.folder.resolve().name}",
        parts,
        caveats=told,
        findings=gathered.findings,
        origins=from_where,
        commands=again,
    )
    tables = [part.table for part in parts if part.runs.entries]
    texts = {
        PAGE: page,
        MARKDOWN: to_markdown(tables, again, from_where[0]),
        LATEX: to_latex(tables),
        CSV: to_csv(tables),
    }
    for part in parts:
        for plot in part.plots:
            name = _file_name(plot.drawing.title)
            texts[f"{PLOTS}/{name}.svg"] = plot.drawing.svg(standalone=True) + "\n"
    files = _write(Path(output), texts)
    return ReportFiles(files[0], files, tables, told, sum(len(part.examples) for part in parts))


def _file_name(title: str) -> str:
    """The name of a plot's file; a long one is cut, and ends in a hash that keeps it apart from others.

    >>> _file_name("Recall of gold pages on asqa"), len(_file_name("on " + "é" * 300).encode()) < 255
    ('recall-of-gold-pages-on-asqa', True)
    """
    name = re.sub(r"[^\w@.+=-]+", "-", title).strip("-").lower()
    if len(name.encode()) <= _LONGEST:
        return name
    cut = name.encode()[:_LONGEST].decode(errors="ignore")
    return f"{cut}-{hashlib.sha256(title.encode()).hexdigest()[:8]}"


def _check(gathered: Gathered, baseline: str | None, metrics: Sequence[str]) -> None:
    if baseline not in (None, NO_BASELINE) and baseline not in gathered.systems:
        raise InputError(
            f"There is no system {baseline} in {gathered.folder} to be the baseline: there are "
            f"{', '.join(gathered.systems)}."
        )
    scores = dict.fromkeys(
        name for dataset in gathered.datasets for entry in dataset.entries for name in entry.report.scores
    )
    unknown = next((name for name in metrics if name not in scores), None)
    if unknown is not None:
        known = ", ".join(scores) or "none yet, as no run is finished"
        raise InputError(f"There is no score {unknown} in {gathered.folder}: there are {known}.")


def _plots(
    dataset: DatasetRuns, table: ScoreTable, quality: str | None, shown: Sequence[str], prefix: str
) -> list[Plot]:
    if not dataset.entries:
        return []
    found = [bars(dataset, table, metric, f"{prefix}-bars{place}") for place, metric in enumerate(shown)]
    if quality is not None:
        found.append(scatter(dataset, table, quality, f"{prefix}-scatter"))
    found += [recall_plot(dataset, gold, f"{prefix}-{gold}") for gold in ("answer", "page", "follow_up")]
    found += [turns_plot(dataset, f"{prefix}-turns"), timing(dataset, f"{prefix}-timing")]
    return [plot for plot in found if plot is not None]


def _write(output: Path, texts: dict[str, str]) -> list[Path]:
    if output.exists() and not output.is_dir():
        raise InputError(f"{output} is a file: name a folder for the report.")
    paths = []
    try:
        for name, text in texts.items():
            path = output / name
            path.parent.mkdir(parents=True, exist_ok=True)
            with atomic_write(path) as file:
                file.write(text.encode())
            paths.append(path)
    except OSError as error:
        raise FailureError(f"{output} cannot be written: {reason_of(error)}.") from error
    return paths
