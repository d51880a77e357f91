"""A folder of runs as something to read: tables, plots, examples, one page."""

from __future__ import annotations

from longform.report.gather import Gathered, gather
from longform.report.make import ReportFiles, make_report

__all__ = ["Gathered", "ReportFiles", "gather", "make_report"]
