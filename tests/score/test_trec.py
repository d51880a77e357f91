from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longform.errors import InputError
from longform.score.trec import Scored, read_qrels, read_run, trec_id, write_qrels, write_run


def test_a_run_goes_out_and_comes_back(tmp_path: Path) -> None:
    path = tmp_path / "run.trec"
    write_run(path, {"q 1": [Scored("a", 2.0), Scored("b", 2.0), Scored("c", 1.0)]}, tag="my run")
    assert path.read_text().splitlines()[0] == "q%201 Q0 a 1 2.000000 my%20run"
    run = read_run(path)
    assert [scored.passage for scored in run["q%201"]] == ["a", "b", "c"]
    assert run["q%201"][0].score > run["q%201"][1].score, "no ties, so that every tool agrees"


def test_scores_order_and_ranks_break_ties(tmp_path: Path) -> None:
    path = tmp_path / "run.trec"
    path.write_text("q Q0 low 1 0.5 t\nq Q0 second 3 1.0 t\nq Q0 first 2 1.0 t\n\n")
    assert [scored.passage for scored in read_run(path)["q"]] == ["first", "second", "low"]


def test_qrels_go_out_and_come_back(tmp_path: Path) -> None:
    qrels = {"q": {"a": 2, "b": 0}, "r": {"c": -1}}
    write_qrels(tmp_path / "qrels", qrels)
    assert read_qrels(tmp_path / "qrels") == qrels


def test_beir_qrels(tmp_path: Path) -> None:
    (tmp_path / "test.tsv").write_text("query-id\tcorpus-id\tscore\n1\t31715818\t1\n")
    assert read_qrels(tmp_path / "test.tsv") == {"1": {"31715818": 1}}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("q Q0 a 1 2.0\n", "f, line 1 is not 'question Q0 passage rank score tag'."),
        ("q Q0 a 1 nan t\n", "f, line 1: rank 1 and score nan are not two numbers."),
        ("q Q0 a x 1 t\n", "f, line 1: rank x and score 1 are not two numbers."),
        ("q Q0 a 1 2 t\nq Q0 a 2 1 t\n", "f, line 2: a stands twice in the ranking of q."),
    ],
)
def test_broken_runs(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "f").write_text(text)
    with pytest.raises(InputError) as error:
        read_run(tmp_path / "f")
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("q 0 a\n", "f, line 1 is not 'question 0 passage relevance'."),
        ("q 0 a 1.5\n", "f, line 1 is not 'question 0 passage relevance'."),
        ("q 0 a 1\nq 0 a 1\n", "f, line 2: a is judged twice for q."),
    ],
)
def test_broken_qrels(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "f").write_text(text)
    with pytest.raises(InputError) as error:
        read_qrels(tmp_path / "f")
    assert str(error.value) == message


def test_files_that_cannot_be_used(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"^none cannot be read: no such file or directory.$"):
        read_run(tmp_path / "none")
    (tmp_path / "f").write_bytes(b"\xff\xfe\x00 Q0")
    with pytest.raises(InputError, match=r"^f is not UTF-8 text.$"):
        read_run(tmp_path / "f")
    with pytest.raises(InputError, match=r"^f cannot be written: no such file or directory.$"):
        write_qrels(tmp_path / "none" / "f", {})


@given(st.text(max_size=8))
def test_ids_hold_no_white_space(identifier: str) -> None:
    assert len(trec_id(f"x{identifier}").split()) == 1
