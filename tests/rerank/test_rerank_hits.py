"""Re-rankers: order, ties, what scores say, the budget, the early cut, and similarity with and without an index."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longform import Document, Encoder, Hit, Index, InputError, Passage
from longform.models.cross_encoder import CrossEncoder
from longform.rerank import CrossEncoderReranker, Reranker, RerankReport, SimilarityReranker
from longform.rerank import reranker as module


def hits_of(texts: Sequence[str]) -> list[Hit]:
    return [
        Hit(Passage(f"p{n}", "d", "", text, 0, len(text)), n, 100.0 - n, {"bm25": 100.0 - n})
        for n, text in enumerate(texts, 1)
    ]


class Numbers:
    """In place of a cross-encoder: the text is the score; before a colon stands the early one."""

    def __init__(self, keep: int | None = None) -> None:
        self.keep = keep
        self.asked: list[tuple[bool, list[str]]] = []

    def score(self, question: str, passages: Sequence[Any], *, early: bool = False) -> Any:
        self.asked.append((early, [passage.text for passage in passages]))
        return np.array([float(passage.text.split(":")[0 if early else -1]) for passage in passages], dtype=np.float32)

    def lengths(self, question: str, passages: Sequence[Any]) -> list[int]:
        return [1] * len(passages)


@pytest.fixture
def two_of_ten(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Makes the time run out after so many candidates."""

    def limit(count: int) -> None:
        def first(costs: Any, score: Any, seconds: Any = None, **_: Any) -> Any:
            return score(0, len(costs) if seconds is None else min(count, len(costs)))

        monkeypatch.setattr(module, "score_within", first)

    return limit


def texts_of(report: RerankReport) -> list[str]:
    return [hit.passage.text for hit in report.hits]


@given(st.lists(st.integers(-9, 9), max_size=30), st.integers(1, 40))
def test_order_ranks_and_scores(scores: list[int], k: int) -> None:
    hits = hits_of([str(score) for score in scores])
    reranker: Reranker = CrossEncoderReranker(Numbers())
    found = reranker.rerank("q", hits)
    expected = sorted(hits, key=lambda hit: (-float(hit.passage.text), hit.rank))
    assert [hit.passage for hit in found] == [hit.passage for hit in expected]
    assert [hit.rank for hit in found] == list(range(1, len(hits) + 1))
    assert all(hit.scores == {"bm25": old.score, "rerank": hit.score} for hit, old in zip(found, expected, strict=True))
    assert reranker.rerank("q", hits, k) == found[:k]


def test_what_the_time_left_over_follows(two_of_ten: Callable[[int], None]) -> None:
    two_of_ten(3)
    report = CrossEncoderReranker(Numbers(), budget_ms=10).report("q", hits_of(["1", "3", "2", "9", "8"]))
    assert texts_of(report) == ["3", "2", "1", "9", "8"]
    assert [hit.score for hit in report.hits] == [3, 2, 1, 0, -1]
    assert ["rerank" in hit.scores for hit in report.hits] == [True, True, True, False, False]
    assert (report.scored, report.candidates) == (3, 5)


@given(st.integers(1, 30), st.integers(1, 12), st.integers(1, 12), st.randoms())
def test_an_early_cut(count: int, keep: int, k: int, random: Any) -> None:
    rows = [(random.randint(-9, 9), random.randint(-9, 9)) for _ in range(count)]
    hits = hits_of([f"{early}:{whole}" for early, whole in rows])
    model = Numbers(keep)
    report = CrossEncoderReranker(model).report("q", hits)
    assert sorted(hit.passage.id for hit in report.hits) == sorted(hit.passage.id for hit in hits)
    assert report.scored == min(keep, count)
    assert all(one.score > two.score or "rerank" in two.scores for one, two in pairwise(report.hits))
    assert all(one.score >= two.score for one, two in pairwise(report.hits))
    if keep < count:
        order = sorted(range(count), key=lambda place: (-rows[place][0], place))
        kept = sorted(order[:keep], key=lambda place: (-rows[place][1], place))
        assert [hit.passage for hit in report.hits] == [hits[place].passage for place in [*kept, *order[keep:]]]
        assert all(hit.scores["rerank_early"] == float(hit.passage.text.split(":")[0]) for hit in report.hits)
    else:
        assert [early for early, _ in model.asked] == [False]
    # Never fewer than are asked for are looked at closely.
    assert CrossEncoderReranker(model).report("q", hits, k).scored == min(max(keep, k), count)


