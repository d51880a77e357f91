"""``longform search`` with a re-ranker and a reader: what they show, and what is said where it cannot be."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import ir_measures
import numpy as np
import pytest

from longform.models import CrossEncoder, Reader, ReaderAnswer

Run = Callable[..., Any]


class Beans:
    """In place of a cross-encoder: the more beans and the less tea, the better."""

    keep = None
    loaded: list[Any] = []  # noqa: RUF012 - shared, so that a test sees what a command loaded

    mix: dict[str, float] = {}  # noqa: RUF012

    @classmethod
    def load(cls, name: Any, threads: int | None = None) -> Beans:
        cls.loaded.append(name)
        return cls()

    def score(self, question: str, passages: Sequence[Any], *, early: bool = False) -> Any:
        return np.array(
            [text.count("beans") - text.count("leaves") for text in (passage.text for passage in passages)],
            dtype=np.float32,
        )

    def lengths(self, question: str, passages: Sequence[Any]) -> list[int]:
        return [1] * len(passages)


class First:
    """In place of a reader: the first word is the answer."""

    @classmethod
    def load(cls, name: Any) -> First:
        return cls()

    def read(self, pairs: Sequence[tuple[str, str]]) -> list[ReaderAnswer]:
        words = [text.split()[0].strip(".") for _, text in pairs]
        return [ReaderAnswer(word, 5.0, 0.0, 0, len(word)) for word in words]


@pytest.fixture(autouse=True)
def index(here: None, longform: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("LONGFORM_HOME", str(tmp_path / "home"))
    assert longform("index", "docs", "-o", "my.index").code == 0


@pytest.fixture
def models(monkeypatch: pytest.MonkeyPatch) -> None:
    Beans.loaded.clear()
    monkeypatch.setattr(CrossEncoder, "load", Beans.load)
    monkeypatch.setattr(Reader, "load", First.load)


QUESTION = "Which hot drink is brewed?"


def ids(result: Any) -> list[str]:
    return [hit["id"] for hit in json.loads(result.out)["hits"]]


def test_hits_are_ranked_anew(longform: Run, models: None) -> None:
    assert ids(longform("search", "my.index", QUESTION, "--json")) == ["docs/tea.txt#0", "docs/coffee.txt#0"]
    result = longform("search", "my.index", QUESTION, "--rerank", "--json")
    row = json.loads(result.out)
    assert ids(result) == ["docs/coffee.txt#0", "docs/tea.txt#0"]
    assert {**row["rerank"], "ms": None} == {"model": "reranker", "candidates": 2, "scored": 2, "ms": None}
    assert [sorted(hit["scores"]) for hit in row["hits"]] == [["bm25", "rerank"]] * 2
    assert [hit["score"] for hit in row["hits"]] == [1.0, -1.0]
    shown = longform("search", "my.index", QUESTION, "-k", 1, "--rerank").out
    assert "docs/coffee.txt#0" in shown and "docs/tea.txt#0" not in shown
    assert shown.splitlines()[-1].startswith("1 of 3 passages · bm25 · re-ranked 2 of 2 in ")


@pytest.mark.parametrize(
    ("arguments", "model"),
    [
        (["my.index", "--rerank", QUESTION], "reranker"),
        (["my.index", "--rerank", "drink"], "reranker"),
        (["--rerank", "my.index", QUESTION], "reranker"),
        (["my.index", QUESTION, "--rerank"], "reranker"),
        (["--rerank", "docs", "my.index", QUESTION], "docs"),
        (["my.index", "--rerank", "docs", QUESTION], "docs"),
        (["my.index", "--rerank=docs", QUESTION], "docs"),
        (["my.index", QUESTION, "--rerank", "owner/name"], "owner/name"),
    ],
)
def test_the_question_may_stand_anywhere(longform: Run, models: None, arguments: list[str], model: str) -> None:
    result = longform("search", *arguments, "--json")
    assert (result.code, Beans.loaded) == (0, [model])
    assert ids(result)[0] == "docs/coffee.txt#0"


@pytest.mark.parametrize("model", ["reranker", "similarity", "docs", "owner/name"])
def test_a_model_is_no_question(longform: Run, models: None, model: str) -> None:
    result = longform("search", "my.index", "--rerank", model)
    assert result.code == 2
    assert result.err == (
        f"Error: There is no question, as {model} is taken for the model of --rerank: "
        "write the question before --rerank, or the model as --rerank=MODEL.\n"
    )


def test_similarity(longform: Run) -> None:
    result = longform("search", "my.index", "Which drink is from beans?", "--rerank", "similarity", "--json")
    assert ids(result)[0] == "docs/coffee.txt#0"
    assert json.loads(result.out)["rerank"]["model"] == "similarity"
    longform("add", "my.index", "--dense")
    dense = longform("search", "my.index", "Which drink is from beans?", "--rerank", "similarity", "--json")
    scores = [[hit["scores"]["rerank"] for hit in json.loads(found.out)["hits"]][:2] for found in (result, dense)]
    assert scores[0] == pytest.approx(scores[1], abs=1e-3)


def test_many_questions(longform: Run, models: None) -> None:
    rows = [{"id": "a", "question": QUESTION}, {"id": "b", "question": "white"}, {"id": "c", "question": "zzz"}]
    Path("q.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    arguments = ["search", "my.index", "--questions", "q.jsonl", "--rerank", "--select", "diverse"]
    result = longform(*arguments, "-o", "run.trec")
    assert (result.code, result.out) == (0, "Wrote the rankings of 3 questions to run.trec.\n")
    run = [(item.query_id, item.doc_id) for item in ir_measures.read_trec_run("run.trec")]
    assert run == [("a", "docs/coffee.txt#0"), ("a", "docs/tea.txt#0"), ("b", "docs/milk.md#0")]
    assert {line.split()[5] for line in Path("run.trec").read_text().splitlines()} == {"longform-bm25-rerank-diverse"}
    assert longform(*arguments, "-o", "run.jsonl", "-k", 1, "--pool", 2, "--budget-ms", 50).code == 0
    found = [json.loads(line) for line in Path("run.jsonl").read_text().splitlines()]
    assert [[hit["answer"] for hit in row["hits"]] for row in found] == [["coffee"], ["Milk"], []]
    assert sorted(found[0]["hits"][0]["scores"]) == ["answer_confidence", "bm25", "diverse", "rerank"]
    longform("search", "my.index", "--questions", "q.jsonl", "--rerank", "-o", "plain.trec")
    assert Path("plain.trec").read_text().splitlines()[0].split()[2:] == [
        "docs/coffee.txt#0",
        "1",
        "1.000000",
        "longform-bm25-rerank",
    ]


def test_answers_are_shown(longform: Run, models: None) -> None:
    lines = longform("search", "my.index", QUESTION, "--select", "diverse").out.splitlines()
    assert "    docs/tea.txt#0 · answer: tea" in lines
    assert lines[-1].startswith("2 of 3 passages · bm25 · diverse · ")
    row = json.loads(longform("search", "my.index", QUESTION, "--select", "diverse", "-k", 1, "--json").out)
    assert (row["select"], row["k"], [hit["answer"] for hit in row["hits"]]) == ("diverse", 1, ["tea"])


def test_nothing_found(longform: Run, models: None) -> None:
    result = longform("search", "my.index", "zzz", "--rerank", "--select", "diverse")
    assert result.out.startswith("No passage shares a word with the question · bm25 · ")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--pool", 5], "--pool goes with --rerank."),
        (["--budget-ms", 5], "--budget-ms goes with --rerank."),
        (["--reader", "x"], "--reader goes with --select diverse."),
        (
            ["--rerank", "--pool", 1, "-k", 2],
            "--pool 1 holds fewer than the 2 passages that -k asks for: make it larger.",
        ),
        (["--rerank", "-k", 9], "k is 9, but my.index holds 3 passages: ask for at most 3."),
        (["--rerank", "-k", 0], "k must be at least 1, and 0 is not."),
        (["--rerank", "--budget-ms", 0], "--budget-ms must be above 0, and 0 is not."),
        (
            ["--rerank", "similarity", "--budget-ms", 5],
            "--budget-ms goes with a cross-encoder: --rerank similarity compares vectors, all at once.",
        ),
    ],
)
def test_options_that_do_not_fit(longform: Run, models: None, arguments: list[Any], message: str) -> None:
    result = longform("search", "my.index", QUESTION, *arguments)
    assert (result.code, result.out, result.err) == (2, "", f"Error: {message}\n")


def test_models_that_are_not_there(longform: Run) -> None:
    assert longform("search", "my.index", QUESTION, "--rerank", "x y").err.startswith(
        "Error: There is no re-ranker x y:"
    )
    result = longform("search", "my.index", QUESTION, "--select", "diverse", "--reader", "nowhere")
    assert (result.code, result.err[:34]) == (2, "Error: There is no reader nowhere:")
