"""The overlap audit: what is a paraphrase, what is nearest, what people say, and what the command tells."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from longform import InputError
from longform.audit.finding import Verdict
from longform.audit.labelling import LabelFile, read_labels, to_label, write_pairs
from longform.audit.nearest_questions import PART, nearest_by_meaning, nearest_by_words, vectors_of
from longform.audit.overlap import Overlap, audit_overlap, wilson
from longform.audit.overlap_pairs import QuestionPair, find_pairs, with_labels
from longform.audit.paraphrase import LEAST_COSINE, THRESHOLD, paraphrase_probability
from longform.audit.question_signs import AskedQuestion, SubjectWeights, paraphrase_signs
from longform.cli.audit.overlap import command
from longform.data import Example, load_dataset
from longform.errors import FailureError, LongformError
from longform.models import CrossEncoder, Encoder

Row = tuple[str, str, list[str]]

TRAIN: list[Row] = [
    ("n1", "when did the lion king open on broadway", ["The Lion King (musical)"]),
    ("n2", "who played raquel in only fools and horses", ["Tessa Peake-Jones"]),
    ("n3", "who won season 4 of the voice", []),
    ("n4", "how many moons does mars have", ["Mars"]),
    ("n5", "what is the boiling point of water", ["Water"]),
]
TEST: list[Row] = [
    ("t1", "When did the lion king debut on Broadway?", ["The Lion King (musical)"]),
    ("t2", "Who played tony in only fools and horses?", ["Only Fools and Horses"]),
    ("t3", "Who won season 5 of the voice?", []),
    ("t4", "How many moons does Mars have?", ["Moons of Mars"]),
    ("t5", "Who invented the telephone?", ["Telephone"]),
]


def examples(rows: list[Row]) -> list[Example]:
    return [Example(identifier, question, pages=tuple(pages)) for identifier, question, pages in rows]


def write(path: Path, rows: list[Row]) -> str:
    lines = [json.dumps({"id": one, "question": question, "pages": pages}) for one, question, pages in rows]
    path.write_text("\n".join(lines))
    return str(path)


@pytest.fixture(scope="module")
def encoder() -> Encoder:
    return Encoder.load()


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def pairs(encoder: Encoder, cache: Path) -> list[QuestionPair]:
    return find_pairs(examples(TRAIN), examples(TEST), encoder, cache)


def pair(pairs: list[QuestionPair], test: str, train: str) -> QuestionPair:
    return next(one for one in pairs if (one.test.id, one.train.id) == (test, train))


def run(*arguments: object, stdin: str | None = None) -> Result:
    return CliRunner().invoke(command, [str(one) for one in arguments], input=stdin)


def refused(*arguments: object) -> str:
    result = run(*arguments)
    assert isinstance(result.exception, LongformError), result.output
    return str(result.exception)


# What a question shows


@pytest.mark.parametrize(
    ("question", "kind", "numbers"),
    [
        ("When did it open?", "time", set()),
        ("In what year did World War II end?", "time", {"2"}),
        ("Who won the 2nd season?", "person", {"2"}),
        ("How many of the first ten?", "amount", {"1", "10"}),
        ("Which city hosts it in 2018?", "place", {"2018"}),
        ("Why is the sky blue?", "manner", set()),
        ("What is tea?", "thing", set()),
        ("Population of Rome", "", set()),
    ],
)
def test_what_a_question_asks_for_and_names(question: str, kind: str, numbers: set[str]) -> None:
    asked = AskedQuestion.of(question)
    assert (asked.kind, set(asked.numbers)) == (kind, numbers)


@given(st.text(max_size=60), st.text(max_size=60), st.floats(-1, 1), st.sampled_from([None, True, False]))
def test_a_probability_does_not_depend_on_the_order(first: str, second: str, cosine: float, page: bool | None) -> None:
    one, two = AskedQuestion.of(first), AskedQuestion.of(second)
    signs = paraphrase_signs(one, two, cosine, page)
    assert signs == paraphrase_signs(two, one, cosine, page)
    probability = paraphrase_probability(signs)
    assert 0 <= probability <= 1
    assert probability < THRESHOLD or cosine >= LEAST_COSINE
    weights = SubjectWeights([one, two])
    assert weights.shared_name(one, two) == pytest.approx(weights.shared_name(two, one))
    assert 0 <= weights.shared_name(one, two) <= 1


def test_numbers_and_pages_count(pairs: list[QuestionPair]) -> None:
    lion = pair(pairs, "t1", "n1")
    assert lion.paraphrase
    assert lion.shares_page
    assert (lion.meaning_rank, lion.words_rank) == (1, 1)
    other_season = pair(pairs, "t3", "n3")
    assert not other_season.paraphrase
    assert other_season.shares_page is None
    four, five, fourth = (AskedQuestion.of(f"Who won season {text} of the voice?") for text in ("4", "5", "iv"))
    assert paraphrase_probability(paraphrase_signs(four, five, 0.97, True)) < 0.5, "alike, but for the number"
    assert paraphrase_probability(paraphrase_signs(four, fourth, 0.97, True)) > 0.8
    assert pair(pairs, "t4", "n4").probability == 1.0, "word for word, whatever its page"


def test_the_same_topic_is_a_page_or_a_name(pairs: list[QuestionPair]) -> None:
    fools = pair(pairs, "t2", "n2")
    assert not fools.paraphrase
    assert fools.shares_page is False
    assert fools.topic, "a name in common: only fools and horses"
    assert not any(one.topic for one in pairs if one.test.id == "t5")


# The nearest questions


def test_vectors_are_kept_part_by_part_and_a_damaged_part_is_made_again(encoder: Encoder, tmp_path: Path) -> None:
    questions = [f"Who won race number {number}?" for number in range(PART + 5)]
    first = vectors_of(questions, encoder, tmp_path)
    kept = sorted(tmp_path.glob("*.npy"))
    assert len(kept) == 2
    times = [path.stat().st_mtime_ns for path in kept]
    assert np.array_equal(vectors_of(questions, encoder, tmp_path), first)
    assert [path.stat().st_mtime_ns for path in kept] == times, "read, not made again"
    kept[0].write_bytes(b"\x93NUMPY cut off")
    assert np.array_equal(vectors_of(questions, encoder, tmp_path), first)
    assert np.allclose(np.linalg.norm(first, axis=1), 1)
    told: list[tuple[int, int | None]] = []
    vectors_of(questions, encoder, None, lambda _, done, total=None: told.append((done, total)))
    assert told == [(0, PART + 5), (PART, PART + 5), (PART + 5, PART + 5)]


def test_a_cache_that_cannot_be_written_is_named(encoder: Encoder, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for call in (
        lambda: vectors_of(["Who?"], encoder, tmp_path / "file"),
        lambda: nearest_by_words(["Who?"], ["Who?"], 1, tmp_path / "file"),
    ):
        with pytest.raises(FailureError, match=r"cannot be written .*: name another folder with --cache"):
            call()


@given(st.integers(1, 6), st.integers(1, 9), st.integers(0, 99))
def test_nearest_agrees_with_sorting(count: int, known: int, seed: int) -> None:
    generator = np.random.default_rng(seed)
    # Few different numbers, so that there are ties.
    rows = generator.integers(0, 2, size=(known, 2)).astype(np.float32)
    wanted = generator.integers(0, 2, size=(3, 2)).astype(np.float32)
    for vector, found in zip(wanted, nearest_by_meaning(wanted, rows, count), strict=True):
        scores = rows @ vector
        order = sorted(range(known), key=lambda place: (-scores[place], place))[:count]
        assert [one.place for one in found] == order


def test_a_killed_audit_goes_on_where_it_was(tmp_path: Path) -> None:
    rows: list[Row] = [
        (f"n{number}", f"who won race number {number} in town {number % 7}", []) for number in range(PART * 6)
    ]
    train, test = write(tmp_path / "train.jsonl", rows), write(tmp_path / "test.jsonl", TEST)
    place = tmp_path / "cache"
    arguments = ["audit", "overlap", "--train", train, "--test", test, "--cache", str(place), "--json"]
    line = [sys.executable, "-c", "from longform.cli import main; main()", *arguments]
    child = subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while len(list(place.glob("*.npy"))) < 2 and time.monotonic() < deadline:
        time.sleep(0.01)
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    kept = {path: path.stat().st_mtime_ns for path in place.glob("*.npy")}
    assert 2 <= len(kept) < 7
    result = run(*arguments[2:])
    assert json.loads(result.output)["findings"][0]["numbers"]["training"] == PART * 6
    assert {path: path.stat().st_mtime_ns for path in kept} == kept


# Shares


@pytest.mark.parametrize(
    ("number", "of", "low", "high"), [(0, 10, 0.0, 0.2775), (5, 10, 0.2366, 0.7634), (10, 10, 0.7225, 1.0)]
)
def test_wilson(number: int, of: int, low: float, high: float) -> None:
    found = wilson(number, of)
    assert [found.low, found.high] == pytest.approx([low, high], abs=1e-4)


def test_the_finding_counts_questions_once(pairs: list[QuestionPair]) -> None:
    overlap = Overlap(examples(TEST), len(TRAIN), pairs)
    assert overlap.paraphrased == ["t1", "t4"]
    assert overlap.copied == ["t4"]
    assert overlap.topical == ["t1", "t2", "t3", "t4"]
    best = [max(one.probability for one in pairs if one.test.id == name) for name, _, _ in TEST]
    assert overlap.expected == pytest.approx(sum(best) / 5)
    finding = audit_overlap(overlap)
    assert finding.verdict is Verdict.CONCERN
    assert finding.words.startswith("2 of 5 test questions (40.0 %, 95 % interval 11.8 to 76.9)")
    assert finding.numbers["paraphrase"]["number"] == 2
    assert finding.numbers["topic"]["ids"] == ["t1", "t2", "t3", "t4"]
    one_each = audit_overlap(overlap, shown=1)
    assert [len(table.rows) for table in one_each.tables[1:]] == [1, 1]
    assert one_each.tables[1].note == "The 1 most probable of 2; `--csv` writes all."
    titles = [table.title for table in finding.tables]
    assert titles == ["How many", "Paraphrases", "The same topic, no paraphrase"]


def test_verdicts_of_few_and_of_no_paraphrases(pairs: list[QuestionPair]) -> None:
    lone = [one for one in pairs if one.test.id == "t5"]
    assert audit_overlap(Overlap(examples(TEST[4:]), 5, lone)).verdict is Verdict.UNKNOWN
    many = examples([(f"x{number}", "Who invented it?", []) for number in range(73)])
    finding = audit_overlap(Overlap(many, 100, []))
    assert finding.verdict is Verdict.FINE
    assert "So few paraphrases do not move a score" in finding.words
    finding = audit_overlap(Overlap(many, 99, []))
    assert finding.verdict is Verdict.UNKNOWN
    assert "So few training questions tell little: at least 100 are needed" in finding.words
    finding = audit_overlap(Overlap(many[:72], 100, []))
    assert finding.verdict is Verdict.UNKNOWN
    assert "It may be 5 % or more: about 73 test questions would tell" in finding.words


def test_a_model_decides_instead_and_is_not_asked_twice(encoder: Encoder, tmp_path: Path) -> None:
    model = CrossEncoder.load()
    train, test = examples(TRAIN), examples(TEST)
    everything = find_pairs(train, test, encoder, tmp_path, model=model, model_threshold=-1000.0)
    assert all(one.paraphrase for one in everything)

    class Silent:
        fingerprint = model.fingerprint

        def score(self, question: str, passages: Any) -> list[float]:
            raise AssertionError("what it said is kept")

    again = find_pairs(train, test, encoder, tmp_path, model=Silent(), model_threshold=-1000.0)
    assert [one.probability for one in again] == [one.probability for one in everything]
    nothing = find_pairs(train, test, encoder, tmp_path, model=model, model_threshold=1000.0)
    assert [one.test.id for one in nothing if one.paraphrase] == ["t4"], "word for word needs no model"


# Labels


def test_a_spreadsheet_computes_nothing(pairs: list[QuestionPair], tmp_path: Path) -> None:
    strange = replace(
        pairs[0],
        test=replace(pairs[0].test, id="=1+1", question='=HYPERLINK("http://example.org")'),
        train=replace(pairs[0].train, id="-7013890438520559398", question="@SUM(A1)"),
        label=True,
    )
    write_pairs(tmp_path / "pairs.csv", [strange])
    with (tmp_path / "pairs.csv").open(newline="") as file:
        (row,) = csv.DictReader(file)
    assert (row["test_id"], row["train_id"]) == ("'=1+1", "-7013890438520559398")
    assert row["test_question"].startswith("'=") and row["train_question"].startswith("'@")
    assert read_labels(tmp_path / "pairs.csv") == {("=1+1", "-7013890438520559398"): True}


def test_labels_stand_above_the_decision(pairs: list[QuestionPair], tmp_path: Path) -> None:
    path = tmp_path / "pairs.csv"
    write_pairs(path, pairs)
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(pairs)
    assert {row["label"] for row in rows} == {""}
    assert read_labels(path) == {}
    for row in rows:
        row["label"] = {("t1", "n1"): "no", ("t2", "n2"): "Y"}.get((row["test_id"], row["train_id"]), "")
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    labels = read_labels(path)
    assert labels == {("t1", "n1"): False, ("t2", "n2"): True}
    labelled = Overlap(examples(TEST), len(TRAIN), with_labels(pairs, labels))
    assert labelled.paraphrased == ["t2", "t4"]
    assert "People labelled 2 of" in audit_overlap(labelled).notes[1]


def test_what_is_no_file_of_labels(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    with pytest.raises(InputError, match="does not exist"):
        read_labels(path)
    path.write_text("test_id,label\nt1,y\n")
    with pytest.raises(InputError, match="has no column train_id: labels have test_id, train_id and label"):
        read_labels(path)
    path.write_text("test_id,train_id,label\nt1,n1,maybe\n")
    with pytest.raises(InputError, match=r"labels\.csv:2: the label 'maybe' is neither y, n nor s"):
        read_labels(path)
    path.write_bytes(b"test_id,train_id,label\n\xff,n1,y\n")
    with pytest.raises(InputError, match="is no CSV in UTF-8"):
        read_labels(path)
    with pytest.raises(InputError, match="is a folder"):
        read_labels(tmp_path)


def test_labels_are_added_to_what_is_there(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("test_id,note,train_id,label\nt1,mine,n1,y")
    with LabelFile(path) as labels:
        assert labels.done == {("t1", "n1"): "y"}
        labels.add("t2", "n2", "s")
        assert path.read_text().splitlines()[2] == "t2,,n2,s", "on disk before the file is closed"
        labels.add("t1", "n1", "n")
    assert read_labels(path) == {("t1", "n1"): False}, "the last one counts, and s says nothing"


def test_the_least_certain_comes_first(pairs: list[QuestionPair]) -> None:
    left = to_label(pairs, {("t1", "n1"): "y"})
    assert len(left) == len(pairs) - 1
    distances = [abs(one.probability - THRESHOLD) for one in left]
    assert distances == sorted(distances)


# The command


def test_the_command_tells_writes_and_hashes(tmp_path: Path, cache: Path) -> None:
    train, test = write(tmp_path / "train.jsonl", TRAIN), write(tmp_path / "test.jsonl", TEST)
    page, pairs = tmp_path / "out" / "page.md", tmp_path / "out" / "pairs.csv"
    result = run("--train", train, "--test", test, "--cache", cache, "-o", page, "--csv", pairs)
    assert result.exit_code == 0, result.output
    assert "2 of 5 test questions" in result.output
    assert "Who played tony in only fools and horses?\n          who played raquel" in result.output
    assert f"Wrote 25 pairs to {pairs}." in result.output
    text = page.read_text()
    assert text.startswith("# Train and test overlap\n\n## Are the test questions among the training questions?")
    assert f"| {train} | " in text
    told = json.loads(run("--train", train, "--test", test, "--cache", cache, "--json").output)
    assert told["findings"][0]["verdict"] == "concern"
    assert list(told["hashes"]) == [train, test]


def test_one_file_is_both_where_ids_say_which_is_test(tmp_path: Path, cache: Path) -> None:
    both, ids = write(tmp_path / "all.jsonl", [*TRAIN, *TEST]), tmp_path / "ids.txt"
    assert "is both the training and the test set" in refused("--train", both, "--test", both, "--cache", cache)
    ids.write_text("t1\nt5\n")
    result = run("--train", both, "--test", both, "--ids", ids, "--cache", cache, "--json")
    finding = json.loads(result.output)["findings"][0]
    assert (finding["numbers"]["training"], finding["numbers"]["test"]) == (8, 2)
    assert finding["notes"][-1] == f"Training questions are the 8 of {both} not tested."


def test_labelling_in_the_terminal_goes_on_where_it_stopped(tmp_path: Path, cache: Path) -> None:
    train, test = write(tmp_path / "train.jsonl", TRAIN[:2]), write(tmp_path / "test.jsonl", TEST[:2])
    labels = tmp_path / "labels.csv"
    common = ("--train", train, "--test", test, "--cache", cache, "--label", labels)
    result = run(*common, stdin="maybe\ny\nq\n")
    assert result.exit_code == 0, result.output
    assert "4 pairs to label, the least certain first" in result.output
    assert list(read_labels(labels).values()) == [True]
    result = run(*common, stdin="n\ns\n")
    assert "3 pairs to label" in result.output
    assert "1 of 3" in result.output
    assert sorted(read_labels(labels).values()) == [False, True]
    assert len(labels.read_text().splitlines()) == 4, "a header, y, n and s; the end of input stops"
    result = run(*common, stdin="q\n")
    assert "1 pair to label" in result.output
    assert "People labelled 2 of 4 pairs" in result.output
    used = run("--train", train, "--test", test, "--cache", cache, "--labels", labels, "--json")
    assert json.loads(used.output)["findings"][0]["numbers"]["labelled"] == 2


def test_labels_of_other_pairs_are_counted(tmp_path: Path, cache: Path) -> None:
    train, test = write(tmp_path / "train.jsonl", TRAIN), write(tmp_path / "test.jsonl", TEST)
    (tmp_path / "labels.csv").write_text("test_id,train_id,label\nx,y,y\n")
    result = run("--train", train, "--test", test, "--cache", cache, "--labels", tmp_path / "labels.csv", "--json")
    notes = json.loads(result.output)["findings"][0]["notes"]
    assert notes[-1] == "1 label of pairs that are not among the nearest say nothing here."


def test_a_command_that_cannot_be_meant(tmp_path: Path, cache: Path) -> None:
    train, test = write(tmp_path / "train.jsonl", TRAIN), write(tmp_path / "test.jsonl", TEST)
    common = ("--train", train, "--test", test, "--cache", cache)
    assert "--threshold is the --model's" in refused(*common, "--threshold", 1)
    assert "--json cannot go with it" in refused(*common, "--label", tmp_path / "l.csv", "--json")
    for option, value in (("--show", -1), ("--nearest", 0), ("--nearest", 10**12), ("--resamples", 10**12)):
        told = run(*common, option, value)
        assert told.exit_code == 2 and f"and {value:,} does not." in told.output
    assert "is a number from which on two questions" in refused(*common, "--model", "reranker", "--threshold", "nan")
    assert "are three numbers that make 1" in refused(*common, "--resplit", tmp_path / "r", "--shares", "nan,0,1")
    assert "--shares takes three numbers" in refused(*common, "--shares", "most")
    assert "is no run" in refused(*common, "--run", tmp_path / "none")
    assert "nothing.jsonl does not exist" in refused("--train", tmp_path / "nothing.jsonl", "--test", test)


def test_the_pairs_of_the_asqa_test_questions(shared: Path, tmp_path: Path, encoder: Encoder) -> None:
    """Of the training questions those with these names and every twentieth, so that it takes a second."""
    training = load_dataset(str(shared / "data" / "train" / "questions.jsonl.gz"))
    known = [
        one
        for place, one in enumerate(training)
        if place % 20 == 0 or any(name in one.question.lower() for name in ("only fools", "great fire of london"))
    ]
    ids = json.loads((shared / "data" / "asqa" / "test300.ids.json").read_text())
    asqa = load_dataset("asqa", file=shared / "data" / "asqa" / "ASQA.json", ids=ids)
    asked = [one for one in asqa if "only fools" in one.question or "great fire" in one.question]
    found = find_pairs(known, asked, encoder, tmp_path)
    told = {(one.test.question, one.train.question): (one.paraphrase, one.topic) for one in found}
    fire = ("When did the great fire of london happen?", "when did the great fire of london end")
    fools = ("Who played tony in only fools and horses?", "who played raquel in only fools and horses")
    assert told[fire] == (True, True)
    assert told[fools] == (False, True)
