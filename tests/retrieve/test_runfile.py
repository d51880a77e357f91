"""Runs as files: every tool reads them, and sees the order that was written."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import ir_measures
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longform import Document, FailureError, Index, InputError, Question
from longform.retrieve import run_format, write_run
from longform.trec import trec_lines


def read_back(lines: list[str]) -> dict[str, list[str]]:
    """The order that an evaluation tool sees, for every question: by score alone."""
    ranking: dict[str, list[tuple[float, str]]] = {}
    for item in ir_measures.read_trec_run("".join(lines)):
        ranking.setdefault(item.query_id, []).append((-np.float32(item.score), item.doc_id))
    return {name: [doc for _, doc in sorted(items, key=lambda pair: pair[0])] for name, items in ranking.items()}


@given(st.lists(st.floats(-2, 2000, allow_nan=False, width=32), min_size=1, max_size=60))
def test_scores_fall_even_as_32_bit_numbers(scores: list[float]) -> None:
    ranking = [(f"p{place}", score) for place, score in enumerate(sorted(scores, reverse=True))]
    lines = list(trec_lines("q", ranking, "tag"))
    written = [np.float32(line.split()[4]) for line in lines]
    assert all(higher > lower for higher, lower in pairwise(written))
    assert [float(value) for value in written] == pytest.approx([score for _, score in ranking], abs=0.05)
    assert [int(line.split()[3]) for line in lines] == list(range(1, len(lines) + 1))


def test_a_thousand_ties_keep_their_order() -> None:
    names = [f"p{(number * 37) % 1000}" for number in range(1000)]
    lines = list(trec_lines("q", [(name, 31.25) for name in names], "tag"))
    assert read_back(lines) == {"q": names}


@given(st.lists(st.text(min_size=1, max_size=12), min_size=1, max_size=8, unique=True))
def test_any_id_is_one_word(names: list[str]) -> None:
    for line in trec_lines("q 1\n", [(name, 1.0) for name in names], "tag"):
        assert line.endswith("\n")
        assert len(line.split()) == 6
        assert line.split()[0] == "q%201%0A"


def test_the_format_by_the_name() -> None:
    names = ["run.trec", "run", "run.txt", "-", "a.jsonl", "a.ndjson", "a.json"]
    assert [run_format(name) for name in names] == ["trec"] * 4 + ["jsonl"] * 3
    assert (run_format("a.jsonl", "trec"), run_format("a.trec", "jsonl")) == ("trec", "jsonl")


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    pages = [Document(f"page {number}", "", "tea and milk" if number % 2 else "tea only") for number in range(20)]
    return Index.create(tmp_path_factory.mktemp("run") / "my.index", pages)


QUESTIONS = [Question("a 1", "tea"), Question("b", "milk"), Question("c", "nothing whatsoever")]


def test_a_trec_run(index: Index, tmp_path: Path) -> None:
    path = tmp_path / "run.trec"
    write_run(index, QUESTIONS, str(path), "trec", k=12)
    hits = index.search([question.question for question in QUESTIONS], 12)
    expected = {
        question.id.replace(" ", "%20"): [hit.passage.id.replace(" ", "%20") for hit in found]
        for question, found in zip(QUESTIONS, hits, strict=True)
        if found
    }
    assert read_back(path.read_text().splitlines(keepends=True)) == expected
    assert {line.split()[5] for line in path.read_text().splitlines()} == {"longform-bm25"}
    assert [item.name for item in tmp_path.iterdir()] == ["run.trec"]


def test_a_jsonl_run(index: Index, tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    write_run(index, QUESTIONS, str(path), "jsonl", k=3)
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert [(row["id"], row["question"], len(row["hits"])) for row in rows] == [
        ("a 1", "tea", 3),
        ("b", "milk", 3),
        ("c", "nothing whatsoever", 0),
    ]
    assert rows[0]["hits"] == [hit.to_json() for hit in index.search("tea", 3)]


def test_standard_output(index: Index, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    write_run(index, QUESTIONS[:1], "-", "trec", k=1)
    assert capfdbinary.readouterr().out.startswith(b"a%201 Q0 page%200#0 1 ")


def test_many_questions_are_all_answered(index: Index, tmp_path: Path) -> None:
    questions = [Question(f"q{number}", "milk" if number % 3 else "tea") for number in range(300)]
    seen: list[int] = []
    path = tmp_path / "run.trec"
    write_run(index, questions, str(path), "trec", k=1, progress=lambda stage, done, total=None: seen.append(done))
    assert [line.split()[0] for line in path.read_text().splitlines()] == [question.id for question in questions]
    assert (seen[0], seen[-1]) == (0, 300)


def test_a_run_is_written_whole_or_not_at_all(index: Index, tmp_path: Path) -> None:
    path = tmp_path / "run.trec"
    path.write_text("precious")
    with pytest.raises(InputError, match=r"^k is 21, but"):
        write_run(index, QUESTIONS, str(path), "trec", k=21)
    assert path.read_text() == "precious"
    assert [item.name for item in tmp_path.iterdir()] == ["run.trec"]


def test_a_link_is_followed(index: Index, tmp_path: Path) -> None:
    (tmp_path / "target.trec").touch()
    (tmp_path / "link.trec").symlink_to("target.trec")
    write_run(index, QUESTIONS, str(tmp_path / "link.trec"), "trec", k=1)
    assert (tmp_path / "link.trec").is_symlink()
    assert len((tmp_path / "target.trec").read_text().splitlines()) == 2


def test_a_device_is_written_to_and_not_replaced(index: Index) -> None:
    write_run(index, QUESTIONS, "/dev/null", "trec", k=1)
    assert Path("/dev/null").is_char_device()
    with pytest.raises(FailureError, match=r"^/dev/full cannot be written: no space left on device\.$"):
        write_run(index, QUESTIONS, "/dev/full", "trec", k=1)


@pytest.mark.parametrize(
    ("name", "reason"), [("missing/run.trec", "no such file or directory"), (".", "is a directory")]
)
def test_places_that_cannot_be_written(index: Index, tmp_path: Path, name: str, reason: str) -> None:
    with pytest.raises(InputError, match=rf"cannot be written: {reason}\.$"):
        write_run(index, QUESTIONS, str(tmp_path / name), "trec", k=1)


def test_an_unknown_format(index: Index) -> None:
    with pytest.raises(InputError, match=r"^There is no run format 'xml': choose one of trec, jsonl\.$"):
        write_run(index, QUESTIONS, "-", "xml", k=1)
