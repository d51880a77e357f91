"""A system's settings: a frozen dataclass for each kind, filled from a table and checked."""

from __future__ import annotations

import types
import typing
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from longform.errors import InputError
from longform.study.dataset_spec import DatasetSpec
from longform.study.systems.protocol import System

if TYPE_CHECKING:
    from longform.data.dataset import Dataset
    from longform.study.systems.tools import Tools

__all__ = ["Settings", "at_least_one", "one_of", "settings_from"]

Made = TypeVar("Made", bound="Settings")


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What may be set of a kind of system; ``row`` says which rows of the papers' tables it makes."""

    kind: ClassVar[str] = ""
    row: ClassVar[str] = ""

    @property
    def label(self) -> str:
        """What the system is called where its study gives it no name."""
        k = getattr(self, "k", None)
        return f"{self.kind}@{k}" if isinstance(k, int) else self.kind

    @property
    def needs(self) -> str | None:
        """What every question must have for it, by its name in :data:`longform.data.having.HAVING`."""
        return None

    def check(self, tools: Tools, dataset: Dataset) -> None:
        """Raise where the system cannot answer every question of a dataset, as far as that is known beforehand."""

    def open(self, tools: Tools, task: str) -> System:
        """The system, ready to answer; ``task`` is that of the dataset."""
        raise NotImplementedError


def settings_from(kind: type[Made], table: Mapping[str, Any], system: str) -> Made:
    """The settings of a table; what is unknown, of the wrong type or impossible is one sentence."""
    hints = typing.get_type_hints(kind)
    known = [field.name for field in fields(kind)]
    for name, value in table.items():
        if name not in known:
            raise InputError(
                f"The system {system} has no setting {name}: a {kind.kind} has {', '.join(known) or 'none'}."
            )
        allowed = _types(hints[name])
        if isinstance(value, int) and not isinstance(value, bool) and float in allowed:
            continue
        if type(value) not in allowed:
            wanted = " or ".join(_WORDS[one] for one in allowed if one in _WORDS)
            raise InputError(f"The setting {name} of the system {system} is {wanted}, not {value!r}.")
    try:
        return kind(**table)
    except InputError as error:
        raise InputError(f"The system {system}: {error}") from None


_WORDS: Mapping[Any, str] = {
    int: "a whole number",
    float: "a number",
    str: "a string",
    bool: "true or false",
    DatasetSpec: "a dataset",
}


def _types(hint: Any) -> tuple[Any, ...]:
    if isinstance(hint, types.UnionType) or typing.get_origin(hint) is typing.Union:
        return tuple(one for one in typing.get_args(hint) if one is not type(None))
    return (hint,)


def at_least_one(**values: int | None) -> None:
    """Raise where one of the numbers is below 1."""
    for name, value in values.items():
        if value is not None and value < 1:
            raise InputError(f"{name} must be at least 1, and {value} is not.")


def one_of(name: str, value: str, choices: tuple[str, ...]) -> None:
    """Raise where a word is none of those that there are."""
    if value not in choices:
        raise InputError(f"{name} is one of {', '.join(choices)}, not {value!r}.")
