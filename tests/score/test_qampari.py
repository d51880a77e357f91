from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longform.errors import InputError
from longform.score.qampari import (
    QampariAnswer,
    QampariQuestion,
    alce_measures,
    arecall,
    by_type,
    erecall,
    load_qampari,
    official_measures,
    read_qampari,
    score_qampari,
    split_answers,
)
from longform.score.recall import PassageText

OBAMA, BUSH = QampariAnswer("Barack Obama", ("Obama", "Barack Obama")), QampariAnswer("Bush", ("Bush", "G. W. Bush"))
GOLD = (OBAMA, BUSH)
NAMES = [answer.aliases for answer in GOLD]


def test_the_two_scorers_disagree_on_a_second_name() -> None:
    given = ["Obama", "Barack Obama", "X"]
    assert official_measures(GOLD, given)["precision"] == pytest.approx(1 / 3)
    assert alce_measures(NAMES, given)["qampari_prec"] == pytest.approx(2 / 3)
    assert official_measures(GOLD, given)["recall"] == alce_measures(NAMES, given)["qampari_rec"] == 0.5


def test_repeats() -> None:
    assert official_measures(GOLD, ["Bush", "Bush"])["precision"] == 1
    assert official_measures(GOLD, ["Bush", "bush"])["precision"] == 0.5, "distinct as written"
    assert alce_measures(NAMES, ["Bush", "X", "X"])["qampari_prec"] == pytest.approx(1 / 3)


def test_thresholds() -> None:
    five = [QampariAnswer(str(n), (str(n),)) for n in range(5)]
    four = official_measures(five, ["0", "1", "2", "3"])
    assert (four["rec_above"], four["f1_above"]) == (1, 1)
    three = official_measures(five, ["0", "1", "2"])
    assert (three["rec_above"], three["f1_above"]) == (0, 1)


def test_only_aliases_count_and_a_shared_one_names_the_last_answer() -> None:
    assert official_measures([QampariAnswer("Rome", ("Roma",))], ["Rome"])["recall"] == 0
    shared = [QampariAnswer("first", ("x", "y")), QampariAnswer("second", ("x",))]
    assert official_measures(shared, ["x", "y"])["recall"] == 1, "x names the second, y the first"
    by_case = [QampariAnswer("first", ("X",)), QampariAnswer("second", ("x", "y"))]
    assert official_measures(by_case, ["x", "y"])["recall"] == 1, "X, listed first, decides"


def test_answers_of_one_text_are_one_above_the_line_and_two_below() -> None:
    twice = [QampariAnswer("Italy", ("Italy",)), QampariAnswer("Italy", ("Italy",))]
    assert official_measures(twice, ["Italy"])["recall"] == 0.5
    assert alce_measures([answer.aliases for answer in twice], ["Italy"])["qampari_rec"] == 1


def test_without_predictions_all_is_zero() -> None:
    assert set(official_measures(GOLD, []).values()) == {0}
    assert set(alce_measures(NAMES, ["", "the"]).values()) == {0}


def test_top_five() -> None:
    names = [[str(n)] for n in range(10)]
    values = alce_measures(names, [str(n) for n in range(5)])
    assert (values["qampari_rec"], values["qampari_rec_top5"], values["qampari_f1_top5"]) == (0.5, 1, 1)


def test_split_answers() -> None:
    assert split_answers("Paul, Ringo.") == ["Paul", "Ringo"]
    assert split_answers("Paul,\n") == ["Paul"]
    assert split_answers("thinking: Paul: x, Ringo", cot=True) == ["Paul: x", "Ringo"]
    assert split_answers("no colon", cot=True) == [""]


def test_report_scales_and_names() -> None:
    questions = [QampariQuestion("1__wikidata_simple__dev", "", GOLD), QampariQuestion("q", "", GOLD)]
    given = {"1__wikidata_simple__dev": "Obama, Bush.", "q": ["Obama"]}
    assert score_qampari(questions, given).scores["recall"] == 0.75
    alce = score_qampari(questions, given, alce=True)
    assert alce.scores["qampari_rec"] == 75
    assert alce.scores["num_preds"] == 1.5
    parts = by_type(score_qampari(questions, given))
    assert {kind: part.scores["recall"] for kind, part in parts.items()} == {"": 0.5, "wikidata_simple": 1}


def test_recall_of_passages() -> None:
    passages = [PassageText("Presidents", "G.W. Bush was one."), PassageText("Obama", "another")]
    assert arecall(NAMES, passages, 1) == 0.5
    assert arecall(NAMES, passages, 2) == 1
    assert erecall([[passages[0]], [passages[1], PassageText("X", "unseen")]], passages, 2) == 0.75


def row(**changes: Any) -> dict[str, Any]:
    return {"qid": "q", "question_text": "?", "answer_list": [{"answer_text": "a", "aliases": ["a"]}], **changes}


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([row(qid=None)], "Question 1 of the QAMPARI file has no qid."),
        ([row(), row()], "Item q stands twice in the QAMPARI file."),
        ([row(answer_list=[])], "Item q has no gold answers."),
        ([row(answer_list=[{"answer_text": "a"}])], "Item q: the answer 'a' has no aliases."),
    ],
)
def test_mistakes(rows: list[Any], message: str) -> None:
    with pytest.raises(InputError) as error:
        read_qampari(rows)
    assert str(error.value) == message


def test_missing_prediction() -> None:
    with pytest.raises(InputError, match=r"^1 of 1 questions are not predicted, q among them\.$"):
        score_qampari(read_qampari([row()]), {})


def test_files(tmp_path: Path) -> None:
    with gzip.open(tmp_path / "d.jsonl.gz", "wt") as file:
        file.write(json.dumps(row()) + "\n")
    assert load_qampari(tmp_path / "d.jsonl.gz")[0].answers == (QampariAnswer("a", ("a",)),)
    (tmp_path / "d.jsonl").write_text("{")
    with pytest.raises(InputError, match=r"d\.jsonl:1: broken JSON"):
        load_qampari(tmp_path / "d.jsonl")
    with pytest.raises(InputError, match=r"none\.jsonl cannot be read"):
        load_qampari(tmp_path / "none.jsonl")


ANSWERS = st.lists(st.lists(st.sampled_from("uvwxyz"), min_size=1, max_size=3), min_size=1, max_size=5)
GUESSES = st.lists(st.sampled_from("uvwxyzUVW"), max_size=6)


@given(ANSWERS, GUESSES, st.randoms())
def test_bounds_and_order(names: list[list[str]], guesses: list[str], random: Any) -> None:
    answers = [QampariAnswer(str(n), tuple(aliases)) for n, aliases in enumerate(names)]
    shuffled = random.sample(guesses, len(guesses))
    for measure in (lambda given: official_measures(answers, given), lambda given: alce_measures(names, given)):
        values = measure(guesses)
        assert all(0 <= value <= 1 for name, value in values.items() if name != "num_preds")
        assert measure(shuffled) == values
