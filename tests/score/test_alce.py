from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from longform.errors import InputError
from longform.score.alce import alce_rouge, preprocess, score_alce, str_em

NLTK = Path(__file__).parents[3] / "shared" / "nltk_data"


def contains(pairs: Sequence[tuple[str, str]]) -> list[bool]:
    return [set(claim.lower().strip(".").split()) <= set(premise.lower().split()) for premise, claim in pairs]


def stops(text: str) -> list[str]:
    return [f"{piece.strip()}." for piece in text.split(".") if piece.strip()]


def asqa(output: str, **changes: Any) -> dict[str, Any]:
    return {
        "sample_id": "a",
        "output": output,
        "qa_pairs": [{"short_answers": ["rain"]}, {"short_answers": ["snow", "ice"]}],
        "annotations": [{"long_answer": "rain and snow"}, {"long_answer": "ice"}],
        "docs": [{"title": "rain", "text": "rain"}, {"title": "snow", "text": "snow", "sent": "hail"}],
        **changes,
    }


def test_preprocess() -> None:
    assert preprocess("  a\nb ") == "a\nb"
    assert preprocess("  a\nb ", official=True) == "a"
    assert preprocess("a <|im_end|>") == "a"
    assert preprocess("a<|im_end|>", official=True) == "a"


def test_str_em_counts_readings() -> None:
    assert str_em([["rain"], ["snow", "ice"]], "Nice rain") == 1, "'ice' is a substring of 'nice'"
    assert str_em([["rain"], ["hail"]], "rain") == 0.5


def test_asqa_scores() -> None:
    scores = score_alce([asqa("rain and snow [1].")], "asqa").scores
    assert scores == {"length": 3, "str_em": 100, "str_hit": 100, "rougeLsum": 100}
    assert score_alce([asqa("rain")], "asqa", rouge=False).scores == {"length": 1, "str_em": 50, "str_hit": 0}


def test_lines_after_the_first_are_lost_officially() -> None:
    rows = [asqa("rain.\nsnow.")]
    assert score_alce(rows, "asqa", rouge=False).scores["str_em"] == 100
    assert score_alce(rows, "asqa", rouge=False, official=True).scores["str_em"] == 50


def test_rouge_hook() -> None:
    hook = lambda output, references: len(references) / 4  # noqa: E731
    assert score_alce([asqa("rain")], "asqa", rouge=hook).scores["rougeLsum"] == 50


def test_rouge_is_the_better_reference() -> None:
    assert alce_rouge("Ice", ["rain", "ice"]) == 1
    assert alce_rouge("", ["ice"]) == 0


def test_citations() -> None:
    rows = [asqa("Rain [1]. Snow [1]. Hail [2, 1]. Sun.")]
    ours = score_alce(rows, "asqa", rouge=False, entails=contains).scores
    assert ours["citation_rec"] == 50
    assert ours["citation_prec"] == 50, "the passage of [2] is its sent; [1] beside it is not needed"
    official = score_alce(rows, "asqa", rouge=False, entails=contains, official=True, split=stops).scores
    assert official["citation_rec"] == 25, "'hail, 1' is not what the passage says"


def test_answers_without_a_sentence() -> None:
    rows = [asqa("rain [1]."), asqa("", sample_id="b")]
    assert score_alce(rows, "asqa", rouge=False, entails=contains).scores["citation_rec"] == 50
    official = score_alce(rows, "asqa", rouge=False, entails=contains, official=True, split=stops)
    assert official.scores["citation_rec"] == 100
    alone = score_alce(rows[1:], "asqa", rouge=False, entails=contains, official=True, split=stops)
    assert alone.scores["citation_rec"] == alone.scores["citation_prec"] == 0


def test_eli5_claims() -> None:
    rows = [
        {"id": 1, "output": "rain and snow [1].", "claims": ["rain", "hail"], "answer": "rain", "docs": []},
        {"id": 2, "output": "", "claims": ["rain"], "answer": "rain", "docs": []},
    ]
    scores = score_alce(rows, "eli5", entails=contains).scores
    assert scores["claims_nli"] == 25
    assert "str_em" not in scores
    assert "claims_nli" not in score_alce(rows, "eli5").scores
    anything = score_alce(
        rows, "eli5", entails=lambda pairs: [True] * len(pairs), official=True, split=stops, rouge=False
    )
    assert anything.scores["claims_nli"] == 100, "officially an empty answer is asked about, too"


def qampari(output: str) -> dict[str, Any]:
    docs = [{"title": "", "text": "Who ? rain"}, {"title": "", "text": "Who ? snow"}]
    return {"id": "q", "question": "Who ?", "output": output, "answers": [["rain"], ["snow"]], "docs": docs}


def test_qampari() -> None:
    scores = score_alce([qampari("rain [1], snow [1, 2].")], "qampari", entails=contains).scores
    assert scores["qampari_f1"] == 100
    assert scores["num_preds"] == 2
    assert scores["citation_rec"] == 100
    assert scores["citation_prec"] == pytest.approx(200 / 3)
    official = score_alce([qampari("rain [1], snow [1, 2].")], "qampari", entails=contains, official=True).scores
    assert official["num_preds"] == 3, "'2' is taken for an answer"
    assert official["citation_rec"] == pytest.approx(100 / 3)


def test_qampari_chain_of_thought_and_nothing() -> None:
    assert score_alce([qampari("Let me think: rain, snow")], "qampari", cot=True).scores["qampari_f1"] == 100
    empty = score_alce([qampari("")], "qampari", entails=contains).scores
    assert set(empty.values()) == {0}


@pytest.mark.parametrize(
    ("rows", "task", "message"),
    [
        ([], "triviaqa", "There is no ALCE task 'triviaqa': choose asqa, eli5 or qampari."),
        ([asqa("x"), asqa("y")], "asqa", "Item a stands twice in the results."),
        ([{"id": "z"}], "asqa", "Item z has no output."),
        ([asqa("x", qa_pairs=[])], "asqa", "Item a: qa_pairs is empty."),
        ([{"output": "x"}], "qampari", "Item 0 has no answers."),
        ([{"output": "x", "answer": "y"}], "eli5", "Item 0 has no claims."),
        ([{"output": "x"}], "eli5", "Item 0 has no answer."),
        ([], "asqa", "There is nothing to score: the alce-asqa gold file holds no items."),
    ],
)
def test_mistakes(rows: list[Any], task: Any, message: str) -> None:
    with pytest.raises(InputError) as error:
        score_alce(rows, task, entails=contains)
    assert str(error.value) == message


@pytest.mark.shared
@pytest.mark.skipif(not NLTK.is_dir(), reason="NLTK's data is not beside the checkout (../shared/nltk_data)")
def test_official_sentences_are_punkts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NLTK_DATA", str(NLTK))
    rows = [asqa("Rain. [1] Hail. [2]")]
    official = score_alce(rows, "asqa", entails=contains, official=True).scores
    # Punkt sees "Rain.", "[1] Hail." and "[2]": only the last, an empty claim, is entailed.
    assert official["citation_rec"] == pytest.approx(100 / 3)
    assert score_alce(rows, "asqa", entails=contains).scores["citation_rec"] == 100
    assert official["rougeLsum"] == pytest.approx(100 * alce_rouge("Rain. Hail.", ["rain and snow"], official=True))
