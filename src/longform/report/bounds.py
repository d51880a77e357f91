"""What scores lie between: systems that know nothing of the answer, and those that know it.

Krishna et al., NAACL 2021 ("Hurdles to Progress"), Table 7. Runs of such systems are bounds by their kind; others come
out of ``bounds.json``, which ``longform audit bounds`` writes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import orjson

from longform.audit.bound_systems import LOWER, UPPER, side_of
from longform.errors import InputError, reason_of

__all__ = ["BOUNDS", "CONTROL", "LOWER", "ROLES", "UPPER", "Bound", "read_bounds", "role_of", "side_of"]

BOUNDS = "bounds.json"
CONTROL = "control"

ROLES = {None: "", CONTROL: "control", LOWER: "lower bound", UPPER: "upper bound"}
"""What a system is called that does not compete."""


def role_of(settings: Mapping[str, object]) -> str | None:
    """The side of a bound, ``"control"`` for a system that is given other passages than it finds, else ``None``.

    >>> role_of({"kind": "human"}), role_of({"kind": "extractive", "given": "random"}), role_of({"kind": "bm25"})
    ('upper', 'control', None)
    """
    return side_of(settings) or (CONTROL if settings.get("given", "found") != "found" else None)


@dataclass(frozen=True)
class Bound:
    """A bound by its name, the side that it lies on, and its scores."""

    name: str
    side: str
    scores: Mapping[str, float]


def read_bounds(path: Path, label: str) -> list[Bound]:
    """The bounds of a dataset in ``bounds.json``.

    The file is ``{"bounds": [{"name", "side": "lower" or "upper", "scores": {metric: value}, "dataset"}, …]}``, or the
    list alone. A bound without ``dataset`` is one of every dataset that the file's folder holds.
    """
    try:
        value = orjson.loads(path.read_bytes())
        rows = value["bounds"] if isinstance(value, dict) else value
        found = [
            Bound(str(row["name"]), row["side"], {str(name): float(score) for name, score in row["scores"].items()})
            for row in rows
            if row.get("dataset", label) == label
        ]
        if not all(math.isfinite(score) for bound in found for score in bound.scores.values()):
            raise ValueError
        wrong = next((bound.name for bound in found if bound.side not in (LOWER, UPPER)), None)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {reason_of(error)}.") from None
    except (orjson.JSONDecodeError, KeyError, TypeError, ValueError, AttributeError):
        raise InputError(
            f"{path} holds no bounds: each has a name, a side and scores, as docs/report.md has it; remove or mend it."
        ) from None
    if wrong is not None:
        raise InputError(f'{path}: the side of {wrong} is neither "lower" nor "upper".')
    return found
