"""What counts beside a re-ranker's own score: BM25's and the encoder's, as much as its folder says."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longform import Document, Hit, Index, InputError, Passage
from longform.models import CrossEncoder, find_model
from longform.rerank import CrossEncoderReranker, open_reranker


class Numbers:
    """In place of a cross-encoder: the text is the score."""

    keep = None
    share = 1.0

    def score(self, question: str, passages: Sequence[Any], *, early: bool = False) -> Any:
        return np.array([float(passage.text) for passage in passages], dtype=np.float32)

    def lengths(self, question: str, passages: Sequence[Any]) -> list[int]:
        return [1] * len(passages)

    def share_read(self, question: str, passages: Sequence[Any]) -> float:
        return self.share


def hits_of(scores: Sequence[float], found: Sequence[float]) -> list[Hit]:
    return [
        Hit(Passage(f"p{n}", "d", "", str(own), 0, 1), n + 1, first, {"bm25": first})
        for n, (own, first) in enumerate(zip(scores, found, strict=True))
    ]


def test_a_near_tie_is_decided_by_what_else_counts() -> None:
    hits = hits_of([1.0, 1.1, -5.0], [9.0, 1.0, 5.0])
    alone = CrossEncoderReranker(Numbers()).rerank("q", hits)
    mixed = CrossEncoderReranker(Numbers(), mix={"bm25": 0.2}).rerank("q", hits)
    assert [hit.passage.id for hit in alone] == ["p1", "p0", "p2"]
    assert [hit.passage.id for hit in mixed] == ["p0", "p1", "p2"]
    # The model's own score stays to be seen.
    assert mixed[0].scores["rerank"] == 1.0
    assert mixed[0].score > mixed[1].score > mixed[2].score


def test_bm25_counts_more_where_the_model_reads_less() -> None:
    hits = hits_of([1.0, 2.0, -5.0], [9.0, 1.0, 5.0])
    half = Numbers()
    half.share = 0.2
    whole = CrossEncoderReranker(Numbers(), mix={"bm25": 0.1}).rerank("q", hits)
    part = CrossEncoderReranker(half, mix={"bm25": 0.1}).rerank("q", hits)
    assert [hit.passage.id for hit in whole] == ["p1", "p0", "p2"]
    assert [hit.passage.id for hit in part] == ["p0", "p1", "p2"]


def test_how_much_of_passages_the_shipped_model_reads() -> None:
    model = CrossEncoder.load("reranker")
    short, long = (Passage("p", "d", "Tea", "Tea is a drink. " * n, 0, 1) for n in (5, 100))
    assert model.share_read("What is tea?", [short]) == 1.0
    assert 0.2 < model.share_read("What is tea?", [long]) < 0.5
    assert model.share_read("What is tea?", [short, long]) == pytest.approx(
        (1 + model.share_read("What is tea?", [long])) / 2
    )
    assert model.share_read("What is tea?", []) == 1.0


@given(st.lists(st.tuples(st.integers(-9, 9), st.integers(0, 9)), min_size=1, max_size=20))
def test_nothing_else_counts_where_it_is_not_known(rows: list[tuple[int, int]]) -> None:
    hits = hits_of([float(own) for own, _ in rows], [float(first) for _, first in rows])
    unknown = [Hit(hit.passage, hit.rank, hit.score) for hit in hits]
    plain = CrossEncoderReranker(Numbers()).rerank("q", unknown)
    assert CrossEncoderReranker(Numbers(), mix={"bm25": 0.5, "similarity": 0.5}).rerank("q", unknown) == plain
    mixed = CrossEncoderReranker(Numbers(), mix={"bm25": 0.5}).rerank("q", hits)
    assert sorted(hit.passage.id for hit in mixed) == sorted(hit.passage.id for hit in hits)
    assert all(np.isfinite(hit.score) for hit in mixed)


def test_similarity_counts_where_the_index_has_vectors(tmp_path: Path) -> None:
    pages = [Document("a", "Tea", "Tea is a hot drink."), Document("b", "Iron", "Iron is a metal that rusts.")]
    plain = Index.create(tmp_path / "plain.index", pages)
    dense = Index.create(tmp_path / "dense.index", pages, dense=True)
    assert open_reranker("reranker", plain).similarity is None
    reranker = open_reranker("reranker", dense)
    assert reranker.similarity is not None
    assert set(reranker.mix) == {"bm25", "similarity"}
    found = reranker.rerank("Which drink is hot?", dense.search("Which drink is hot?", 2))
    assert found[0].passage.title == "Tea"
    assert found[0].score != found[0].scores["rerank"]


@pytest.mark.parametrize("mix", [{"bm25": "much"}, {"tea": 1}, [0.1], {"bm25": 1e999}])
def test_a_mix_that_cannot_be_meant(tmp_path: Path, mix: Any) -> None:
    folder = tmp_path / "mine"
    shutil.copytree(find_model("reranker", "reranker").folder, folder)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "mix": mix}))
    with pytest.raises(InputError, match="mix must give numbers for bm25 and similarity"):
        CrossEncoder.load(folder)
