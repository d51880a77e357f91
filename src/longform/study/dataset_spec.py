"""A dataset as a study names it: a word, or a table with more to say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from longform.corpus.training_questions import read_ids
from longform.data.catalogue import CATALOGUE
from longform.data.dataset import Dataset, load_dataset
from longform.data.having import HAVING
from longform.errors import InputError

__all__ = ["DatasetSpec"]

_KEYS = ("name", "label", "split", "file", "fields", "ids", "limit", "having")


@dataclass(frozen=True)
class DatasetSpec:
    """What to load: the arguments of :func:`load_dataset`; ``label`` is what the study calls it.

    ``having`` leaves, of the questions within the limit, those that have what it names (:data:`HAVING`).

    >>> DatasetSpec.parse("asqa", Path(".")).label
    'asqa'
    """

    name: str
    label: str
    split: str | None = None
    file: str | None = None
    fields: Mapping[str, str] = field(default_factory=dict)
    ids: str | None = None
    limit: int | None = None
    having: str | None = None

    @classmethod
    def parse(cls, value: Any, base: Path, *, split: str | None = None) -> DatasetSpec:
        """From a study file: ``"asqa"``, a path, or a table; paths are relative to ``base``."""
        table: Any = {"name": value} if isinstance(value, str) else value
        if not isinstance(table, Mapping):
            raise InputError(f"A dataset is a name or a table, not {value!r}.")
        unknown = [key for key in table if key not in _KEYS]
        if unknown:
            raise InputError(f"A dataset has no setting {unknown[0]}: it has {', '.join(_KEYS)}.")
        name, file = table.get("name"), table.get("file")
        if name is None and file is not None and not table.get("fields"):
            # A file by itself is a dataset by its path, whose shape is seen from its content.
            name, file = file, None
        name = "rows" if name is None and file is not None else name
        for key, found in (
            ("name", name),
            ("label", table.get("label")),
            ("split", table.get("split")),
            ("ids", table.get("ids")),
            ("file", file),
            ("having", table.get("having")),
        ):
            if found is not None and not isinstance(found, str):
                raise InputError(f"The {key} of a dataset is a string, not {found!r}.")
        if not name:
            raise InputError("A dataset of the study has neither a name nor a file.")
        limit = table.get("limit")
        if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int)):
            raise InputError(f"The limit of the dataset {name} is a whole number, not {limit!r}.")
        having = table.get("having")
        if having is not None and having not in HAVING:
            raise InputError(f"The having of the dataset {name} is one of {', '.join(HAVING)}, not {having!r}.")
        fields = table.get("fields", {})
        if not isinstance(fields, dict) or not all(isinstance(found, str) for found in fields.values()):
            raise InputError(f"The fields of the dataset {name} are a table of names, not {fields!r}.")
        if name not in CATALOGUE and name != "rows" and file is None:
            name = str(_below(base, name))
        label = table.get("label") or Path(file if name == "rows" and file else name).name.partition(".")[0]
        return cls(
            name,
            label,
            table.get("split") or (split if name in CATALOGUE else None),
            None if file is None else str(_below(base, file)),
            fields,
            None if table.get("ids") is None else str(_below(base, table["ids"])),
            limit,
            having,
        )

    @classmethod
    def named(cls, name: str, split: str | None, ids: str | None, limit: int | None) -> DatasetSpec:
        """From a command line, whose paths begin where it is given."""
        table = {"name": name, "split": split, "ids": ids, "limit": limit}
        return cls.parse({key: value for key, value in table.items() if value is not None}, Path())

    def load(self) -> Dataset:
        """The dataset."""
        found = load_dataset(
            self.name,
            split=self.split,
            file=self.file,
            fields=self.fields,
            ids=None if self.ids is None else read_ids(self.ids),
            limit=self.limit,
        )
        if self.having is None:
            return found
        kept = tuple(filter(HAVING[self.having], found))
        if not kept:
            raise InputError(f"No question of {self.label} has {self.having}: leave out having.")
        return replace(found, examples=kept)


def _below(base: Path, path: str) -> Path:
    place = Path(path).expanduser()
    return place if place.is_absolute() else base / place
