from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longform.errors import InputError
from longform.score.kilt import answer_measures, load_kilt, score_kilt, score_kilt_retrieval
from longform.score.kilt_retrieval import evidence_ranking, gold_answers, page_ids, r_precision


def pages(*names: str) -> list[dict[str, str]]:
    return [{"wikipedia_id": name, "title": f"Title {name}"} for name in names]


def row(item: str, *outputs: dict[str, Any]) -> dict[str, Any]:
    return {"id": item, "input": "where is title 5?", "output": list(outputs)}


def test_r_precision_is_the_best_over_outputs() -> None:
    assert r_precision([["1", "2"], ["3"]], ["3", "1"]) == 1
    assert r_precision([["1", "2"]], ["1", "9", "2"]) == 0.5
    assert r_precision([[], ["2"]], ["1"]) == 0
    assert r_precision([["1"]], []) == 0
    assert r_precision([], ["1"]) == 0


def test_a_set_is_found_at_the_rank_of_its_last_page() -> None:
    ranking = evidence_ranking([["1", "2"], ["3"]], ["1", "3", "9", "2"])
    assert ranking.complete == [True, False, True], "the open set moves back: 3, 9, {1, 2}"
    assert ranking.recall(1) == 0.5
    assert ranking.recall(3) == 1
    assert ranking.precision(5) == 0.4
    assert ranking.success(1) == 1


def test_a_page_of_two_sets_takes_two_places() -> None:
    assert evidence_ranking([["1"], ["1", "2"]], ["1", "2"]).complete == [True, True]
    assert evidence_ranking([["1", "3"], ["1", "2"]], ["1", "9"]).complete == [False, False, False]


def test_equal_sets_count_once_and_an_empty_one_is_never_found() -> None:
    assert evidence_ranking([["1", "2"], ["2", "1"]], ["2", "1"]) == ([True], 1)
    assert evidence_ranking([[], ["1"]], ["1"]).recall(5) == 0.5
    assert evidence_ranking([], ["1"]).recall(5) == 0


def test_ids_and_answers_are_stripped_and_distinct() -> None:
    assert page_ids({}) == []
    assert page_ids({"provenance": None}) == []
    assert gold_answers(row("q", {"answer": " a "}, {"answer": None}, {"answer": "b"}, {"answer": "a"})) == ["a", "b"]


def test_answer_measures() -> None:
    rouge = lambda guess, gold: float(guess == gold)  # noqa: E731
    assert answer_measures(" Rome ", ["Rome"], rouge) == {"accuracy": 1, "em": 1, "f1": 1, "rougel": 1}
    assert answer_measures("rome", ["Rome"], rouge)["accuracy"] == 0, "accuracy is on the raw string"
    assert answer_measures(" ", ["Rome"], rouge) == {"accuracy": 0, "em": 0, "f1": 0, "rougel": 0}
    assert answer_measures("the", ["a"], rouge)["em"] == 1, "both normalise to nothing"
    assert answer_measures("the", ["a"], rouge)["f1"] == 0, "and share no word"


def test_rouge_of_an_answer_with_itself() -> None:
    assert answer_measures("Rome is old", ["Rome is old"])["rougel"] == pytest.approx(0.999999995)


def test_kilt_scores_need_every_page() -> None:
    gold = [
        row("a", {"answer": "x", "provenance": pages("1", "2")}),
        row("b", {"answer": "x", "provenance": pages("1")}),
    ]
    guess = [
        row("b", {"answer": "x", "provenance": pages("1")}),
        row("a", {"answer": "x", "provenance": pages("1")}),
        row("c"),
    ]
    scores = score_kilt(gold, guess).scores
    assert scores["em"] == 1
    assert scores["KILT-em"] == 0.5
    assert scores["Rprec"] == 0.75
    assert scores["recall@5"] == scores["success_rate@5"] == 0.5
    assert scores["precision@5"] == pytest.approx(0.1)


def test_recall_and_success_only_beyond_one() -> None:
    gold = [row("a", {"answer": "x", "provenance": pages("1")})]
    assert "recall@1" not in score_kilt(gold, gold, ks=(1, 5)).scores
    assert score_kilt(gold, gold, ks=(1, 5)).scores["precision@1"] == 1


def test_another_key() -> None:
    gold = [row("a", {"answer": "x", "provenance": [{"title": "T"}]})]
    assert score_kilt(gold, gold, rank_key="title").scores["Rprec"] == 1
    assert score_kilt(gold, gold).scores["Rprec"] == 0


def test_context() -> None:
    gold = [row("a", {"answer": "Rome", "provenance": pages("5")})]
    found = [{"wikipedia_id": "9", "text": "nothing"}, {"wikipedia_id": "5", "text": "The title 5: Rome."}, {}]
    scores = score_kilt_retrieval(gold, [row("a", {"provenance": found})], ks=(1, 2)).scores
    assert scores["entity_in_input"] == 1
    assert scores["answer_in_context@1"] == scores["entity_in_context@1"] == 0
    assert scores["answer_in_context@2"] == scores["answer_and_ent_in_context@2"] == scores["entity_in_context@2"] == 1


@pytest.mark.parametrize(
    ("gold", "guess", "message"),
    [
        ([row("a", {"answer": "x"})], [], "1 of 1 items have no guess, a among them."),
        ([row("a", {"answer": "x"})], [row("a")], "Item a has 0 guessed outputs; give exactly one."),
        ([row("a", {"answer": ""})], [row("a", {"answer": "x"})], "Item a has no gold answer."),
        ([row("a", {"answer": "x"})] * 2, [], "Item a stands twice in the gold file."),
        ([], [row("a", {"answer": "x"})] * 2, "Item a stands twice in the guess file."),
        ([{"output": []}], [], "Row 1 of the gold file has no id."),
        ([], [{"id": 3}], "Item 3 has no list of outputs in the guess file."),
        ([], [], "There is nothing to score: the kilt gold file holds no items."),
    ],
)
def test_mistakes(gold: list[Any], guess: list[Any], message: str) -> None:
    with pytest.raises(InputError) as error:
        score_kilt(gold, guess)
    assert str(error.value) == message


def test_k_is_positive() -> None:
    with pytest.raises(InputError, match=r"^k must be at least 1, not 0.$"):
        score_kilt([], [], ks=(0,))


def test_files(tmp_path: Path) -> None:
    (tmp_path / "g.jsonl").write_text('{"id": 1, "output": []}\n\n{"id": 2}\n')
    assert [line["id"] for line in load_kilt(tmp_path / "g.jsonl")] == [1, 2]
    (tmp_path / "g.jsonl").write_text("{}\nx")
    with pytest.raises(InputError, match=r"g\.jsonl:2: broken JSON"):
        load_kilt(tmp_path / "g.jsonl")
    with pytest.raises(InputError, match=r"none\.jsonl cannot be read: no such file or directory\.$"):
        load_kilt(tmp_path / "none.jsonl")


PAGES = st.lists(st.sampled_from("12345"), max_size=5, unique=True)


@given(st.lists(PAGES, max_size=4), PAGES)
def test_recall_grows_with_k_and_stays_in_bounds(sets: list[list[str]], guessed: list[str]) -> None:
    ranking = evidence_ranking(sets, guessed)
    values = [ranking.recall(k) for k in range(1, 8)]
    assert values == sorted(values)
    assert 0 <= values[0] <= values[-1] <= 1
    assert ranking.recall(7) == evidence_ranking(sets[::-1], guessed).recall(7)
    assert 0 <= r_precision(sets, guessed) <= 1
