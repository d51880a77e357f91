"""How good lists are: precision, recall and F1 against every answer that a collection's pages hold.

Questions come from a knowledge graph (:mod:`longform.study.lists_questions`), passages from BM25 over the pages, and
the scores are QAMPARI's official ones (Amouyal et al., 2022, section 5.1). The names of the first ten pages are what
a list has to beat. Settings are chosen on one part of the questions and reported on the other.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from longform.answer.list_weights import passage_weights
from longform.answer.lists import ListAnswerer
from longform.answer.union import Mention, unite
from longform.progress import Progress, no_progress
from longform.records import Hit, Passage
from longform.retrieve import Index
from longform.score.qampari import QampariQuestion, score_qampari
from longform.score.report import Report
from longform.score.rows import json_rows
from longform.score.statistics import compare, intervals
from longform.study.lists_questions import Page

__all__ = [
    "ListRow",
    "ReadQuestion",
    "choose_least",
    "held",
    "lists_page",
    "page_index",
    "read_pages",
    "read_questions",
    "rows_of",
]

TITLES = 10
METRICS = ("precision", "recall", "f1")
GRID = tuple(round(0.02 * step, 2) for step in range(50))


@dataclass(frozen=True, slots=True)
class ReadQuestion:
    """A question, what was found for it, and what each passage answers."""

    question: QampariQuestion
    hits: Sequence[Hit]
    mentions: Sequence[Mention]


@dataclass(frozen=True, slots=True)
class ListRow:
    """A way to make lists, and how good it is."""

    name: str
    report: Report


def read_pages(path: str | Path) -> list[Page]:
    """The pages of a JSONL file with ``title`` and ``text``."""
    return [Page(str(row["title"]), str(row["text"])) for row in json_rows(path)]


def page_index(folder: Path, pages: Sequence[Page], progress: Progress = no_progress) -> Index:
    """A BM25 index with one passage per page; one that is there already is opened."""
    if (folder / "longform.json").is_file():
        return Index.open(folder)
    passages = (
        Passage(f"page-{number:05}", f"page-{number:05}", page.title, page.text, 0, len(page.text))
        for number, page in enumerate(pages)
    )
    return Index.create(folder, passages, progress=progress)


def read_questions(
    questions: Sequence[QampariQuestion], index: Index, lister: ListAnswerer, progress: Progress = no_progress
) -> list[ReadQuestion]:
    """Search and read for every question; what comes after costs nothing, so that settings can be tried out."""
    found = []
    for done, question in enumerate(questions, 1):
        hits = index.search(question.question, min(lister.passages, len(index)))
        found.append(ReadQuestion(question, hits, lister.mentions(question.question, hits)))
        progress("reading", done, len(questions))
    return found


def _lists(read: Sequence[ReadQuestion], least: float) -> dict[str, list[str]]:
    return {
        one.question.id: [
            item.text for item in unite(one.mentions, one.hits, passage_weights(one.question.question, one.hits), least)
        ]
        for one in read
    }


def choose_least(read: Sequence[ReadQuestion], grid: Sequence[float] = GRID) -> tuple[float, dict[float, Report]]:
    """The threshold with the best F1, of equals the lowest, and the report of every one that was tried."""
    questions = [one.question for one in read]
    reports = {least: score_qampari(questions, _lists(read, least)) for least in grid}
    return max(grid, key=lambda least: (round(reports[least].scores["f1"], 6), -least)), reports


def rows_of(read: Sequence[ReadQuestion], lister: ListAnswerer) -> list[ListRow]:
    """The baseline, everything that the reader found, and the lists that users get."""
    questions = [one.question for one in read]
    titles = {one.question.id: _titles(one.hits) for one in read}
    return [
        ListRow(f"titles of the first {TITLES} passages", score_qampari(questions, titles)),
        ListRow("every answer of the reader", score_qampari(questions, _lists(read, 0.0))),
        ListRow(f"`--list` (support ≥ {lister.least:g})", score_qampari(questions, _lists(read, lister.least))),
    ]


def _titles(hits: Sequence[Hit]) -> list[str]:
    return list(dict.fromkeys(re.sub(r"\s*\([^()]*\)$", "", hit.passage.title) for hit in hits[:TITLES]))


def held(read: Sequence[ReadQuestion]) -> float:
    """The mean share of the answers whose own page is among the passages: no list can have a higher recall."""
    shares = []
    for one in read:
        titles = {hit.passage.title for hit in one.hits}
        shares.append(sum(answer.text in titles for answer in one.question.answers) / len(one.question.answers))
    return sum(shares) / len(shares)


def lists_page(
    rows: Sequence[ListRow], read: Sequence[ReadQuestion], *, command: str, hashes: Mapping[str, str], seed: int
) -> str:
    """The table as Markdown; the first row is what the last is tested against."""
    lines = ["| | precision | recall | F1 |", "|---|---|---|---|"]
    for row in rows:
        bounds = intervals(row.report, seed=seed)
        cells = [f"{bounds[name].value:.3f} [{bounds[name].low:.3f}, {bounds[name].high:.3f}]" for name in METRICS]
        lines.append(f"| {row.name} | {' | '.join(cells)} |")
    kinds = sorted({one.question.id.partition("__")[0] for one in read})
    parts = ["| relation | questions | precision | recall | F1 |", "|---|---|---|---|---|"]
    last = rows[-1].report
    for kind in kinds:
        places = [place for place, identifier in enumerate(last.ids) if identifier.partition("__")[0] == kind]
        means = [float(last.columns[name][places].mean()) for name in METRICS]
        parts.append(f"| {kind} | {len(places)} | {' | '.join(f'{value:.3f}' for value in means)} |")
    test = compare(rows[-1].report, rows[0].report, seed=seed)["f1"]
    answers = sum(len(one.question.answers) for one in read) / len(read)
    texts = [
        f"{len(read)} questions with {answers:.1f} answers on average; in brackets the 95 % interval (bootstrap over "
        f"questions). Of the answers, {held(read):.3f} have their page among the passages that were read. `--list` "
        f"against the titles: F1 {test.difference:+.3f} [{test.low:+.3f}, {test.high:+.3f}], p = {test.p:.4f}.",
        "\n".join(lines),
        "\n".join(parts),
        f"```\n{command}\n```",
        "\n".join(["| file | sha256 |", "|---|---|", *(f"| {name} | `{value}` |" for name, value in hashes.items())]),
    ]
    return "\n\n".join(texts) + "\n"
