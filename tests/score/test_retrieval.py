from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longform.errors import InputError
from longform.score.recall import PassageText
from longform.score.retrieval import RetrievalGold, score_qrels, score_run
from longform.score.trec import Scored, read_run, write_run

TEXTS = {
    "p1": PassageText("Beatles", "Ringo drummed."),
    "p2": PassageText("Wings", "Paul sang."),
    "p 3": PassageText("X", "-"),
}


def ranking(*names: str) -> list[Scored]:
    return [Scored(name, float(-place)) for place, name in enumerate(names)]


def test_answers_pages_and_evidence() -> None:
    gold = {"q": RetrievalGold([["Ringo"], ["Paul", "McCartney"]], ["wings"], [[TEXTS["p1"]], [TEXTS["p2"]]])}
    scores = score_run({"q": ranking("p1", "p 3", "p2")}, gold, TEXTS, ks=(1, 3)).scores
    assert scores == {
        "answer_recall@1": 0.5,
        "answer_recall@3": 1,
        "page_recall@1": 0,
        "page_recall@3": 1,
        "evidence_recall@1": 0.5,
        "evidence_recall@3": 1,
    }


def test_questions_without_a_ranking_found_nothing() -> None:
    gold = {"q": RetrievalGold([["Ringo"]]), "r": RetrievalGold([["Ringo"]])}
    report = score_run({"q": ranking("p1"), "other": ranking("p1")}, gold, TEXTS, ks=(5,))
    assert report.scores == {"answer_recall@5": 0.5}
    assert list(report.ids) == ["q", "r"]


def test_ids_with_white_space_survive_a_file(tmp_path: Path) -> None:
    write_run(tmp_path / "run", {"a question": ranking("p 3", "p1")})
    report = score_run(read_run(tmp_path / "run"), {"a question": RetrievalGold([["Ringo"]])}, TEXTS, ks=(2,))
    assert report.scores["answer_recall@2"] == 1
    found = score_qrels(read_run(tmp_path / "run"), {"a question": {"p 3": 1}}, measures=["RR"])
    assert found.scores["RR"] == 1


@pytest.mark.parametrize(
    ("gold", "options", "message"),
    [
        ({"q": RetrievalGold([["x"]])}, {"ks": ()}, "k must be at least 1."),
        ({"q": RetrievalGold([["x"]])}, {}, "Passage p9 of the run is not among the passages given."),
        ({"a": RetrievalGold([["x"]]), "b": RetrievalGold()}, {}, "Item b has no gold answers, which others have."),
    ],
)
def test_mistakes(gold: dict[str, Any], options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as error:
        score_run({"q": ranking("p9")}, gold, TEXTS, **options)
    assert str(error.value) == message


def test_ranking_measures_by_hand() -> None:
    run = {"q": ranking("a", "b", "c"), "unjudged": ranking("a")}
    qrels = {"q": {"b": 1, "c": 1, "z": 1}, "missing": {"a": 1}}
    report = score_qrels(run, qrels, measures=("nDCG@10", "R@2", "RR@10", "P@1", "AP"))
    ndcg = (1 / math.log2(3) + 1 / math.log2(4)) / (1 + 1 / math.log2(3) + 1 / math.log2(4))
    assert report.columns["nDCG@10"][0] == pytest.approx(ndcg)
    assert report.columns["R@2"].tolist() == pytest.approx([1 / 3, 0])
    assert report.columns["RR@10"].tolist() == [0.5, 0]
    assert report.columns["P@1"].tolist() == [0, 0]
    assert report.columns["AP"].tolist() == pytest.approx([(1 / 2 + 2 / 3) / 3, 0])


def test_ties_stay_in_the_order_of_the_run() -> None:
    for order in (["a", "b"], ["b", "a"]):
        run = {"q": [Scored(name, 1.0) for name in order]}
        assert score_qrels(run, {"q": {"a": 1}}, measures=["RR"]).scores["RR"] == 1 / (order.index("a") + 1)


def test_unknown_measure() -> None:
    with pytest.raises(InputError, match=r"^There is no measure 'Bogus@3': see https://ir-measur.es for the names.$"):
        score_qrels({}, {"q": {"a": 1}}, measures=["nDCG@10", "Bogus@3"])


@settings(max_examples=25, deadline=None)
@given(st.permutations("abcdef"), st.sets(st.sampled_from("abcdef"), min_size=1))
def test_recall_grows_with_k(order: list[str], relevant: set[str]) -> None:
    names = [f"R@{k}" for k in range(1, 7)]
    scores = score_qrels({"q": ranking(*order)}, {"q": dict.fromkeys(relevant, 1)}, measures=names).scores
    values = [scores[name] for name in names]
    assert values == sorted(values)
    assert values[-1] == pytest.approx(1)
