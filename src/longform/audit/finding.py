"""What an audit says: a verdict in plain words, the numbers behind it, and how to make it again."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from longform.study.again import make_again

__all__ = ["Finding", "Table", "Verdict", "audit_page", "no_tags"]


_TAG = re.compile(r"<(?=[A-Za-z/!?])")


class Verdict(str, Enum):
    """What a check came to."""

    FINE = "fine"
    CONCERN = "concern"
    UNKNOWN = "unknown"
    """The data do not tell: too few items, or nothing to compare with."""


@dataclass(frozen=True)
class Table:
    """Numbers behind a verdict; cells are text as it is shown.

    ``sentences`` is whether the first two columns are whole sentences, which a terminal shows one below the other.

    >>> print(Table("Overlap", ("system", "1-gram"), (("found", "42.1"), ("random", "18.0"))).markdown())
    | system | 1-gram |
    |---|---|
    | found | 42.1 |
    | random | 18.0 |
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""
    sentences: bool = False

    def markdown(self) -> str:
        """The table alone, without its title and note."""
        head = [f"| {' | '.join(self.columns)} |", f"|{'---|' * len(self.columns)}"]
        return no_tags("\n".join([*head, *(f"| {' | '.join(_cell(cell) for cell in row)} |" for row in self.rows)]))


@dataclass(frozen=True)
class Finding:
    """One check's outcome.

    ``words`` answer the check's question in a sentence or two that someone reads who has not read the paper, with the
    decisive numbers in them. ``numbers`` are the same and more for programs.
    """

    check: str
    verdict: Verdict
    words: str
    tables: Sequence[Table] = ()
    numbers: Mapping[str, Any] = field(default_factory=dict)
    notes: Sequence[str] = ()

    def to_json(self) -> dict[str, Any]:
        """The finding as a JSON object, the tables left out: ``numbers`` has what they show."""
        return {
            "check": self.check,
            "verdict": self.verdict.value,
            "words": self.words,
            "numbers": dict(self.numbers),
            "notes": list(self.notes),
        }

    def markdown(self, level: int = 2) -> str:
        """The finding as a section of a page."""
        parts = [
            f"{'#' * level} {no_tags(self.check)}",
            f"**{self.verdict.value.capitalize()}.** {no_tags(self.words)}",
        ]
        for table in self.tables:
            parts += [f"{'#' * (level + 1)} {no_tags(table.title)}", table.markdown()]
            parts += [no_tags(table.note)] if table.note else []
        if self.notes:
            parts.append("\n".join(f"- {no_tags(note)}" for note in self.notes))
        return "\n\n".join(parts)


def audit_page(title: str, findings: Sequence[Finding], *, command: str, hashes: Mapping[str, str], seed: int) -> str:
    """Findings as a Markdown page, with the command and the sha256 of the files behind them.

    >>> page = audit_page("Audit", [Finding("Length", Verdict.FINE, "It is short.")], command="x", hashes={}, seed=0)
    >>> page.splitlines()[4]
    '**Fine.** It is short.'
    """
    parts = [
        f"# {no_tags(title)}",
        *(finding.markdown() for finding in findings),
        *make_again(command, hashes, seed),
    ]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def no_tags(text: str) -> str:
    """What questions, answers and names hold is text, also where it looks like HTML.

    >>> no_tags("<script> p < 0.001")
    '&lt;script> p < 0.001'
    """
    return _TAG.sub("&lt;", text)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
