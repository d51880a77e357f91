"""From silver files to what a re-ranker learns from: questions with passages that matter, and passages that don't.

Christmann et al., 2024, appendix A: 5 silver passages and 50 others of the same 100 candidates for each question.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from longform.errors import InputError
from longform.progress import Progress, no_progress
from longform.records import Passage
from longform.retrieve.index import Index
from longform.silver import SilverPassage, SilverRow, read_silver

__all__ = ["Group", "Likeness", "Sample", "grade", "read_groups", "sample", "split"]

# Of graded passages: the least weight of one that holds a direct answer, and of any.
HOLDS_ANSWER, LEAST_WEIGHT = 0.7, 0.05

# Hard to tell from silver passages: so many of the other passages of a pool, those most like the question.
NEAREST = 20

# How like a question each of some passages is.
Likeness = Callable[[str, Sequence[Passage]], Sequence[float]]


@dataclass(frozen=True, slots=True)
class Group:
    """A question with its silver passages, how much each counts (above 0, at most 1), and the other candidates."""

    id: str
    question: str
    silver: tuple[Passage, ...]
    weights: tuple[float, ...]
    others: tuple[Passage, ...]


@dataclass(frozen=True, slots=True)
class Sample:
    """The passages of a question that one pass over the data takes; a label is 0, or the weight of a silver passage."""

    question: str
    passages: tuple[Passage, ...]
    labels: tuple[float, ...]


def read_groups(
    paths: Sequence[Path],
    index: str | Path | None = None,
    *,
    graded: bool = False,
    progress: Progress = no_progress,
) -> list[Group]:
    """The groups of silver files, in their order; passages come from the index that a file names, or from ``index``.

    ``graded`` weighs silver passages (:func:`grade`); else each of them counts 1, as in the paper.

    A question without silver passages, or with nothing else in its pool, teaches nothing and is left out; so is a
    question that an earlier file had already.
    """
    groups: dict[str, Group] = {}
    for path in paths:
        file = read_silver(str(path))
        place = index or str(file.header["index"])
        opened = Index.open(place)
        known: dict[str, Passage] = {}
        for done, row in enumerate(file.rows, 1):
            if row.id not in groups and row.silver and len(row.pool) > len(row.silver):
                groups[row.id] = _group(row, opened, known, path, place, graded)
            progress(f"reading {path.name}", done, len(file.rows))
    if not groups:
        names = ", ".join(path.name for path in paths)
        raise InputError(f"No question of {names} has silver passages: nothing can be learned from it.")
    return list(groups.values())


def grade(passages: Sequence[SilverPassage]) -> tuple[float, ...]:
    """How much each silver passage of a question counts: its match as a share of the best one's, if that is positive.

    One that holds a direct answer counts at least :data:`HOLDS_ANSWER`. The paper's silver passages all count the same;
    yet of the five chosen for a question that one paragraph answers, four only fill the places.

    >>> best = SilverPassage("a", "", "", 1, 0.8, "silver", (), (), "")
    >>> weak = SilverPassage("b", "", "", 2, 0.2, "silver", (), (), "")
    >>> holds = SilverPassage("c", "", "", 3, 0.2, "silver", ("Rome",), (), "")
    >>> grade([best, weak, holds])
    (1.0, 0.25, 0.7)
    """
    top = max((passage.score for passage in passages), default=0.0)
    shares = [passage.score / top if top > 0 else 1.0 for passage in passages]
    return tuple(
        max(share, HOLDS_ANSWER if passage.answers else LEAST_WEIGHT)
        for share, passage in zip(shares, passages, strict=True)
    )


def _group(
    row: SilverRow, index: Index, known: dict[str, Passage], path: Path, place: str | Path, graded: bool
) -> Group:
    for passage_id in row.pool:
        if passage_id not in known:
            if passage_id not in index:
                raise InputError(
                    f"{path} names the passage {passage_id!r}, which {place} does not hold: "
                    "name the index that it was made from with --index, or make it anew with `longform silver`."
                )
            known[passage_id] = index.passage(passage_id)
    chosen = {passage.id for passage in row.silver}
    return Group(
        row.id,
        row.question,
        tuple(known[passage.id] for passage in row.silver),
        grade(row.silver) if graded else (1.0,) * len(row.silver),
        tuple(known[passage_id] for passage_id in row.pool if passage_id not in chosen),
    )


def split(groups: Sequence[Group], share: float, seed: int) -> tuple[list[Group], list[Group]]:
    """Training and validation questions; the same seed gives the same split whatever the order of the files.

    >>> groups = [Group(str(number), "?", (), (), ()) for number in range(10)]
    >>> train, validation = split(groups, 0.2, seed=1)
    >>> len(train), len(validation), {group.id for group in train} & {group.id for group in validation}
    (8, 2, set())
    """
    order = sorted(groups, key=lambda group: group.id)
    random.Random(seed).shuffle(order)
    held = round(len(order) * share) if share else 0
    if share and len(order) > 1:
        held = min(max(held, 1), len(order) - 1)
    return order[held:], order[:held]


def sample(
    groups: Sequence[Group],
    positives: int,
    negatives: int,
    epochs: float,
    seed: int,
    *,
    hard: float = 0.0,
    likeness: Likeness | None = None,
) -> list[Sample]:
    """For every epoch and every question up to so many silver and so many other passages, drawn anew, in random order.

    Silver passages are drawn by their weights. Half an epoch is half of the questions. Of the other passages the share
    ``hard`` comes from the :data:`NEAREST` to the question by ``likeness``: what a re-ranker must decide between is
    found there, and hardly ever among the rest.
    """
    draw = random.Random(seed)
    near: dict[str, tuple[Passage, ...]] = {}
    if hard and likeness is not None:
        for group in groups:
            scores = likeness(group.question, group.others)
            order = sorted(range(len(group.others)), key=lambda place: -scores[place])
            near[group.id] = tuple(group.others[place] for place in order)
    samples: list[Sample] = []
    total = max(round(len(groups) * epochs), 1)
    while len(samples) < total:
        shuffled = list(groups)
        draw.shuffle(shuffled)
        for group in shuffled[: total - len(samples)]:
            # Without replacement and by weight (Efraimidis and Spirakis, 2006): with five graded passages of which one
            # counts, two drawn evenly would miss it three times in five.
            keys = [draw.random() ** (1 / weight) for weight in group.weights]
            places = sorted(range(len(keys)), key=lambda place: -keys[place])[:positives]
            ranked = near.get(group.id, ())
            other = draw.sample(ranked[:NEAREST], min(round(negatives * hard), len(ranked), NEAREST))
            taken = {passage.id for passage in other}
            rest = [passage for passage in group.others if passage.id not in taken]
            other += draw.sample(rest, min(negatives - len(other), len(rest)))
            passages = (*(group.silver[place] for place in places), *other)
            labels = tuple(group.weights[place] for place in places) + (0.0,) * len(other)
            samples.append(Sample(group.question, passages, labels))
    return samples
