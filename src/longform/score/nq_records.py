"""Natural Questions' own files: gold annotations and predictions, read and checked.

Kwiatkowski et al., TACL 2019. Gold comes in the original form (``.jsonl.gz``, whole pages, byte and token offsets)
or the simplified one (token offsets only); only ``example_id`` and ``annotations`` matter here. Ids become strings,
because the files of the same release hold them now as numbers, now as strings.
"""

from __future__ import annotations

import gzip
import json
import math
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from longform.errors import InputError, reason_of

__all__ = ["Label", "NqPrediction", "NqSpan", "load_gold", "load_predictions", "read_gold", "read_predictions"]


class NqSpan(NamedTuple):
    """A piece of a page, by bytes, by tokens or by both; −1 is "not given". With nothing given it is null.

    >>> NqSpan(start_token=3, end_token=9).null, NqSpan().null
    (False, True)
    """

    start_byte: int = -1
    end_byte: int = -1
    start_token: int = -1
    end_token: int = -1

    @property
    def null(self) -> bool:
        """Whether it points nowhere."""
        return self.start_byte < 0 and self.start_token < 0

    def same(self, other: NqSpan) -> bool:
        """Whether two non-null spans are the same piece: their bytes agree **or** their tokens do.

        The official comment gives bytes the preference; its code falls through to the tokens, and so does this.

        >>> NqSpan(0, 9, 1, 2).same(NqSpan(5, 9, 1, 2)), NqSpan(0, 9).same(NqSpan(-1, -1, 1, 2))
        (True, False)
        """
        by_bytes = self.start_byte >= 0 and self[:2] == other[:2]
        return by_bytes or (self.start_token >= 0 and self[2:] == other[2:])


class Label(NamedTuple):
    """What one annotator, or a system, says of one question: a long answer and short ones, or yes or no."""

    long: NqSpan = NqSpan()
    short: tuple[NqSpan, ...] = ()
    yes_no: str = "none"

    @property
    def has_long(self) -> bool:
        """Whether there is a long answer."""
        return not self.long.null

    @property
    def has_short(self) -> bool:
        """Whether there is a short answer: a span, or yes or no."""
        return self.yes_no != "none" or any(not span.null for span in self.short)


class NqPrediction(NamedTuple):
    """A system's label and how sure it is of each part."""

    label: Label
    long_score: float
    short_score: float


def _span(row: Any, item: str, what: str) -> NqSpan:
    if not isinstance(row, Mapping):
        raise InputError(f"Item {item}: {what} is not an object with start and end offsets.")
    numbers = []
    for kind in ("byte", "token"):
        start, end = row.get(f"start_{kind}", -1), row.get(f"end_{kind}", -1)
        if not all(isinstance(number, int) and not isinstance(number, bool) for number in (start, end)):
            raise InputError(f"Item {item}: {what} has {kind} offsets {start!r} and {end!r}, not whole numbers.")
        if (start < 0) != (end < 0):
            raise InputError(f"Item {item}: {what} sets only one of start_{kind} {start} and end_{kind} {end}.")
        if start >= 0 and start >= end:
            raise InputError(f"Item {item}: {what} ends at {kind} {end}, not after its start {start}.")
        numbers += [start, end] if start >= 0 else [-1, -1]
    return NqSpan(*numbers)


def _label(row: Mapping[str, Any], item: str) -> Label:
    yes_no = str(row.get("yes_no_answer") or "none").lower()
    if yes_no not in ("yes", "no", "none"):
        raise InputError(f"Item {item}: yes_no_answer is {row['yes_no_answer']!r}, not YES, NO or NONE.")
    long = _span(row["long_answer"], item, "long_answer") if row.get("long_answer") else NqSpan()
    short = tuple(
        _span(span, item, f"short_answers[{place}]") for place, span in enumerate(row.get("short_answers") or ())
    )
    return Label(long, short, yes_no)


def _identifier(row: Any, source: str) -> str:
    if not isinstance(row, Mapping) or row.get("example_id") is None:
        raise InputError(f"{source}: there is no example_id.")
    return str(row["example_id"])


