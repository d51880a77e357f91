"""A new split of questions in which no paraphrase and no page stands on two sides: whole clusters are held out.

Lewis et al. (EACL 2021) and Krishna et al. (2021, section 3.2) ask for such splits. Questions that are paraphrases of
each other, or have a page in common, are linked; a cluster is all that links lead to, and goes to one side as a whole.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from longform.audit.nearest_questions import like_pairs, vectors_of
from longform.audit.overlap_pairs import pair_probability
from longform.audit.paraphrase import LEAST_COSINE, THRESHOLD, same_page
from longform.audit.question_signs import AskedQuestion
from longform.data.example import Example
from longform.errors import FailureError, InputError, reason_of
from longform.files import atomic_write
from longform.progress import Progress, no_progress
from longform.score.recall import page_key

if TYPE_CHECKING:
    from longform.models import Encoder

__all__ = ["SIDES", "Resplit", "clusters_of", "paraphrase_links", "resplit", "write_resplit"]

SIDES = ("train", "dev", "test")


@dataclass(frozen=True)
class Resplit:
    """The sides of a new split, each with its questions; ``clusters`` are ids, the largest first."""

    sides: Mapping[str, Sequence[Example]]
    clusters: Sequence[Sequence[str]]
    links: int

    def crossing(self, links: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
        """Of some links between ids those that lead from one side to another."""
        side_of = {example.id: side for side, examples in self.sides.items() for example in examples}
        return [(first, second) for first, second in links if side_of[first] != side_of[second]]


def paraphrase_links(
    examples: Sequence[Example],
    encoder: Encoder,
    cache: Path | None,
    *,
    labels: Mapping[tuple[str, str], bool] | None = None,
    progress: Progress = no_progress,
) -> list[tuple[str, str]]:
    """All pairs of ids that are decided to be paraphrases: not only among the nearest, but of all pairs.

    No other sign outweighs a cosine below :data:`~longform.audit.paraphrase.LEAST_COSINE`, so nothing is missed.
    Labels, by the ids of a pair in either order, stand above the decision.
    """
    said = {frozenset(pair): label for pair, label in (labels or {}).items()}
    known = {example.id for example in examples}
    asked = [AskedQuestion.of(one.question) for one in examples]
    vectors = vectors_of([one.question for one in examples], encoder, cache, progress)
    found = {pair for pair, label in said.items() if label and pair <= known and len(pair) == 2}
    # Rounding differs with the shape of a product of matrices: a little below the least is looked at as well.
    for first, second, cosine in like_pairs(vectors, LEAST_COSINE - 1e-4, progress):
        one, two = examples[first], examples[second]
        pair = frozenset((one.id, two.id))
        if pair in said:
            continue
        # As the audit would decide of either order, with a hair's breadth to spare.
        decided = pair_probability(one, two, (asked[first], asked[second]), cosine + 1e-4, same_page(one, two))
        if decided >= THRESHOLD:
            found.add(pair)
    return sorted((min(pair), max(pair)) for pair in found)


def clusters_of(examples: Sequence[Example], links: Iterable[tuple[str, str]]) -> list[list[str]]:
    """The ids that links and common pages connect, directly or through others: largest first, then in their order.

    >>> questions = [Example(name, "?", pages=pages) for name, pages in (("a", ("P",)), ("b", ()), ("c", ("p",)))]
    >>> clusters_of(questions, []), clusters_of(questions, [("b", "c")])
    ([['a', 'c'], ['b']], [['a', 'b', 'c']])
    """
    parent = {example.id: example.id for example in examples}

    def root(identifier: str) -> str:
        while parent[identifier] != identifier:
            parent[identifier] = parent[parent[identifier]]
            identifier = parent[identifier]
        return identifier

    first_on: dict[str, str] = {}
    for example in examples:
        for page in map(page_key, example.pages):
            parent[root(example.id)] = root(first_on.setdefault(page, example.id))
    for one, other in links:
        parent[root(one)] = root(other)
    groups: dict[str, list[str]] = {}
    for example in examples:
        groups.setdefault(root(example.id), []).append(example.id)
    return sorted(groups.values(), key=lambda group: -len(group))


def resplit(
    examples: Sequence[Example], links: Sequence[tuple[str, str]], shares: Sequence[float], *, seed: int = 0
) -> Resplit:
    """Share clusters out to train, dev and test; ``shares`` are of the questions, in that order.

    Clusters go, in a random order but the largest first, to the side that lacks most of its share. A share of 0 leaves
    a side empty.
    """
    if len(shares) != len(SIDES) or any(share < 0 for share in shares) or not abs(sum(shares) - 1) <= 1e-6:
        raise InputError(
            f"The shares of train, dev and test are three numbers that make 1, such as 0.8,0.1,0.1, not "
            f"{','.join(f'{share:g}' for share in shares)}."
        )
    clusters = clusters_of(examples, links)
    order = list(clusters)
    random.Random(seed).shuffle(order)
    order.sort(key=len, reverse=True)
    wanted = {side: share * len(examples) for side, share in zip(SIDES, shares, strict=True)}
    filled = dict.fromkeys(SIDES, 0)
    side_of: dict[str, str] = {}
    for cluster in order:
        side = max((side for side in SIDES if wanted[side]), key=lambda side: 1 - filled[side] / wanted[side])
        # The first to be filled is the side with room for it: a large cluster does not swamp a small side.
        if filled[side] + len(cluster) > wanted[side]:
            side = max((side for side in SIDES if wanted[side]), key=lambda side: wanted[side] - filled[side])
        filled[side] += len(cluster)
        side_of.update(dict.fromkeys(cluster, side))
    sides = {side: [example for example in examples if side_of[example.id] == side] for side in SIDES}
    return Resplit(sides, clusters, len(links))


def write_resplit(folder: Path, made: Resplit, settings: Mapping[str, Any]) -> None:
    """Write ``train.jsonl`` and so on, their ids as ``train.ids.json``, and ``resplit.json`` with the settings.

    The rows are read by ``longform data describe`` and wherever a file of questions goes; the ids choose the same
    questions from the official files (``--ids``).
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for side, examples in made.sides.items():
            with atomic_write(folder / f"{side}.jsonl") as file:
                for example in examples:
                    file.write(orjson.dumps(example.to_json(), option=orjson.OPT_APPEND_NEWLINE))
            with atomic_write(folder / f"{side}.ids.json") as file:
                file.write(orjson.dumps([example.id for example in examples], option=orjson.OPT_INDENT_2))
        record = {
            "questions": {side: len(examples) for side, examples in made.sides.items()},
            "clusters": len(made.clusters),
            "largest_cluster": len(made.clusters[0]),
            "paraphrase_links": made.links,
            **settings,
        }
        # Last: where it stands, the rest is whole.
        with atomic_write(folder / "resplit.json") as file:
            file.write(orjson.dumps(record, option=orjson.OPT_INDENT_2))
    except OSError as error:
        raise FailureError(f"{folder} cannot be written: {reason_of(error)}.") from error
