"""Documents in, passages out: readers of files and of the field's own collections, and the cutting into passages."""

from __future__ import annotations

from longform.corpus.collection import Collection, read
from longform.corpus.passages import DEFAULT_WORDS, cut_passages
from longform.corpus.questions import read_questions
from longform.corpus.read import ReadOptions, read_documents
from longform.corpus.training_questions import TrainingQuestion, read_ids, read_training_questions

__all__ = [
    "DEFAULT_WORDS",
    "Collection",
    "ReadOptions",
    "TrainingQuestion",
    "cut_passages",
    "read",
    "read_documents",
    "read_ids",
    "read_questions",
    "read_training_questions",
]
