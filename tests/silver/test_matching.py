"""How passages match answers: against plain Python, and the real encoder."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from longform import FailureError, Index, Passage
from longform.corpus import TrainingQuestion
from longform.models import Encoder
from longform.score.recall import PassageText, answer_ranks
from longform.silver import LexicalMatch, PerplexityMatch, SemanticMatch
from longform.silver.perplexity import asqa_prompt
from longform.silver.pool import Pool, Pools
from longform.text import content_tokens

# A busy machine is no failure.
patient = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


def all_of(index: Index) -> Pool:
    return Pools(index).pool(range(len(index)))


def test_token_recall(kings: Index) -> None:
    pool = all_of(kings)
    answer = "The king of France reigned until 1830!"
    words = content_tokens(answer)
    expected = [len(words & content_tokens(f"{p.title} {p.text}")) / len(words) for p in kings]
    assert pool.recall(answer).tolist() == pytest.approx(expected)
    assert pool.recall("of the").tolist() == [0] * 5
    assert pool.recall("zebra").tolist() == [0] * 5
    assert pool.shared(0, answer) == ("king", "france", "1830")
    assert pool.shared(4, answer) == ()
    assert pool.ids() == ("a", "b", "c", "d", "e")


def test_an_empty_pool(kings: Index, asked: TrainingQuestion) -> None:
    pool = Pools(kings).pool([])
    assert (len(pool), pool.ids(), pool.recall("king").tolist(), pool.held([["x"]])) == (0, (), [], [])
    assert LexicalMatch()(asked, pool).tolist() == []


def test_the_best_of_several_long_answers_counts(kings: Index) -> None:
    question = TrainingQuestion("q", "Which?", ("hot drink", "cheese"))
    assert LexicalMatch()(question, all_of(kings)).tolist() == [0, 0, 0, 1, 1]
    assert LexicalMatch()(TrainingQuestion("q", "Which?"), all_of(kings)).tolist() == [0] * 5


def test_held_answers(kings: Index) -> None:
    held = all_of(kings).held([["the CHARLES X!"], ["Louis-Philippe", "Louis Philippe"], ["the"]])
    assert held == [{0: "the CHARLES X!"}, {0: "the CHARLES X!", 1: "Louis Philippe"}, {1: "Louis Philippe"}, {}, {}]


@patient
@given(st.lists(st.lists(st.sampled_from(["king", "King of", "an", "x", "1830.", "hot  drink", ""])), max_size=3))
def test_answers_are_held_as_the_score_has_it(kings: Index, answers: list[list[str]]) -> None:
    pool = all_of(kings)
    ranks = answer_ranks(answers, [PassageText(passage.title, passage.text) for passage in kings])
    held = pool.held(answers)
    first = [next((place + 1 for place, found in enumerate(held) if n in found), math.inf) for n in range(len(answers))]
    assert first == ranks


def test_semantic_match_with_and_without_stored_vectors(kings: Index, tmp_path: Path) -> None:
    encoder = Encoder.load(threads=1)
    question = TrainingQuestion("q", "What?", ("a warm beverage", "a dairy product"))
    fresh = SemanticMatch(kings, encoder)(question, all_of(kings))
    passages = list(kings)
    stored = Index.create(tmp_path / "dense.index", passages[:3], dense=True)
    stored.add(passages[3:])
    found = SemanticMatch(stored, encoder)(question, all_of(stored))
    assert found == pytest.approx(fresh, abs=2e-3), "16 bits against 32"
    expected = encoder.encode([f"{p.title} {p.text}" for p in passages]) @ encoder.encode(list(question.long_answers)).T
    assert fresh == pytest.approx(expected.max(axis=1), abs=1e-6)
    assert set(np.argsort(-fresh)[:2]) == {3, 4}
    assert SemanticMatch(kings, encoder)(TrainingQuestion("q", "What?"), all_of(kings)).tolist() == [0] * 5


class Counting:
    """A language model that likes answers whose words stand late in the prompt, and keeps what it was asked."""

    name = "counting"

    def __init__(self) -> None:
        self.calls: list[tuple[list[str], list[str]]] = []

    def log_likelihoods(self, prompts: Sequence[str], continuations: Sequence[str]) -> list[float]:
        self.calls.append((list(prompts), list(continuations)))
        return [
            sum(0.0 if word in prompt.rsplit("|", 1)[-1] else -1.0 for word in text.split())
            for prompt, text in zip(prompts, continuations, strict=True)
        ]


def test_the_prompt() -> None:
    passages = [Passage("a", "a", "T", "One\n\ntwo.", 0, 9), Passage("b", "b", "U", "Three.", 0, 6)]
    expected = "question: Who? context: info: One two. wikipage: T | info: Three. wikipage: U answer:"
    assert asqa_prompt("Who?", passages) == expected


def test_perplexity(kings: Index) -> None:
    model = Counting()
    question = TrainingQuestion("q", "Which drink?", ("hot drink", "cheese France makes"))
    scores = PerplexityMatch(model, k=3, seed=1)(question, all_of(kings))
    assert scores.tolist() == pytest.approx([-2 / 3, -1, -2 / 3, 0, 0]), "per word, the better of the two answers"
    drawn = random.Random("1 q").sample(range(5), 3)
    for prompts, continuations in model.calls:
        assert all(prompt.count("wikipage:") == 3 for prompt in prompts)
        assert all(len(set(prompt.split(" | "))) == 3 for prompt in prompts), "no passage stands twice"
        assert set(continuations) <= {" hot drink", " cheese France makes"}
    assert sorted(len(prompts) for prompts, _ in model.calls) == [1, 1, 1, 1, 3, 3]
    usual = next(prompts for prompts, _ in model.calls if len(prompts) == 3)
    company = [kings.passage_at(place).title for place in drawn[:2]]
    for prompt in usual:
        assert [part.split("wikipage: ")[1] for part in prompt.split(" | ")[:2]] == company, "they begin alike"
    again = Counting()
    PerplexityMatch(again, k=3, seed=1)(question, all_of(kings))
    assert again.calls == model.calls


@pytest.mark.parametrize("k", [1, 2, 5, 9])
def test_perplexity_with_any_number_of_passages(kings: Index, k: int) -> None:
    model = Counting()
    scores = PerplexityMatch(model, k=k)(TrainingQuestion("q", "Which?", ("hot drink",)), all_of(kings))
    assert scores.tolist() == pytest.approx([-1, -1, -1, -1, 0])
    assert all(prompt.count("wikipage:") == min(k, 5) for prompts, _ in model.calls for prompt in prompts)


def test_perplexity_without_long_answer_or_number(kings: Index) -> None:
    class Broken(Counting):
        def log_likelihoods(self, prompts: Sequence[str], continuations: Sequence[str]) -> list[float]:
            return [math.nan] * len(prompts)

    question = TrainingQuestion("q", "Which?")
    assert PerplexityMatch(Broken())(question, all_of(kings)).tolist() == [0] * 5
    with pytest.raises(FailureError) as caught:
        PerplexityMatch(Broken())(TrainingQuestion("q", "Which?", ("hot",)), all_of(kings))
    sentence = "The language model counting gives no finite likelihood for the answer to q: choose another model."
    assert str(caught.value) == sentence
