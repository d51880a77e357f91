"""The SILVER study on a small collection: what was ranked stays, every row is scored, the page can be made again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from longform import Hit, Index, Passage
from longform.corpus import TrainingQuestion
from longform.errors import InputError
from longform.score.report import Report, mean_of
from longform.study import SilverStudy, StudyRow, run_silver_study, silver_page
from longform.study.rankings import rank_all

TOPICS = ["tea", "coffee", "milk", "wine", "cider", "mead"]


def passage(name: str, title: str, text: str) -> Passage:
    return Passage(name, name, title, text, 0, len(text))


def question(topic: str, number: int) -> TrainingQuestion:
    answer = f"{topic} number {number}"
    return TrainingQuestion(
        f"{topic}-{number}", f"Which {topic} is {number}?", (f"It is {answer}.",), ((answer,),), (topic,)
    )


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    passages = [
        passage(
            f"{topic}-{number}", topic, f"Here is {topic} number {number}, a drink like {topic} number {number + 1}."
        )
        for topic in TOPICS
        for number in range(8)
    ]
    return Index.create(tmp_path_factory.mktemp("study") / "drinks.index", passages)


def hits(names: list[str]) -> list[Hit]:
    return [Hit(passage(name, "", ""), rank, -float(rank)) for rank, name in enumerate(names, 1)]


def test_what_was_ranked_is_not_ranked_again(tmp_path: Path) -> None:
    asked: list[str] = []

    def rank(identifier: str, _: str) -> list[Hit]:
        asked.append(identifier)
        if len(asked) == 3:
            raise KeyboardInterrupt
        return hits([f"{identifier}1", f"{identifier}2"])

    path, questions = tmp_path / "made" / "x.jsonl", {"a": "?", "b": "?", "c": "?"}
    with pytest.raises(KeyboardInterrupt):
        rank_all(path, {"model": 1}, questions, rank)
    # A line that a kill cut short is written anew.
    path.write_bytes(path.read_bytes() + b'{"id": "c", "pass')
    found = rank_all(path, {"model": 1}, questions, rank)
    assert asked == ["a", "b", "c", "c"]
    assert found == {"a": ["a1", "a2"], "b": ["b1", "b2"], "c": ["c1", "c2"]}
    assert rank_all(path, {"model": 1}, questions, rank) == found
    assert len(asked) == 4
    rank_all(path, {"model": 2}, questions, rank)
    assert len(asked) == 7


def test_questions_must_not_be_trained_and_tested_on(index: Index, tmp_path: Path) -> None:
    one = question("tea", 1)
    with pytest.raises(InputError, match="The question tea-1 is both to be trained on and tested on"):
        run_silver_study(SilverStudy(index.folder, [one], [one], tmp_path))


def test_the_ceiling_is_above_the_first_stage(index: Index, tmp_path: Path) -> None:
    test = [question(topic, 3) for topic in TOPICS]
    rows = run_silver_study(SilverStudy(index.folder, [question("tea", 1)], test, tmp_path, methods=(), k=2, pool=20))
    assert [row.name for row in rows] == ["bm25", "oracle"]
    first, ceiling = (row.report.scores["direct_answer_recall@2"] for row in rows)
    assert 0 <= first <= ceiling == 1.0
    assert (tmp_path / "rankings" / "bm25.jsonl").is_file()


@pytest.mark.torch
@pytest.mark.slow
def test_methods_are_trained_with_the_same_budget(index: Index, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    train = [question(topic, number) for topic in TOPICS for number in range(1, 6)]
    test = [question(topic, 7) for topic in TOPICS]
    study = SilverStudy(
        index.folder, train, test, tmp_path, methods=("direct", "silver"), pairs=32, layers=(0, 5), k=2, pool=20
    )
    rows = run_silver_study(study)
    assert [row.name for row in rows] == ["bm25", "direct", "silver", "oracle"]
    assert all("32 pairs" in row.description for row in rows[1:3])
    made = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.onnx")}
    assert len(made) == 2
    again = run_silver_study(study)
    assert [row.report.scores for row in again] == [row.report.scores for row in rows]
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.onnx")} == made


def test_the_page_says_how_sure_it_is() -> None:
    draw = np.random.default_rng(0)
    first = (draw.random(80) < 0.3).astype(float)
    metrics = [mean_of("direct_answer_recall@5", "", ""), mean_of("page_recall@5", "", "")]

    def row(name: str, values: np.ndarray) -> StudyRow:
        columns = {metric.name: values for metric in metrics}
        return StudyRow(name, f"about {name}", Report("silver", [str(n) for n in range(80)], columns, metrics))

    page = silver_page(
        [row("bm25", first), row("same", first), row("all", np.ones(80))],
        command="longform study silver …",
        hashes={"train.jsonl": "abc"},
        k=5,
        pool=100,
        seed=0,
        notes=["A remark."],
    )
    table = [line for line in page.splitlines() if line.startswith("| **")]
    assert table[0].startswith(f"| **bm25** | {first.mean():.3f} [")
    assert "| 1.00 |" in table[1]
    assert "| 1.000 [1.000, 1.000] | < 0.001 |" in table[2]
    assert "- A remark." in page
    assert "| train.jsonl | abc |" in page
    assert "longform study silver …" in page
