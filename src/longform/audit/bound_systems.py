"""The systems that bound a score: those that know nothing of the answer, and those that know it beforehand.

*Hurdles* (Krishna et al., 2021, section 3.3 and Table 7) and ASQA (Stelmakh et al., 2022, section 5.1 and Table 3).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from longform.data.example import Example

__all__ = ["LOWER", "PEOPLE", "UPPER", "BoundSystem", "bound_systems", "side_of", "title_of", "why_not"]

LOWER, UPPER = "lower", "upper"

PEOPLE = ("human", "gold")
"""The kinds of systems that are people's answers."""

_SIDES = {"question": LOWER, "random-answer": LOWER, "gold": UPPER, "human": UPPER, "oracle": UPPER}


@dataclass(frozen=True)
class BoundSystem:
    """A system as a study has it, and what it needs: ``train``, ``index``, ``long`` answers, ``two`` of them."""

    table: Mapping[str, Any]
    needs: tuple[str, ...] = field(default=())


def bound_systems(task: str) -> list[BoundSystem]:
    """All bounds for a task, the lower ones first.

    >>> [one.table["kind"] for one in bound_systems("asqa")][:2]
    ['question', 'random-answer']
    """
    # As often as each paper copies it: ASQA to reach the length of an answer, Hurdles because longer scores more.
    times = 8 if task == "asqa" else 5
    nearest = [
        BoundSystem(
            {"kind": "training-answer", "k": k, "choose": choose},
            ("train",) if choose == "longest" else ("train", "long"),
        )
        for choose in ("longest", "best")
        for k in (1, 7)
    ]
    return [
        BoundSystem({"kind": "question", "times": times}),
        BoundSystem({"kind": "random-answer"}, ("train",)),
        *nearest,
        BoundSystem({"kind": "gold", "choose": "longest"}, ("two",)),
        BoundSystem({"kind": "gold", "choose": "best"}, ("two",)),
        BoundSystem({"kind": "human"}, ("two",)),
        BoundSystem(
            {"kind": "oracle", "passages": "silver", "disambiguations": False, "name": "silver-oracle"},
            ("index", "long"),
        ),
    ]


def side_of(settings: Mapping[str, Any]) -> str | None:
    """On which side a system of a study bounds others; ``None`` for one that competes.

    The longest answer of the nearest training questions is below: it remembers, and answers nothing.

    >>> side_of({"kind": "human"}), side_of({"kind": "training-answer", "choose": "longest"}), side_of({"kind": "bm25"})
    ('upper', 'lower', None)
    """
    kind = settings.get("kind", "")
    if kind == "training-answer":
        return UPPER if settings.get("choose") == "best" else LOWER
    return _SIDES.get(kind)


def title_of(settings: Mapping[str, Any]) -> str:
    """What a bound is, for a sentence.

    >>> title_of({"kind": "question", "times": 8}), title_of({"kind": "human"})
    ('copying the question 8 times', 'people')
    """
    kind, choose, k = settings.get("kind", ""), settings.get("choose", ""), settings.get("k", 1)
    if kind == "training-answer":
        of = "training question" if k == 1 else f"{k} training questions"
        return f"the {choose} answer of the nearest {of}"
    titles = {
        "question": f"copying the question {settings.get('times', 8)} times",
        "random-answer": "a random training answer",
        "gold": f"people's {choose} answer",
        "human": "people",
        "oracle": f"an answer from {settings.get('passages', 'gold')} passages",
    }
    return titles.get(kind, str(kind))


def why_not(system: BoundSystem, examples: Sequence[Example], *, train: bool, index: bool) -> str:
    """Why a bound cannot be had; "" where it can, if only on some of the questions."""
    if "train" in system.needs and not train:
        return "training questions with long answers are not known: name them with --train."
    if "index" in system.needs and not index:
        return "there is no index to take silver passages from: name one with --index."
    if "long" in system.needs and not all(example.long_answers for example in examples):
        missing = sum(not example.long_answers for example in examples)
        return f"{missing:,} of {len(examples):,} questions have no long answer to choose by."
    if "two" in system.needs and not any(len(example.long_answers) > 1 for example in examples):
        return "no question has two long answers to compare with each other."
    return ""
