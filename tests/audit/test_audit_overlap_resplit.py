"""The new split: whole clusters on one side, so that no paraphrase that the audit finds crosses."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from longform import InputError
from longform.audit.nearest_questions import like_pairs
from longform.audit.overlap_pairs import find_pairs
from longform.audit.resplit import SIDES, clusters_of, paraphrase_links, resplit, write_resplit
from longform.cli.audit.overlap import command
from longform.data import Example, load_dataset
from longform.errors import FailureError, LongformError
from longform.models import Encoder

ROWS = [
    ("a", "When was the church of the nazarene founded?", ("Church of the Nazarene",)),
    ("b", "when did the church of the nazarene start", ("Phineas Bresee",)),
    ("c", "Who was the first bishop?", ("phineas bresee",)),
    ("d", "How many moons does mars have?", ()),
    ("e", "how many moons does Mars have", ()),
    ("f", "Who invented the telephone?", ("Telephone",)),
    ("g", "Where is the smallest bone in the body?", ()),
]
QUESTIONS = [Example(identifier, question, pages=pages) for identifier, question, pages in ROWS]


@pytest.fixture(scope="module")
def encoder() -> Encoder:
    return Encoder.load()


def test_paraphrases_and_pages_make_clusters(encoder: Encoder, tmp_path: Path) -> None:
    links = paraphrase_links(QUESTIONS, encoder, tmp_path)
    assert links == [("a", "b"), ("d", "e")]
    assert clusters_of(QUESTIONS, links) == [["a", "b", "c"], ["d", "e"], ["f"], ["g"]]
    labelled = paraphrase_links(QUESTIONS, encoder, tmp_path, labels={("e", "d"): False, ("f", "g"): True})
    assert labelled == [("a", "b"), ("f", "g")], "what a person says stands, in either order"


def test_no_paraphrase_that_the_audit_finds_crosses(encoder: Encoder, tmp_path: Path) -> None:
    rows = [(f"q{number}", f"who won the {2000 + number % 9} race in {town}") for number in range(40) for town in "x"]
    rows += [(f"r{number}", f"who was the winner of the race of {2000 + number % 9} in x") for number in range(40)]
    questions = [Example(*row) for row in rows]
    links = paraphrase_links(questions, encoder, tmp_path)
    assert links
    made = resplit(questions, links, (0.6, 0.2, 0.2), seed=3)
    assert made.crossing(links) == []
    for one, other in (("train", "dev"), ("train", "test"), ("dev", "test")):
        pairs = find_pairs(made.sides[one], made.sides[other], encoder, tmp_path)
        assert not any(pair.paraphrase for pair in pairs)


@given(
    st.lists(st.tuples(st.integers(0, 29), st.integers(0, 29)), max_size=25),
    st.integers(0, 5),
    st.sampled_from([(0.8, 0.1, 0.1), (0.5, 0.0, 0.5), (1.0, 0.0, 0.0), (0.4, 0.3, 0.3)]),
)
def test_every_question_once_and_no_link_across(
    numbers: list[tuple[int, int]], seed: int, shares: tuple[float, float, float]
) -> None:
    questions = [Example(str(number), "?") for number in range(30)]
    links = [(str(one), str(other)) for one, other in numbers]
    made = resplit(questions, links, shares, seed=seed)
    assert sorted(one.id for side in made.sides.values() for one in side) == sorted(one.id for one in questions)
    assert made.crossing(links) == []
    for side, share in zip(SIDES, shares, strict=True):
        assert share or not made.sides[side]
        # At most one cluster too many or too few.
        assert len(made.sides[side]) <= share * 30 + len(made.clusters[0])
    again = resplit(questions, links, shares, seed=seed)
    assert again == made


@given(st.integers(1, 40), st.floats(-1, 1), st.integers(0, 9))
def test_like_pairs_are_all_pairs(count: int, least: float, seed: int) -> None:
    vectors = np.random.default_rng(seed).normal(size=(count, 3)).astype(np.float32)
    found = {(first, second) for first, second, _ in like_pairs(vectors, least)}
    scores = vectors @ vectors.T
    assert found == {(i, j) for i in range(count) for j in range(i + 1, count) if scores[i, j] >= least}


def test_shares_make_one() -> None:
    for shares in ((0.8, 0.1), (0.8, 0.1, 0.2), (1.2, -0.1, -0.1)):
        with pytest.raises(InputError, match=r"three numbers that make 1, such as 0\.8,0\.1,0\.1, not"):
            resplit(QUESTIONS, [], shares)


def test_what_is_written_is_read(tmp_path: Path) -> None:
    made = resplit(QUESTIONS, [("a", "b")], (0.5, 0.25, 0.25))
    write_resplit(tmp_path / "new", made, {"seed": 0})
    for side in SIDES:
        ids = json.loads((tmp_path / "new" / f"{side}.ids.json").read_text())
        assert [one.id for one in load_dataset(str(tmp_path / "new" / f"{side}.jsonl"))] == ids
    record = json.loads((tmp_path / "new" / "resplit.json").read_text())
    assert (record["clusters"], record["largest_cluster"], sum(record["questions"].values())) == (5, 3, 7)
    (tmp_path / "file").write_text("")
    with pytest.raises(FailureError, match="file cannot be written"):
        write_resplit(tmp_path / "file", made, {})


def test_the_command_splits_anew(tmp_path: Path) -> None:
    def write(name: str, questions: list[Example]) -> str:
        (tmp_path / name).write_text("\n".join(json.dumps(one.to_json()) for one in questions))
        return str(tmp_path / name)

    train, test = write("train.jsonl", QUESTIONS[:4]), write("test.jsonl", QUESTIONS[4:])
    arguments = ["--cache", str(tmp_path / "cache"), "--resplit", str(tmp_path / "new"), "--shares", "0.6,0,0.4"]
    result = CliRunner().invoke(command, ["--train", train, "--test", test, *arguments])
    assert result.exit_code == 0, result.output
    assert "4 clusters, the largest of 3, and none of 2 paraphrases on two sides." in result.output
    new = [str(tmp_path / "new" / name) for name in ("train.jsonl", "test.jsonl")]
    again = CliRunner().invoke(command, ["--train", new[0], "--test", new[1], *arguments[:2], "--json"])
    assert json.loads(again.output)["findings"][0]["numbers"]["paraphrase"]["number"] == 0
    clash = write("clash.jsonl", [Example("a", "Another question?")])
    result = CliRunner().invoke(command, ["--train", train, "--test", clash, *arguments])
    assert isinstance(result.exception, LongformError)
    assert "The id 'a' is that of two different questions" in str(result.exception)
