"""Answer-diverse selection: which passages it takes, and that it does what its formula says."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longform import Hit, InputError, Passage
from longform.models import Reader, ReaderAnswer
from longform.rerank import AnswerReader, DiverseHit, select_diverse
from longform.rerank.diverse import _groups


class Said:
    """In place of a reader: a passage's text is its answer and how much better it is than none; "" is none."""

    def __init__(self) -> None:
        self.pairs: list[tuple[str, str]] = []

    def read(self, pairs: Sequence[tuple[str, str]]) -> list[ReaderAnswer]:
        self.pairs += pairs
        rows = [text.partition("=") for _, text in pairs]
        return [
            ReaderAnswer(answer, float(margin or -9), 0.0, 0, len(answer))
            if float(margin or -9) >= 0
            else ReaderAnswer("", float(margin or -9), 0.0, 0, 0)
            for answer, _, margin in rows
        ]


def hits_of(rows: Sequence[tuple[str, float]]) -> list[Hit]:
    return [
        Hit(Passage(f"p{n}", "d", "", text, 0, len(text)), n, score, {"rerank": score})
        for n, (text, score) in enumerate(rows, 1)
    ]


ROWS = [("Anna=9", 5.0), ("the Anna=9", 4.0), ("Anna Bell=9", 3.0), ("none=-9", 2.0), ("Bert=9", 1.0), ("Carl=9", 0.0)]


def ids(hits: Sequence[Hit]) -> list[str]:
    return [hit.passage.id for hit in hits]


def test_different_answers_are_chosen() -> None:
    hits = hits_of(ROWS)
    assert ids(select_diverse("who", hits, 3, Said(), novelty=1)) == ["p1", "p5", "p6"]
    assert ids(select_diverse("who", hits, 3, Said(), novelty=0)) == ["p1", "p2", "p3"]
    # Half an answer outweighs little relevance, not much.
    assert ids(select_diverse("who", hits, 4, Said(), novelty=0.5)) == ["p1", "p2", "p5", "p3"]


def test_the_best_hit_stays_first() -> None:
    hits = hits_of([("none=-9", 5.0), ("Anna=9", 4.9), ("Bert=1", 4.8)])
    found = select_diverse("who", hits, 3, Said(), novelty=9)
    assert ids(found) == ["p1", "p2", "p3"]
    assert found[0].score == found[1].score > found[2].score


def test_answers_and_confidences_are_told() -> None:
    first, second = select_diverse("who", hits_of([("The Anna=0", 5.0), ("none=-2", 4.0)]), 2, Said())
    assert (first.answer, second.answer) == ("The Anna", "")
    assert first.scores["answer_confidence"] == 0.5
    assert second.scores["answer_confidence"] == pytest.approx(1 / (1 + np.exp(2)))
    assert first.scores["rerank"] == 5.0 and first.scores["diverse"] == first.score
    row = first.to_json()
    assert list(row)[:5] == ["rank", "score", "scores", "answer", "id"]
    assert row["answer"] == "The Anna" and json.dumps(row)
    assert isinstance(first, Hit)


def test_a_better_reading_of_the_same_answer_counts_by_what_it_adds() -> None:
    hits = hits_of([("Anna=0", 1.0), ("Anna=9", 0.0), ("Bert=0.1", 0.0)])
    first, second, third = select_diverse("who", hits, 3, Said(), novelty=1)
    assert ids([first, second, third]) == ["p1", "p3", "p2"]
    assert third.score == pytest.approx(1 / (1 + np.exp(-9)) - 0.5)


def test_only_the_pool_is_read() -> None:
    hits = hits_of([(f"name{n}=9", 50.0 - n) for n in range(50)])
    reader = Said()
    assert len(select_diverse("who", hits, 5, reader)) == 5
    assert len(reader.pairs) == 20
    reader.pairs.clear()
    assert len(select_diverse("who", hits, 30, reader, pool=7)) == 30
    assert len(reader.pairs) == 30


def test_the_title_is_read_too() -> None:
    reader = Said()
    passages = [Passage("a", "a", "Anna", "She sang.", 0, 9), Passage("b", "b", "Anna", "Anna sang.", 0, 10)]
    select_diverse("who", [Hit(passage, 1, 1.0) for passage in passages], 1, reader)
    assert reader.pairs == [("who", "Anna. She sang."), ("who", "Anna sang.")]


