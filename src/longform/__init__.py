"""Longform: grounded long answers over your own documents, and honest measures of how good they are.

>>> import tempfile
>>> from longform import Document, Index
>>> index = Index.create(tempfile.mkdtemp() + "/my.index", [Document("tea", "Tea", "Tea is a hot drink.")])
>>> index.search("Which drink is hot?", k=1)[0].passage.text
'Tea is a hot drink.'
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from longform._version import __version__
from longform.errors import FailureError, InputError, LongformError
from longform.records import Answer, AnswerItem, AnswerSentence, Document, Evidence, Hit, Mark, Passage, Question

if TYPE_CHECKING:
    from longform.answer.opening import open_pipeline
    from longform.answer.pipeline import Pipeline
    from longform.corpus import Collection, ReadOptions, read, read_questions
    from longform.models import Encoder
    from longform.retrieve import Dense, Index

__all__ = [
    "Answer",
    "AnswerItem",
    "AnswerSentence",
    "Collection",
    "Dense",
    "Document",
    "Encoder",
    "Evidence",
    "FailureError",
    "Hit",
    "Index",
    "InputError",
    "LongformError",
    "Mark",
    "Passage",
    "Pipeline",
    "Question",
    "ReadOptions",
    "__version__",
    "open_pipeline",
    "read",
    "read_questions",
]

# Loaded when first used: a search from the command line must not wait for what it does not need.
_LAZY = {
    "Pipeline": "answer.pipeline",
    "open_pipeline": "answer.opening",
    "Collection": "corpus",
    "ReadOptions": "corpus",
    "read": "corpus",
    "read_questions": "corpus",
    "Encoder": "models",
    "Dense": "retrieve",
    "Index": "retrieve",
}


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(f"longform.{_LAZY[name]}"), name)
    raise AttributeError(f"module 'longform' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
