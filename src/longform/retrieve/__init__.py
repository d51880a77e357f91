"""Retrieval: an :class:`Index` is a folder on disk that finds passages by words, by meaning, or by both."""

from __future__ import annotations

from longform.retrieve.build import Dense
from longform.retrieve.fusion import FUSIONS
from longform.retrieve.index import MODES, Index
from longform.retrieve.runfile import RUN_FORMATS, run_format, write_run
from longform.retrieve.verify import is_pending, verify

__all__ = [
    "FUSIONS",
    "MODES",
    "RUN_FORMATS",
    "Dense",
    "Index",
    "is_pending",
    "run_format",
    "verify",
    "write_run",
]
