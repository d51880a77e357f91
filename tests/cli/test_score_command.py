"""``longform score`` and ``longform compare``: from files to numbers, and what they say when the files are wrong."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]

GOLD = {
    "dev": {
        "a": {
            "ambiguous_question": "Who won?",
            "qa_pairs": [
                {"question": "Who won in 2010?", "short_answers": ["Spain"]},
                {"question": "Who won in 2014?", "short_answers": ["Germany", "the Germans"]},
            ],
            "wikipages": [{"title": "World Cup", "url": ""}],
            "annotations": [
                {"long_answer": "Spain won in 2010. Germany won in 2014."},
                {"long_answer": "In 2010 it was Spain, in 2014 Germany."},
            ],
        },
        "b": {
            "ambiguous_question": "What is brewed from leaves?",
            "qa_pairs": [{"question": "What hot drink is brewed from leaves?", "short_answers": ["Tea"]}],
            "wikipages": [{"title": "tea", "url": ""}],
            "annotations": [{"long_answer": "Tea is brewed from leaves."}, {"long_answer": "It is tea."}],
        },
    }
}


@pytest.fixture(autouse=True)
def files(here: None) -> None:
    Path("ASQA.json").write_text(json.dumps(GOLD))
    Path("p.json").write_text(json.dumps({"a": "Spain won in 2010. Germany won in 2014.", "b": "It is coffee."}))
    Path("half.json").write_text(json.dumps({"a": "Spain won in 2010."}))
    Path("qa.json").write_text(json.dumps({"a_0": "Spain", "a_1": "Germany", "b_0": ""}))


def test_asqa(longform: Run) -> None:
    arguments = ("--gold", "ASQA.json", "--predictions", "p.json", "--qa", "qa.json")
    row = json.loads(longform("score", "asqa", *arguments, "--json").out)
    assert row.keys() == {"task", "n", "scores", "intervals", "settings"}
    assert (row["task"], row["n"]) == ("asqa", 2)
    assert row["scores"]["str_em"] == 50.0
    assert row["scores"]["QA-F1"] == 50.0
    assert row["scores"]["DR"] == pytest.approx((50.0 * row["scores"]["rougeLsum"]) ** 0.5)
    for name, (low, high) in row["intervals"].items():
        assert low <= row["scores"][name] <= high
    table = longform("score", "asqa", *arguments)
    assert table.out.startswith("asqa: 2 items\n")
    assert "str_em" in table.out


def test_asqa_reads_the_lines_that_ask_writes(longform: Run) -> None:
    lines = [{"id": "a", "answer": "Spain won in 2010 [1]. Germany won in 2014 [1][2]."}, {"id": "b", "answer": ""}]
    Path("asked.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    Path("same.json").write_text(json.dumps({"a": "Spain won in 2010. Germany won in 2014.", "b": ""}))
    asked, same = (
        json.loads(longform("score", "asqa", "--gold", "ASQA.json", "--predictions", file, "--json").out)
        for file in ("asked.jsonl", "same.json")
    )
    assert asked["scores"] == same["scores"]
    Path("twice.jsonl").write_text((json.dumps(lines[0]) + "\n") * 2)
    refused = longform("score", "asqa", "--gold", "ASQA.json", "--predictions", "twice.jsonl")
    assert refused.code == 2
    assert "twice.jsonl: row 2 answers a a second time." in refused.err
    Path("other.jsonl").write_text(json.dumps({"id": "a", "output": "Spain"}) + "\n")
    refused = longform("score", "asqa", "--gold", "ASQA.json", "--predictions", "other.jsonl")
    assert refused.code == 2
    assert "row 1 needs an id and an answer" in refused.err


def test_files_and_numbers_that_cannot_be_meant(longform: Run) -> None:
    Path("number.json").write_text("7")
    gold = ("score", "asqa", "--gold", "ASQA.json")
    for arguments, sentence in (
        (("--predictions", "number.json"), "number.json is no JSON object: the predictions must be one"),
        (("--predictions", "p.json", "--qa", "number.json"), "number.json is no JSON object: the reader's answers"),
        (("--predictions", "p.json", "--seed", "-1"), "it must lie between 0 and 4,294,967,295, and -1 does not."),
        (("--predictions", "p.json", "--resamples", 10**12), "it must lie between 1 and 1,000,000, and"),
    ):
        refused = longform(*gold, *arguments)
        assert refused.code == 2
        assert sentence in refused.err


def test_the_same_seed_gives_the_same_bytes(longform: Run) -> None:
    arguments = ("score", "asqa", "--gold", "ASQA.json", "--predictions", "p.json", "--json", "--seed", 3)
    assert longform(*arguments).out == longform(*arguments).out


def test_missing_predictions(longform: Run) -> None:
    arguments = ("score", "asqa", "--gold", "ASQA.json", "--predictions", "half.json")
    result = longform(*arguments)
    assert result.code == 2
    assert "1 of 2" in result.err
    assert json.loads(longform(*arguments, "--subset", "--json").out)["n"] == 1


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("asqa", "--gold", "no.json", "--predictions", "p.json"), "no.json"),
        (("asqa", "--gold", "ASQA.json", "--split", "test", "--predictions", "p.json"), "dev"),
        (("asqa", "--gold", "ASQA.json", "--predictions", "docs/tea.txt"), "docs/tea.txt is not valid JSON"),
        (
            ("asqa", "--gold", "ASQA.json", "--predictions", "p.json", "--qa", "qa.json", "--reader", "r"),
            "not both",
        ),
        (("kilt", "--gold", "docs/tea.txt", "--predictions", "p.json"), "docs/tea.txt:1: broken JSON"),
        (("qampari", "--predictions", "no.jsonl"), "no.jsonl cannot be read: no such file or directory."),
        (("alce", "--predictions", "p.json", "--dataset", "asqa"), "not a result file of ALCE"),
        (("retrieval", "--gold", "ASQA.json", "--run", "no.trec"), "no.trec"),
    ],
)
def test_mistakes_are_one_sentence(longform: Run, arguments: tuple[str, ...], sentence: str) -> None:
    result = longform("score", *arguments)
    assert result.code == 2
    assert sentence in result.err
    assert result.err.count("\n") == 1
    assert "Traceback" not in result.err


def test_retrieval_from_search_to_score(longform: Run) -> None:
    assert longform("index", "docs", "-o", "my.index").code == 0
    Path("q.jsonl").write_text(
        "".join(
            json.dumps({"id": key, "question": item["ambiguous_question"]}) + "\n" for key, item in GOLD["dev"].items()
        )
    )
    assert longform("search", "my.index", "--questions", "q.jsonl", "-k", 3, "-o", "run.trec").code == 0
    arguments = ("score", "retrieval", "--gold", "ASQA.json", "--run", "run.trec")
    assert "--index" in longform(*arguments).err
    missing = longform(*arguments, "--index", "my.index", "-k", 1, "--json")
    assert missing.err == (
        "1 of 2 questions are not in run.trec, such as a: they count as having found nothing "
        "(--subset leaves them out).\n"
    )
    assert json.loads(missing.out)["scores"] == {"answer_recall@1": 0.5, "page_recall@1": 0.5}
    row = json.loads(longform(*arguments, "--index", "my.index", "-k", 1, "--subset", "--json").out)
    assert row["scores"] == {"answer_recall@1": 1.0, "page_recall@1": 1.0}


def test_question_ids_with_spaces_are_found_again(longform: Run) -> None:
    assert longform("index", "docs", "-o", "my.index").code == 0
    Path("q.jsonl").write_text('{"id": "q 1", "question": "brewed from leaves"}')
    Path("g.jsonl").write_text('{"id": "q 1", "short_answers": ["Tea"]}')
    assert longform("search", "my.index", "--questions", "q.jsonl", "-k", 1, "-o", "run.trec").code == 0
    result = longform("score", "retrieval", "--gold", "g.jsonl", "--run", "run.trec", "--index", "my.index", "-k", 1)
    assert (result.code, result.err) == (0, "")
    assert "1.0000" in result.out


def test_qrels(longform: Run) -> None:
    Path("qrels.tsv").write_text("query-id\tcorpus-id\tscore\nq\ta\t1\n")
    Path("run.trec").write_text("q Q0 b 1 2.0 x\nq Q0 a 2 1.0 x\n")
    result = longform("score", "retrieval", "--gold", "qrels.tsv", "--run", "run.trec", "--measure", "RR@10", "--json")
    assert json.loads(result.out)["scores"] == {"RR@10": 0.5}


def test_compare(longform: Run) -> None:
    for name in ("p", "q"):
        if name == "q":
            Path("q.json").write_text(json.dumps({"a": "Nobody.", "b": "Tea is brewed from leaves."}))
        arguments = ("--gold", "ASQA.json", "--predictions", f"{name}.json", "--qa", "qa.json", "-o", name)
        assert longform("score", "asqa", *arguments).code == 0
    row = json.loads(longform("compare", "p", "q", "--metric", "DR", "--metric", "str_em", "--json").out)
    assert list(row["metrics"]) == ["DR", "str_em"]
    assert row["metrics"]["str_em"]["difference"] == 0.0
    assert row["metrics"]["str_em"]["p"] == 1.0
    same = json.loads(longform("compare", "p", "p", "--metric", "DR", "--json").out)["metrics"]["DR"]
    assert (same["difference"], same["low"], same["high"], same["p"]) == (0.0, 0.0, 0.0, 1.0)
    assert "95 % interval" in longform("compare", "p", "q").out


def test_compare_says_what_is_wrong(longform: Run) -> None:
    longform("score", "asqa", "--gold", "ASQA.json", "--predictions", "p.json", "-o", "p")
    longform("score", "asqa", "--gold", "ASQA.json", "--predictions", "half.json", "--subset", "-o", "half")
    assert longform("compare", "p", "docs").err == (
        "Error: docs holds no scores.json: `longform score … -o docs` keeps scores there.\n"
    )
    assert "'XYZ'" in longform("compare", "p", "p", "--metric", "XYZ").err
    different = longform("compare", "p", "half")
    assert different.code == 2
    Path("p/items.jsonl").write_text("[]\n")
    assert "damaged" in longform("compare", "p", "p").err


def test_kilt_subset(longform: Run) -> None:
    rows = [{"id": name, "input": "?", "output": [{"answer": "Rome", "provenance": []}]} for name in "ab"]
    Path("gold.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    Path("guess.jsonl").write_text(json.dumps(rows[0]) + "\n")
    arguments = ("score", "kilt", "--gold", "gold.jsonl", "--predictions", "guess.jsonl")
    assert longform(*arguments).err == "Error: 1 of 2 items have no guess, b among them.\n"
    assert json.loads(longform(*arguments, "--subset", "--json").out)["scores"]["em"] == 1.0


def test_qampari_with_gold_inside(longform: Run) -> None:
    answers = [
        {"answer_text": "Obama", "aliases": ["Obama", "Barack Obama"]},
        {"answer_text": "Bush", "aliases": ["Bush"]},
    ]
    row = {"qid": "q", "question_text": "Who?", "answer_list": answers, "predictions": ["Obama", "Barack Obama", "X"]}
    Path("p.jsonl").write_text(json.dumps(row) + "\n")
    scores = json.loads(longform("score", "qampari", "--predictions", "p.jsonl", "--json").out)["scores"]
    assert scores["precision"] == pytest.approx(1 / 3)
    scores = json.loads(longform("score", "qampari", "--predictions", "p.jsonl", "--alce", "--json").out)["scores"]
    assert scores["qampari_prec"] == pytest.approx(200 / 3)


def test_alce(longform: Run) -> None:
    row = {"id": "1", "output": "Rome [1].", "docs": [], "question": "Which?", "answers": [["Rome", "Roma"]]}
    Path("out.json").write_text(json.dumps({"data": [row]}))
    result = longform("score", "alce", "--predictions", "out.json", "--dataset", "qampari", "--json")
    assert json.loads(result.out)["scores"]["qampari_f1"] == 100.0
