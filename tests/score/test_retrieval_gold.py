"""Gold for rankings, from every file that people have."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from longform import InputError
from longform.score.recall import PassageText
from longform.score.retrieval import RetrievalGold
from longform.score.retrieval_gold import load_gold


def write(path: Path, *rows: object) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def test_rows_of_our_own(tmp_path: Path) -> None:
    rows = [{"id": 1, "short_answers": [["A", "B"], "C"], "pages": ["P"]}]
    expected = {"1": RetrievalGold([["A", "B"], ["C"]], ["P"])}
    assert load_gold(write(tmp_path / "g.jsonl", *rows)) == expected
    zipped = tmp_path / "g.jsonl.gz"
    zipped.write_bytes(gzip.compress((tmp_path / "g.jsonl").read_bytes()))
    assert load_gold(str(zipped)) == expected


def test_qampari_with_evidence(tmp_path: Path) -> None:
    proof = {"proof_text": "Obama was president.", "found_in_title": "Obama"}
    row = {"qid": "q", "answer_list": [{"answer_text": "Obama", "aliases": ["Obama"], "proof": [proof]}]}
    assert load_gold(write(tmp_path / "g.jsonl", row)) == {
        "q": RetrievalGold([["Obama"]], (), [[PassageText("Obama", "Obama was president.")]])
    }


def test_asqa_pages_count_once(tmp_path: Path) -> None:
    item = {
        "qa_pairs": [{"short_answers": ["x"]}],
        "wikipages": [{"title": "P"}, {"title": "P"}],
        "annotations": [],
    }
    (tmp_path / "A.json").write_text(json.dumps({"dev": {"k": item}}))
    assert load_gold(str(tmp_path / "A.json")) == {"k": RetrievalGold([["x"]], ["P"])}


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ([{"short_answers": ["x"]}], "g.jsonl:1: the row has no id."),
        ([{"id": 1}], "g.jsonl:1: the row has neither short_answers nor pages."),
        ([{"id": 1, "pages": ["P"]}] * 2, "g.jsonl:2: the id 1 occurs twice."),
        ([[]], "g.jsonl:1: the line is not a JSON object."),
    ],
)
def test_mistakes(tmp_path: Path, rows: list[object], sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        load_gold(write(tmp_path / "g.jsonl", *rows))
    assert str(caught.value).endswith(sentence)


def test_a_broken_gzip_file(tmp_path: Path) -> None:
    path = tmp_path / "g.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"id": 1}\n' * 1000)[:40])
    with pytest.raises(InputError, match="cut off"):
        load_gold(str(path))
