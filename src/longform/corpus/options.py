"""How documents are to be read, and what happens to the ones that cannot be."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from longform.errors import InputError

__all__ = ["ID_FIELDS", "SHAPES", "TEXT_FIELDS", "TITLE_FIELDS", "ReadOptions", "Trouble"]

ID_FIELDS = ("id", "_id", "docid", "doc_id", "wikipedia_id", "pid")
TITLE_FIELDS = ("title", "wikipedia_title", "name")
TEXT_FIELDS = ("text", "contents", "content", "body", "passage", "abstract")

SHAPES = ("auto", "rows", "dpr", "kilt", "beir", "mediawiki")


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """What the reader cannot see from the file itself.

    ``shape`` names the layout of the rows (``auto`` sees it in the rows themselves). A field left at None is
    the first present of ``ID_FIELDS``, ``TITLE_FIELDS`` or ``TEXT_FIELDS``; a field named here must be in
    every row. ``passages`` says that rows are passages already: they are kept whole, under their own ids.
    ``skip_bad`` goes on after a row or file that cannot be read instead of stopping there.

    >>> ReadOptions(text_field="summary").shape
    'auto'
    """

    shape: str = "auto"
    id_field: str | None = None
    title_field: str | None = None
    text_field: str | None = None
    skip_bad: bool = False
    passages: bool = False

    def __post_init__(self) -> None:
        if self.shape not in SHAPES:
            raise InputError(f"Unknown shape '{self.shape}': choose from {', '.join(SHAPES)}.")


class Trouble:
    """Where readers take what they cannot read: stop there, or report it and go on.

    >>> seen = []
    >>> Trouble(skip=True, on_bad=seen.append).bad(InputError("a.jsonl:3: broken JSON."))
    >>> str(seen[0])
    'a.jsonl:3: broken JSON.'
    """

    __slots__ = ("_on_bad", "_skip")

    def __init__(self, skip: bool = False, on_bad: Callable[[InputError], None] | None = None) -> None:
        self._skip = skip
        self._on_bad = on_bad

    def bad(self, error: InputError) -> None:
        """Raise ``error``, or report it when bad input is to be skipped."""
        if not self._skip:
            raise error
        self.note(error)

    def note(self, error: InputError) -> None:
        """Report ``error`` and go on in any case."""
        if self._on_bad is not None:
            self._on_bad(error)
