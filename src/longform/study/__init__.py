"""Experiments whose tables anyone can make again with one command."""

from __future__ import annotations

from longform.study.silver_page import silver_page
from longform.study.silver_study import SilverStudy, StudyRow, run_silver_study

__all__ = ["SilverStudy", "StudyRow", "run_silver_study", "silver_page"]
