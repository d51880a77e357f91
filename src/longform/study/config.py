"""A study as a person writes it down: systems, datasets, and how they are scored, in one TOML file."""

from __future__ import annotations

import math
import re
import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from longform.errors import InputError, reason_of
from longform.study.dataset_spec import DatasetSpec
from longform.study.systems.kinds import DEFAULTS, SystemSpec

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = ["ScoreSettings", "Study", "read_study"]

_KEYS = ("name", "seed", "output", "systems", "datasets", "scores", *DEFAULTS)
_LABEL = re.compile(r"\w[\w@.+=-]*")
# Most systems allow 255 bytes; what is written beside and before has longer names.
_LONGEST = 200
# The most that makes sense, by the setting's name; what is above is a slip of the hand that would fill the memory.
_MOST = {"seed": 2**32 - 1, "resamples": 1_000_000, "times": 1_000, "words": 100_000, "limit": 10**9}
_MOST |= dict.fromkeys(("k", "depth", "pool"), 100_000)


@dataclass(frozen=True)
class ScoreSettings:
    """How answers are scored: by which sentences, with which reader (``none``: no QA metrics), how many resamples."""

    sentences: str = "own"
    reader: str = "none"
    resamples: int = 10_000


@dataclass(frozen=True)
class Study:
    """Systems × datasets. ``only`` are, for a system that is not meant for all, the labels of its datasets."""

    name: str
    systems: tuple[SystemSpec, ...]
    datasets: tuple[DatasetSpec, ...]
    output: Path
    base: Path = Path()
    seed: int = 0
    scores: ScoreSettings = ScoreSettings()
    only: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def pairs(self) -> list[tuple[DatasetSpec, SystemSpec]]:
        """What is to be run, dataset by dataset."""
        return [
            (dataset, system)
            for dataset in self.datasets
            for system in self.systems
            if dataset.label in self.only.get(system.name, (dataset.label,))
        ]


def read_study(path: str | Path, output: str | Path | None = None) -> Study:
    """The study in a TOML file; paths in it start at the folder it is in, ``output`` is ``runs`` beside it.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "first.toml"
    >>> _ = file.write_text('datasets = ["asqa"]\\nsystems = ["question", "human"]')
    >>> study = read_study(file)
    >>> study.name, [system.name for system in study.systems]
    ('first', ['question-x8', 'human'])
    """
    place = Path(path)
    try:
        table = tomllib.loads(place.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise InputError(f"{path} cannot be read: {reason_of(error)}.") from None
    except ValueError as error:  # of TOML, of UTF-8, or of a number with thousands of digits
        raise InputError(f"{path} is not valid TOML: {str(error).rstrip('.')}.") from None
    try:
        return _study(table, place, output)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def _study(table: Mapping[str, Any], place: Path, output: str | Path | None) -> Study:
    unknown = [key for key in table if key not in _KEYS]
    if unknown:
        raise InputError(f"A study has no setting {unknown[0]}: it has {', '.join(_KEYS)}.")
    base = place.parent
    name, seed = table.get("name", place.stem), table.get("seed", 0)
    if not isinstance(name, str) or not _LABEL.fullmatch(name):
        raise InputError(f"The name of a study is one word of letters, digits and @.+=-_, not {name!r}.")
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed <= _MOST["seed"]:
        raise InputError(f"The seed is a whole number from 0 to {_MOST['seed']:,}, not {_told(seed)}.")
    written = table.get("output", "runs")
    if not isinstance(written, str):
        raise InputError(f"The output is the name of a folder, not {written!r}.")
    for what in ("datasets", "systems"):
        for value in _list(table, what):
            _check_numbers(value, what.removesuffix("s"))
    datasets = tuple(DatasetSpec.parse(value, base) for value in _list(table, "datasets"))
    bad = next((dataset.label for dataset in datasets if not _LABEL.fullmatch(dataset.label)), None)
    if bad is not None:
        raise InputError(f"The dataset {bad!r} cannot be the name of a folder: give it a label of letters and digits.")
    defaults = {key: table[key] for key in DEFAULTS if key in table}
    systems, only = [], {}
    for value in _list(table, "systems"):
        limited = value.get("datasets") if isinstance(value, dict) else None
        settings = {key: found for key, found in value.items() if key != "datasets"} if limited is not None else value
        system = SystemSpec.parse(settings, defaults, base)
        systems.append(system)
        if limited is not None:
            only[system.name] = _labels(limited, system.name, datasets)
    for what, names in (
        ("system", [system.name for system in systems]),
        ("dataset", [dataset.label for dataset in datasets]),
        ("study", [name]),
    ):
        long = next((one for one in names if len(one.encode()) > _LONGEST), None)
        if long is not None:
            raise InputError(
                f"The name {long[:20]}… of a {what} is too long for a folder: {_LONGEST} bytes are the most."
            )
    _unique([system.name for system in systems], "systems", "a name")
    _unique([dataset.label for dataset in datasets], "datasets", "a label")
    folder = Path(output) if output is not None else base / written
    return Study(name, tuple(systems), datasets, folder, base, seed, _scores(table.get("scores", {})), only)


def _list(table: Mapping[str, Any], key: str) -> list[Any]:
    found = table.get(key)
    if not isinstance(found, list) or not found:
        raise InputError(f"A study needs {key}: a list of at least one.")
    return found


def _labels(value: Any, system: str, datasets: tuple[DatasetSpec, ...]) -> tuple[str, ...]:
    known = [dataset.label for dataset in datasets]
    if not isinstance(value, list) or not all(label in known for label in value):
        raise InputError(f"The datasets of the system {system} must be some of the study's: {', '.join(known)}.")
    return tuple(value)


def _unique(names: list[str], what: str, mend: str) -> None:
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise InputError(f"Two {what} are called {twice[0]}: give one of them {mend} of its own.")


def _scores(table: Any) -> ScoreSettings:
    if not isinstance(table, dict):
        raise InputError("[scores] is a table: sentences, reader, resamples.")
    unknown = [key for key in table if key not in ("sentences", "reader", "resamples")]
    if unknown:
        raise InputError(f"[scores] has no setting {unknown[0]}: it has sentences, reader, resamples.")
    found = ScoreSettings(**table)
    if found.sentences not in ("own", "punkt"):
        raise InputError(f'The sentences of [scores] are "own" or "punkt", not {found.sentences!r}.')
    if not isinstance(found.reader, str):
        raise InputError(f'The reader of [scores] is a model\'s name or "none", not {found.reader!r}.')
    number, most = found.resamples, _MOST["resamples"]
    if isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= most:
        raise InputError(f"The resamples of [scores] are a whole number from 1 to {most:,}, not {_told(number)}.")
    return found


def _check_numbers(value: Any, what: str) -> None:
    """Raise where a number of a system or a dataset is none that anybody means: too large, or not finite."""
    if isinstance(value, str):
        kind, at, k = value.partition("@")
        value = {"name": kind, "k": int(k[:20])} if at and k.isdecimal() else {}
    if not isinstance(value, Mapping):
        return
    named = value.get("name") or value.get("kind") or value.get("file")
    for key, found in value.items():
        if isinstance(found, float) and not math.isfinite(found):
            raise InputError(f"The {key} of the {what} {named} is a number, not {found}.")
        most = _MOST.get(key)
        if most is not None and isinstance(found, int) and found > most:
            raise InputError(f"The {key} of the {what} {named} is at most {most:,}, not {_told(found)}.")


def _told(value: Any) -> str:
    """A value as a sentence has it, cut where it is long."""
    text = f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else repr(value)
    return text if len(text) <= 40 else f"{text[:40]}…"