def test_nothing_to_choose_from_and_wrong_numbers() -> None:
    assert select_diverse("who", [], 3, Said()) == []
    for change, message in (
        ({"k": 0}, "k must be at least 1, and 0 is not"),
        ({"pool": 0}, "The pool must hold at least 1 hit, and 0 is not"),
        ({"novelty": -1}, "The weight of new answers must be 0 or more, and -1 is not"),
        ({"novelty": float("nan")}, "The weight of new answers must be 0 or more"),
    ):
        with pytest.raises(InputError, match=message):
            select_diverse("who", [], **{"k": 1, "reader": Said(), **change})


def test_a_reader_without_a_candidate() -> None:
    class Empty:
        def read(self, pairs: Sequence[tuple[str, str]]) -> list[ReaderAnswer]:
            return [ReaderAnswer("empty", 0.0, -3.0, 0, 0)] * len(pairs)

    assert [hit.answer for hit in select_diverse("who", hits_of(ROWS), 2, Empty())] == ["", ""]


def test_what_counts_as_the_same_answer() -> None:
    assert _groups(["art", "Bart", "art of war", "war", "", "the", "The Art!"]) == [0, 1, 0, 3, None, None, 0]


NAMED = st.tuples(st.sampled_from("abcdef"), st.integers(-2, 5), st.integers(0, 9))


@settings(deadline=None)
@given(st.lists(NAMED, min_size=1, max_size=15), st.integers(1, 15), st.floats(0, 4))
def test_each_step_is_the_best_one(rows: list[tuple[str, int, int]], k: int, novelty: float) -> None:
    scores = sorted((float(score) for _, _, score in rows), reverse=True)
    hits = hits_of([(f"x{name}={margin}", score) for (name, margin, _), score in zip(rows, scores, strict=True)])
    found = select_diverse("who", hits, k, Said(), novelty=novelty)
    assert [hit.rank for hit in found] == list(range(1, min(k, len(hits)) + 1))
    assert len(set(ids(found))) == len(found) and found[0].passage.id == "p1"
    assert all(one.score >= two.score - 1e-12 for one, two in pairwise(found))
    assert found == select_diverse("who", hits, k, Said(), novelty=novelty)
    width = (scores[0] - scores[-1]) or 1.0
    low = scores[-1] if scores[0] > scores[-1] else scores[0] - 1

    def value(chosen: Sequence[Hit]) -> float:
        answers: dict[str, float] = {}
        for hit in chosen:
            name, margin = hit.passage.text.split("=")
            if int(margin) >= 0:
                answers[name] = max(answers.get(name, 0), 1 / (1 + np.exp(-int(margin))))
        return sum((hits[int(h.passage.id[1:]) - 1].score - low) / width for h in chosen) + novelty * sum(
            answers.values()
        )

    for size in range(1, len(found)):
        taken = found[:size]
        others = [hit for hit in hits if hit.passage.id not in ids(taken)]
        best = max(value([*taken, hit]) for hit in others)
        assert value(found[: size + 1]) == pytest.approx(best)


@pytest.mark.torch
def test_a_random_reader_runs(tmp_path: Path) -> None:
    torch, transformers = pytest.importorskip("torch"), pytest.importorskip("transformers")
    pytest.importorskip("onnx")
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    from longform.train.export_heads import export_head

    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "who", "sang", "anna", "bert", "."]
    tokenizer = Tokenizer(models.WordLevel({word: n for n, word in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    torch.manual_seed(0)
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    config = transformers.BertConfig(vocab_size=16, max_position_embeddings=40, initializer_range=0.3, **sizes)
    transformers.BertForQuestionAnswering(config).save_pretrained(tmp_path / "tiny")
    tokenizer.save(str(tmp_path / "tiny" / "tokenizer.json"))
    reader: AnswerReader = Reader.load(export_head(tmp_path / "tiny", tmp_path / "out", "reader", int8=False))
    hits = hits_of([("anna sang .", 3.0), ("bert sang .", 2.0), ("anna . anna sang", 1.0)])
    found = select_diverse("who sang", hits, 2, reader)
    assert found == select_diverse("who sang", hits, 2, reader)
    assert all(isinstance(hit, DiverseHit) and hit.answer in hit.passage.text for hit in found)
    assert all(0 < hit.scores["answer_confidence"] < 1 for hit in found)