def read_gold(rows: Iterable[Any], source: str = "gold") -> dict[str, tuple[Label, ...]]:
    """The annotations of every question, from objects in the original or the simplified form.

    >>> row = {"example_id": 7, "annotations": [{"long_answer": {"start_token": 1, "end_token": 4}}]}
    >>> read_gold([row])["7"][0].long
    NqSpan(start_byte=-1, end_byte=-1, start_token=1, end_token=4)
    """
    gold: dict[str, tuple[Label, ...]] = {}
    for place, row in enumerate(rows, 1):
        item = _identifier(row, f"{source}, item {place}")
        if item in gold:
            raise InputError(f"Item {item} stands twice in the gold files.")
        if not isinstance(row.get("annotations"), list) or not row["annotations"]:
            raise InputError(f"Item {item} has no annotations.")
        gold[item] = tuple(_label(annotation, item) for annotation in row["annotations"])
    return gold


def load_gold(pattern: str | Path) -> dict[str, tuple[Label, ...]]:
    """The annotations in every file that matches a path or a glob: ``.jsonl.gz`` or ``.jsonl``."""
    parts = Path(pattern).parts
    wild = next((place for place, part in enumerate(parts) if any(sign in part for sign in "*?[")), len(parts) - 1)
    paths = sorted(Path(*parts[:wild]).glob("/".join(parts[wild:]))) if parts else []
    if not paths:
        raise InputError(f"No file matches {pattern}: give the path or the glob of the gold .jsonl.gz files.")
    return read_gold(row for path in paths for row in _lines(path))


def _lines(path: Path) -> Iterator[Any]:
    number = 0
    try:
        with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as file:
            for line in file:
                number += 1
                if line.strip():
                    yield orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise InputError(f"{path.name}, line {number} is not JSON: {error.msg}.") from error
    except (OSError, EOFError) as error:
        raise InputError(f"{path.name} cannot be read: {error}.") from error


def read_predictions(rows: Iterable[Any]) -> dict[str, NqPrediction]:
    """Predictions from the objects of the official form; a part that is left out is null.

    >>> row = {"example_id": 7, "long_answer_score": 1, "short_answers_score": 0, "yes_no_answer": "YES"}
    >>> read_predictions([row])["7"].label.yes_no
    'yes'
    """
    predictions: dict[str, NqPrediction] = {}
    for place, row in enumerate(rows, 1):
        item = _identifier(row, f"Prediction {place}")
        if item in predictions:
            raise InputError(f"Item {item} is predicted twice.")
        label = _label(row, item)
        if label.yes_no != "none" and any(not span.null for span in label.short):
            raise InputError(f"Item {item} says {label.yes_no} and gives short answers: it may do only one of the two.")
        scores = [_score(row, name, item) for name in ("long_answer_score", "short_answers_score")]
        predictions[item] = NqPrediction(label, *scores)
    return predictions


def _score(row: Mapping[str, Any], name: str, item: str) -> float:
    if name not in row:
        raise InputError(f"Item {item} has no {name}: without scores write 0 for every item.")
    score = row[name]
    if isinstance(score, bool) or not isinstance(score, (int, float)) or not math.isfinite(score):
        raise InputError(f"Item {item}: {name} is {score!r}, not a finite number.")
    return float(score)


def load_predictions(path: str | Path) -> dict[str, NqPrediction]:
    """Predictions from the official file: ``{"predictions": [{"example_id": …, "long_answer": {…}, …}, …]}``."""
    path = Path(path)
    try:
        # The standard reader takes NaN, which Python itself writes; the check above then names the item.
        data = json.loads(path.read_bytes())
    except OSError as error:
        raise InputError(f"{path.name} cannot be read: {reason_of(error)}.") from error
    except ValueError as error:
        raise InputError(f"{path.name} is not JSON: {error}.") from error
    if not isinstance(data, dict) or not isinstance(data.get("predictions"), list):
        raise InputError(f'{path.name} does not hold {{"predictions": [...]}}.')
    return read_predictions(data["predictions"])