def test_an_early_cut_in_too_little_time(two_of_ten: Callable[[int], None]) -> None:
    two_of_ten(3)
    hits = hits_of(["1:1", "2:2", "3:0", "9:9", "4:4"])
    report = CrossEncoderReranker(Numbers(2), budget_ms=10).report("q", hits)
    assert texts_of(report) == ["2:2", "3:0", "1:1", "9:9", "4:4"]
    assert [hit.score for hit in report.hits] == [2, 0, -1, -2, -3]
    assert [sorted(hit.scores) for hit in report.hits[1:4]] == [
        ["bm25", "rerank", "rerank_early"],
        ["bm25", "rerank_early"],
        ["bm25"],
    ]


def test_a_budget_counts_real_time() -> None:
    import time

    class Slow(Numbers):
        def score(self, question: str, passages: Sequence[Any], *, early: bool = False) -> Any:
            time.sleep(0.004 * len(passages))
            return super().score(question, passages)

    report = CrossEncoderReranker(Slow(), budget_ms=100).report("q", hits_of(["1"] * 100))
    assert 5 <= report.scored <= 25
    assert report.seconds < 1


def test_nothing_to_rank_and_wrong_numbers() -> None:
    for reranker in (CrossEncoderReranker(Numbers()), SimilarityReranker(Encoder.load())):
        assert reranker.rerank("q", []) == []
        with pytest.raises(InputError, match=r"^k must be at least 1, and 0 is not\.$"):
            reranker.rerank("q", [], 0)
    for budget in (0, -5, float("nan")):
        with pytest.raises(InputError, match=r"^The budget must be above 0 ms, and .* is not\.$"):
            CrossEncoderReranker(Numbers(), budget)


def test_a_cross_encoder_is_a_pair_scorer(tmp_path: Path) -> None:
    scorer: module.PairScorer | type[CrossEncoder] = CrossEncoder
    assert {"score", "lengths"} <= set(dir(scorer)) and "keep" in CrossEncoder.__dataclass_fields__


PAGES = [
    Document("tea", "Tea", "Tea is a hot drink that is brewed from leaves."),
    Document("milk", "Milk", "Cows give milk, which is white and cold."),
    Document("car", "Car", "A car has four wheels and an engine."),
]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    made = Index.create(tmp_path_factory.mktemp("similar") / "my.index", PAGES[:2], dense=True)
    made.add(PAGES[2:])
    return made


class Counting:
    """An encoder that counts the passages it encodes."""

    def __init__(self, encoder: Any) -> None:
        self.encoder, self.encoded = encoder, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.encoder, name)

    def encode(self, texts: list[str], **_: Any) -> Any:
        self.encoded += len(texts)
        return self.encoder.encode(texts)


def test_similarity_with_stored_vectors_is_that_of_encoding(index: Index) -> None:
    hits = [Hit(passage, rank, 1.0, {"bm25": 1.0}) for rank, passage in enumerate(index, 1)][::-1]
    encoder = Counting(index.encoder)
    stored = SimilarityReranker(encoder, index).report("Which warm beverage is brewed?", hits, 2)
    assert (encoder.encoded, stored.scored, stored.candidates, len(stored.hits)) == (0, 3, 3, 2)
    plain = SimilarityReranker(encoder).rerank("Which warm beverage is brewed?", hits)
    assert encoder.encoded == 3
    assert plain[0].passage.title == "Tea"
    assert [hit.passage.id for hit in stored.hits] == [hit.passage.id for hit in plain][:2]
    for one, two in zip(stored.hits, plain, strict=False):
        assert one.score == pytest.approx(two.score, abs=1e-3)
        assert one.scores == {"bm25": 1.0, "rerank": one.score}


def test_a_passage_that_the_index_does_not_hold_is_encoded(index: Index) -> None:
    encoder = Counting(index.encoder)
    strange = Hit(Passage("x", "x", "", "Tea is brewed hot.", 0, 18), 1, 1.0)
    known = Hit(next(iter(index)), 2, 1.0)
    assert len(SimilarityReranker(encoder, index).rerank("hot tea", [strange, known])) == 2
    assert encoder.encoded == 1


def test_vectors_of_another_encoder_are_not_used(index: Index) -> None:
    encoder = Counting(index.encoder)
    encoder.fingerprint = "another"
    SimilarityReranker(encoder, index).rerank("hot tea", [Hit(next(iter(index)), 1, 1.0)])
    assert encoder.encoded == 1
