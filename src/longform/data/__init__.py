"""Datasets: a benchmark's official file in, records of one shape out, with checksum and statistics."""

from __future__ import annotations

from longform.data.catalogue import CATALOGUE, Source, source_named
from longform.data.dataset import Dataset, load_dataset
from longform.data.describe import describe
from longform.data.example import Example, FollowUp, GoldPassage, Reading

__all__ = [
    "CATALOGUE",
    "Dataset",
    "Example",
    "FollowUp",
    "GoldPassage",
    "Reading",
    "Source",
    "describe",
    "load_dataset",
    "source_named",
]
