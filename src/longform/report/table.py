"""The scores of a dataset's systems as a table: intervals, and a paired test of each against the baseline."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from longform.errors import InputError
from longform.report.bounds import CONTROL, LOWER, UPPER
from longform.report.gather import DatasetRuns, Entry
from longform.report.measures import digits_of, is_passages, is_plain
from longform.score.statistics import Comparison, compare, holm

__all__ = ["LEVELS", "NO_BASELINE", "Cell", "ScoreTable", "baseline_of", "mark_of", "score_table"]

LEVELS = (0.05, 0.01)
"""One star, two stars: 10,000 resamples corrected for a hundred tests reach no further."""
NO_BASELINE = "none"
_GROUPS = {None: "Systems", CONTROL: "Controls", LOWER: "Bounds", UPPER: "Bounds"}


@dataclass(frozen=True)
class Cell:
    """A system's score: its 95 % interval, and how it differs from the baseline's.

    ``holm`` is the p-value corrected for every test of the dataset; ``None`` where nothing was tested.
    """

    value: float
    low: float | None
    high: float | None
    digits: int
    difference: float | None = None
    p: float | None = None
    holm: float | None = None

    @property
    def mark(self) -> str:
        """Up or down and stars, where the difference is significant."""
        return "" if self.holm is None or self.difference is None else mark_of(self.difference, self.holm)

    @property
    def text(self) -> str:
        """The score alone."""
        return f"{self.value:.{self.digits}f}"

    @property
    def interval(self) -> str:
        """The interval, or nothing."""
        if self.low is None or self.high is None:
            return ""
        return f"{self.low:.{self.digits}f}–{self.high:.{self.digits}f}"


@dataclass(frozen=True)
class ScoreTable:
    """Systems × scores of one dataset. ``cells`` are by system and score; a system need not have every score.

    ``systems`` are those that compete, then controls, then bounds, each in the order of the study; ``roles`` say which.
    """

    label: str
    systems: Sequence[str]
    roles: Mapping[str, str | None]
    metrics: Sequence[str]
    cells: Mapping[str, Mapping[str, Cell]]
    n: int
    baseline: str | None
    tests: int
    resamples: int
    notes: Sequence[str] = ()

    def part(self, *, passages: bool) -> ScoreTable | None:
        """The scores of the answers alone, or of the passages; ``None`` where there are none."""
        metrics = [name for name in self.metrics if is_passages(name) == passages]
        systems = [name for name in self.systems if any(metric in self.cells[name] for metric in metrics)]
        return replace(self, metrics=metrics, systems=systems) if metrics and systems else None

    @property
    def groups(self) -> list[tuple[str, list[str]]]:
        """The systems by what they are, each group with its heading; only those groups that have any."""
        found: dict[str, list[str]] = {}
        for system in self.systems:
            found.setdefault(_GROUPS[self.roles[system]], []).append(system)
        return list(found.items())


def mark_of(difference: float, p: float) -> str:
    """How a difference is marked.

    >>> mark_of(1.2, 0.003), mark_of(-1.2, 0.04), mark_of(1.2, 0.05)
    ('↑**', '↓*', '')
    """
    stars = sum(p < level for level in LEVELS)
    return f"{'↑' if difference > 0 else '↓'}{'*' * stars}" if stars and difference else ""


def baseline_of(dataset: DatasetRuns, wanted: str | None) -> str | None:
    """The system that others are tested against: the one wanted, or the first that is no bound."""
    if wanted == NO_BASELINE:
        return None
    if wanted is not None:
        return wanted if dataset.entry(wanted) is not None else None
    return dataset.competing[0].system if len(dataset.entries) > 1 else None


def score_table(
    dataset: DatasetRuns,
    *,
    baseline: str | None = None,
    metrics: Sequence[str] = (),
    resamples: int = 10_000,
    seed: int = 0,
    on_test: Callable[[], None] = lambda: None,
) -> ScoreTable:
    """The table of a dataset.

    Every other system is compared with the baseline by a paired permutation test, score by score (lengths have none:
    longer is not better), and all p-values of the dataset are corrected together (Holm 1979).
    """
    names = list(dict.fromkeys(name for entry in dataset.entries for name in entry.report.scores))
    if metrics:
        names = [name for name in metrics if name in names]
    chosen = baseline_of(dataset, baseline)
    notes = []
    if baseline not in (None, NO_BASELINE) and chosen is None:
        notes.append(f"{baseline} has no scores on {dataset.label}, so that nothing is tested there.")
    found: dict[tuple[str, str], Comparison] = {}
    against = dataset.entry(chosen) if chosen is not None else None
    for entry in dataset.entries:
        if against is None or entry is against:
            continue
        try:
            told = compare(entry.report, against.report, resamples=resamples, seed=seed)
        except InputError as error:
            notes.append(f"{entry.system} was not tested against {chosen}: {error}")
            continue
        found |= {(entry.system, name): told[name] for name in names if name in told and not is_plain(name)}
        on_test()
    corrected = dict(zip(found, holm([one.p for one in found.values()]), strict=True))
    digits = {name: _digits(dataset.entries, name) for name in names}
    cells = {
        entry.system: {
            name: _cell(entry, name, digits[name], found.get((entry.system, name)), corrected.get((entry.system, name)))
            for name in names
            if name in entry.report.scores
        }
        for entry in dataset.entries
    }
    order = list(_GROUPS)
    return ScoreTable(
        dataset.label,
        [entry.system for entry in sorted(dataset.entries, key=lambda entry: order.index(entry.role))],
        {entry.system: entry.role for entry in dataset.entries},
        names,
        cells,
        max((entry.report.n for entry in dataset.entries), default=0),
        chosen if found else None,
        len(found),
        resamples,
        notes,
    )


def _digits(entries: Sequence[Entry], name: str) -> int:
    values = [entry.report.scores[name] for entry in entries if name in entry.report.scores]
    metric = next(metric for entry in entries for metric in entry.report.metrics if metric.name == name)
    return digits_of(metric, values)


def _cell(entry: Entry, name: str, digits: int, tested: Comparison | None, corrected: float | None) -> Cell:
    low, high = entry.intervals.get(name, (None, None))
    value = entry.report.scores[name]
    if tested is None:
        return Cell(value, low, high, digits)
    return Cell(value, low, high, digits, tested.difference, tested.p, corrected)
