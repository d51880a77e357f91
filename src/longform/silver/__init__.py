"""Silver passages: weak supervision from long answers and direct answers.

P. Christmann, S. Vakulenko, I. T. Sorodoc, B. Byrne and A. de Gispert, "Retrieving Contextual Information for
Long-Form Question Answering using Weak Supervision", 2024. Of the first stage's candidates for a question those are
chosen that support its answers; a re-ranker learns from them.
"""

from __future__ import annotations

from longform.silver.make import SilverSettings, SilverSummary, silver_rows, write_silver
from longform.silver.match import LexicalMatch, Match, SemanticMatch
from longform.silver.perplexity import LanguageModel, PerplexityMatch
from longform.silver.reading import read_silver
from longform.silver.records import SilverFile, SilverPassage, SilverRow
from longform.silver.select import METHODS

__all__ = [
    "METHODS",
    "LanguageModel",
    "LexicalMatch",
    "Match",
    "PerplexityMatch",
    "SemanticMatch",
    "SilverFile",
    "SilverPassage",
    "SilverRow",
    "SilverSettings",
    "SilverSummary",
    "read_silver",
    "silver_rows",
    "write_silver",
]
