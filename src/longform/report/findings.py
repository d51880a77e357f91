"""What audits have found, where ``findings.json`` files lie among the runs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from longform.audit.finding import Finding, Table, Verdict
from longform.errors import InputError, reason_of

__all__ = ["FINDINGS", "FoundFinding", "read_findings"]

FINDINGS = "findings.json"


@dataclass(frozen=True)
class FoundFinding:
    """A finding, and the folder that it was found in, as seen from the folder of runs ("" for that itself)."""

    where: str
    finding: Finding


def read_findings(place: Path) -> list[FoundFinding]:
    """Every finding below a folder: lists of what :meth:`longform.audit.finding.Finding.to_json` gives."""
    found = []
    for path in sorted(place.rglob(FINDINGS)):
        where = path.parent.relative_to(place).as_posix()
        try:
            value = orjson.loads(path.read_bytes())
            rows = value["findings"] if isinstance(value, dict) and "findings" in value else value
            rows = rows if isinstance(rows, list) else [rows]
            found += [FoundFinding("" if where == "." else where, _finding(row)) for row in rows]
        except OSError as error:
            raise InputError(f"{path} cannot be read: {reason_of(error)}.") from None
        except (orjson.JSONDecodeError, KeyError, TypeError, ValueError, AttributeError):
            raise InputError(f"{path} holds no findings: run the audit again, or remove the file.") from None
    return found


def _finding(row: dict[str, Any]) -> Finding:
    tables = [
        Table(
            str(table["title"]),
            [str(name) for name in table["columns"]],
            [[str(cell) for cell in cells] for cells in table["rows"]],
            str(table.get("note", "")),
        )
        for table in row.get("tables", ())
    ]
    return Finding(
        str(row["check"]),
        Verdict(row["verdict"]),
        str(row["words"]),
        tuple(tables),
        dict(row.get("numbers", {})),
        tuple(str(note) for note in row.get("notes", ())),
    )
