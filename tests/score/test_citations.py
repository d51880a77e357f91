from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longform.score.citations import CitationCounts, Statement, cited, judge_citations, remove_citations, statements


def contains(pairs: Sequence[tuple[str, str]]) -> list[bool]:
    """A premise entails a claim that has only its words."""
    return [set(claim.strip(".").split()) <= set(premise.split()) for premise, claim in pairs]


def judge(text: list[str], documents: list[str], **options: object) -> CitationCounts:
    official = bool(options.get("official"))
    return judge_citations([(statements(text, official=official), documents)], contains, **options)[0]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "ours", "official"),
    [
        ("x [1][2].", "x.", "x."),
        ("x [1, 2].", "x.", "x, 2."),
        ("x[3].", "x.", "x."),
        ("x [1 ; 2]", "x", "x ; 2"),
        ("a list] | [4]", "a list] |", "a list"),
        ("in [brackets]", "in [brackets]", "in [brackets"),
        ("open [1", "open [1", "open"),
    ],
)
def test_remove_citations(text: str, ours: str, official: str) -> None:
    assert remove_citations(text) == ours
    assert remove_citations(text, official=True) == official


@pytest.mark.parametrize(
    ("text", "ours", "official"),
    [
        ("x [1][2].", [1, 2], [1, 2]),
        ("x [1, 2].", [1, 2], [1]),
        ("x [1-3].", [1, 2, 3], [1]),
        ("x [2][2].", [2], [2, 2]),
        ("x [0].", [0], [0]),
        ("x [1900-2000000].", [1900, 2000000], [1900]),
        ("x [3-1].", [3, 1], [3]),
        ("open [7", [], [7]),
    ],
)
def test_cited(text: str, ours: list[int], official: list[int]) -> None:
    assert cited(text) == ours
    assert cited(text, official=True) == official


def test_statements() -> None:
    assert statements(["[1]", "Rain [2].", "[3]"]) == [Statement("Rain.", [2, 3])]
    assert statements(["Rain [2].", "[3]"], official=True) == [Statement("Rain.", [2]), Statement("", [3])]


def test_recall_and_precision() -> None:
    counts = judge(["rain [1].", "snow [1].", "sun."], ["rain", "snow"])
    assert counts == (3, 1, 2, 1)
    assert counts.recall == pytest.approx(1 / 3)
    assert counts.precision == 0.5
    assert judge([], ["rain"]).recall == judge([], ["rain"]).precision == 0


def test_needed_and_needless_citations() -> None:
    # Together they entail; neither does alone, so both are needed.
    assert judge(["rain snow [1][2]."], ["rain", "snow"]) == (1, 1, 2, 2)
    # The second is not needed: it does not entail, and the first does without it.
    assert judge(["rain [1][2]."], ["rain", "snow"]) == (1, 1, 2, 1)
    # Both entail alone: both are right.
    assert judge(["rain [1][2]."], ["rain", "rain too"]) == (1, 1, 2, 2)
    assert judge(["sun [1][2]."], ["rain", "snow"]) == (1, 0, 2, 0)


def test_numbers_beyond_the_passages() -> None:
    assert judge(["rain [1][9]."], ["rain"]) == (1, 1, 2, 1)
    assert judge(["rain [1][9]."], ["rain"], official=True) == (1, 0, 0, 0)
    assert judge(["rain [1]."], []) == (1, 0, 1, 0)
    assert judge(["rain [0]."], [], official=True) == (1, 0, 0, 0)


def test_zero() -> None:
    assert judge(["rain [0]."], ["snow", "rain"]) == (1, 0, 1, 0)
    assert judge(["rain [0]."], ["snow", "rain"], official=True) == (1, 1, 1, 1), "index -1, the last passage"


def test_at_most() -> None:
    text, documents = ["rain [1][2][3][4]."], ["rain", "a", "b", "c"]
    assert judge(text, documents).citations == 4
    assert judge(text, documents, official=True).citations == 3
    assert judge(text, documents, at_most=2).citations == 2
    assert judge(text, documents, at_most=2, official=True).citations == 2


def test_repeated_numbers() -> None:
    assert judge(["rain [1][1]."], ["rain"]) == (1, 1, 1, 1)
    assert judge(["rain [1][1]."], ["rain"], official=True) == (1, 1, 2, 2)


def test_pairs_are_asked_in_at_most_three_batches_and_once_each() -> None:
    calls: list[list[tuple[str, str]]] = []

    def spy(pairs: Sequence[tuple[str, str]]) -> list[bool]:
        calls.append(list(pairs))
        return contains(pairs)

    answers = [(statements(["rain [1][2].", "snow [2].", "snow [2]."]), ["rain", "snow"])] * 3
    judge_citations(answers, spy)
    asked = [pair for call in calls for pair in call]
    assert len(calls) <= 3
    assert len(asked) == len(set(asked))
    calls.clear()
    judge_citations([(statements(["no citation."]), ["rain"])], spy)
    assert calls == []


def test_an_entailment_function_must_answer_every_pair() -> None:
    with pytest.raises(ValueError, match="zip"):
        judge_citations([(statements(["rain [1]."]), ["rain"])], lambda pairs: [])


@given(
    st.lists(st.builds("{} [{}][{}].".format, st.sampled_from(["rain", "snow"]), st.integers(0, 4), st.integers(0, 4))),
    st.lists(st.sampled_from(["rain", "snow", "rain snow"]), max_size=3),
    st.booleans(),
)
def test_bounds_and_order(text: list[str], documents: list[str], official: bool) -> None:
    counts = judge(text, documents, official=official)
    assert 0 <= counts.recall <= 1
    assert 0 <= counts.precision <= 1
    assert judge(text[::-1], documents, official=official) == counts
