from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from longform.errors import InputError
from longform.score.nq_records import Label, NqSpan, load_gold, load_predictions, read_gold, read_predictions

SHARED = Path(__file__).parents[3] / "shared" / "data" / "nq"


def prediction(**changes: Any) -> dict[str, Any]:
    return {"example_id": 7, "long_answer_score": 1.0, "short_answers_score": 0.5, **changes}


def gold(**changes: Any) -> dict[str, Any]:
    return {"example_id": "7", "annotations": [{"yes_no_answer": "NONE", **changes}]}


def test_original_and_simplified_forms() -> None:
    original = gold(
        long_answer={"start_byte": 5, "end_byte": 9, "start_token": 1, "end_token": 2, "candidate_index": 0},
        short_answers=[{"start_byte": 5, "end_byte": 6, "start_token": 1, "end_token": 2}],
    )
    simplified = gold(
        long_answer={"start_token": 1, "end_token": 2}, short_answers=[{"start_token": 1, "end_token": 2}]
    )
    assert read_gold([original])["7"] == (Label(NqSpan(5, 9, 1, 2), (NqSpan(5, 6, 1, 2),)),)
    assert read_gold([simplified])["7"] == (Label(NqSpan(-1, -1, 1, 2), (NqSpan(-1, -1, 1, 2),)),)


def test_numbers_and_strings_are_the_same_id() -> None:
    assert list(read_gold([gold()])) == list(read_predictions([prediction()])) == ["7"]


def test_parts_left_out_are_null_and_labels_are_lower_cased() -> None:
    assert read_predictions([prediction()])["7"].label == Label()
    assert read_predictions([prediction(yes_no_answer="YES")])["7"].label.yes_no == "yes"
    assert not read_predictions([prediction(long_answer={"start_token": -1, "end_token": -1})])["7"].label.has_long


def test_spans_are_equal_by_bytes_or_by_tokens() -> None:
    assert NqSpan(1, 2, 3, 4).same(NqSpan(1, 2, 9, 10))
    assert NqSpan(1, 2, 3, 4).same(NqSpan(8, 9, 3, 4))
    assert not NqSpan(1, 2, 3, 4).same(NqSpan(1, 3, 3, 5))
    assert not NqSpan(1, 2).same(NqSpan(-1, -1, 1, 2))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"long_answer": {"start_token": 3}}, "Item 7: long_answer sets only one of start_token 3 and end_token -1."),
        (
            {"long_answer": {"start_byte": 4, "end_byte": 4}},
            "Item 7: long_answer ends at byte 4, not after its start 4.",
        ),
        (
            {"short_answers": [{"start_token": 5, "end_token": 2}]},
            "Item 7: short_answers[0] ends at token 2, not after its start 5.",
        ),
        (
            {"long_answer": {"start_token": "a", "end_token": 2}},
            "Item 7: long_answer has token offsets 'a' and 2, not whole numbers.",
        ),
        ({"long_answer": [1, 2]}, "Item 7: long_answer is not an object with start and end offsets."),
        ({"yes_no_answer": "MAYBE"}, "Item 7: yes_no_answer is 'MAYBE', not YES, NO or NONE."),
        (
            {"yes_no_answer": "NO", "short_answers": [{"start_token": 1, "end_token": 2}]},
            "Item 7 says no and gives short answers: it may do only one of the two.",
        ),
        ({"long_answer_score": float("nan")}, "Item 7: long_answer_score is nan, not a finite number."),
        ({"short_answers_score": float("inf")}, "Item 7: short_answers_score is inf, not a finite number."),
        ({"short_answers_score": "high"}, "Item 7: short_answers_score is 'high', not a finite number."),
    ],
)
def test_what_is_wrong_with_a_prediction(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as error:
        read_predictions([prediction(**changes)])
    assert str(error.value) == message


def test_missing_and_repeated() -> None:
    row = prediction()
    with pytest.raises(InputError, match=r"^Item 7 is predicted twice.$"):
        read_predictions([row, row])
    del row["long_answer_score"]
    with pytest.raises(InputError, match=r"^Item 7 has no long_answer_score: without scores write 0 for every item.$"):
        read_predictions([row])
    with pytest.raises(InputError, match=r"^Prediction 1: there is no example_id.$"):
        read_predictions([{}])
    with pytest.raises(InputError, match=r"^gold, item 1: there is no example_id.$"):
        read_gold([3])
    with pytest.raises(InputError, match=r"^Item 7 stands twice in the gold files.$"):
        read_gold([gold(), gold()])
    with pytest.raises(InputError, match=r"^Item 7 has no annotations.$"):
        read_gold([{"example_id": 7, "annotations": []}])


def test_files(tmp_path: Path) -> None:
    for number in (1, 2):
        with gzip.open(tmp_path / f"nq-{number}.jsonl.gz", "wt") as file:
            file.write(json.dumps({**gold(), "example_id": number}) + "\n\n")
    (tmp_path / "plain.jsonl").write_text(json.dumps(gold()))
    assert list(load_gold(tmp_path / "nq-*.jsonl.gz")) == ["1", "2"]
    assert list(load_gold(str(tmp_path / "plain.jsonl"))) == ["7"]
    (tmp_path / "p.json").write_text(json.dumps({"predictions": [prediction()]}))
    assert list(load_predictions(tmp_path / "p.json")) == ["7"]


def test_broken_files(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"^No file matches .*none\*: give the path"):
        load_gold(tmp_path / "none*")
    (tmp_path / "bad.jsonl").write_text("{}\n{")
    with pytest.raises(InputError, match=r"bad.jsonl, item 1|gold, item 1: there is no example_id"):
        load_gold(tmp_path / "bad.jsonl")
    (tmp_path / "worse.jsonl").write_text(json.dumps(gold()) + "\n{")
    with pytest.raises(InputError, match=r"^worse.jsonl, line 2 is not JSON"):
        load_gold(tmp_path / "worse.jsonl")
    (tmp_path / "not.jsonl.gz").write_text("text")
    with pytest.raises(InputError, match=r"^not.jsonl.gz cannot be read"):
        load_gold(tmp_path / "not.jsonl.gz")
    with pytest.raises(InputError, match=r"^p.json cannot be read: no such file or directory.$"):
        load_predictions(tmp_path / "p.json")
    (tmp_path / "p.json").write_text("[")
    with pytest.raises(InputError, match=r"^p.json is not JSON"):
        load_predictions(tmp_path / "p.json")
    (tmp_path / "p.json").write_text("[]")
    with pytest.raises(InputError, match=r'^p.json does not hold {"predictions": \[...\]}.$'):
        load_predictions(tmp_path / "p.json")
    (tmp_path / "p.json").write_text(
        '{"predictions": [{"example_id": 1, "long_answer_score": NaN, "short_answers_score": 0}]}'
    )
    with pytest.raises(InputError, match="Item 1: long_answer_score is nan"):
        load_predictions(tmp_path / "p.json")


@pytest.mark.shared
@pytest.mark.skipif(not SHARED.is_dir(), reason="the NQ pages are not beside the checkout (../shared/data/nq)")
def test_real_pages() -> None:
    labels = load_gold(SHARED / "nq-dev-*.jsonl.gz")
    assert all(len(five) == 5 for five in labels.values())
    assert any(label.has_long for five in labels.values() for label in five)
