"""Questions with answers: every shape they come in, and every way a row can be wrong."""

from __future__ import annotations

import gzip
import io
import json
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from longform import InputError
from longform.corpus import TrainingQuestion, read_ids, read_training_questions

# A busy machine is no failure.
patient = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def ask(data: str | bytes, name: str = "qa.jsonl", **options: str) -> list[TrainingQuestion]:
    Path(name).write_bytes(data.encode() if isinstance(data, str) else data)
    return read_training_questions(name, **options)  # type: ignore[arg-type]


ROW = {"id": "x", "question": "Who?", "long_answer": " Ringo did. ", "short_answers": [["Ringo", "Starr"]]}
FULL = TrainingQuestion("x", "Who?", ("Ringo did.",), (("Ringo", "Starr"),))
LINE = json.dumps(ROW)


def test_rows() -> None:
    assert ask(LINE) == [FULL]
    data = "\ufeff" + LINE + '\r\n\n{"id": 7, "question": "Was it?", "long_answers": ["a", " ", "b"], "pages": ["P"]}'
    assert ask(data) == [FULL, TrainingQuestion("7", "Was it?", ("a", "b"), (), ("P",))]
    assert ask(gzip.compress(LINE.encode()), "qa.jsonl.gz") == [FULL]
    assert ask(json.dumps([ROW], indent=1), "qa.json") == [FULL]
    assert ask(json.dumps(ROW, indent=1), "one.json") == [FULL], "a single row over many lines"


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b'{"question": "Who?", "long_answer": "He."}\n')))
    assert read_training_questions("-") == [TrainingQuestion("stdin-1", "Who?", ("He.",))]


def test_rows_without_ids_are_named_after_file_and_line() -> None:
    row = '{"question": "Who?", "long_answer": "He.", "title": "A page", "source": "nq"}\n'
    found = ask(row + "\n" + row, "my.pairs.jsonl")
    assert [question.id for question in found] == ["my-1", "my-3"]
    assert found[0].pages == ("A page",)


def test_short_answers() -> None:
    row = {**ROW, "short_answers": ["Ringo", ["Paul", "", " Macca "], []], "long_answer": None}
    assert ask(json.dumps(row))[0].short_answers == (("Ringo",), ("Paul", "Macca"))


ITEM = {
    "ambiguous_question": "Who won?",
    "qa_pairs": [
        {"question": "In 2010?", "short_answers": ["Spain", "España"]},
        {"question": "2014?", "short_answers": ["Germany"]},
    ],
    "wikipages": [{"title": "World Cup", "url": ""}],
    "annotations": [{"knowledge": [], "long_answer": "Spain, then Germany."}, {"long_answer": "Two teams."}],
}
ASQA = {"train": {"1": {**ITEM, "annotations": ITEM["annotations"][:1]}}, "dev": {"-2": ITEM}}


@pytest.mark.parametrize("indent", [None, 1])
def test_asqa(indent: int | None) -> None:
    data = json.dumps(ASQA, indent=indent)
    answers = (("Spain", "España"), ("Germany",))
    train = TrainingQuestion("1", "Who won?", ("Spain, then Germany.",), answers, ("World Cup",))
    dev = TrainingQuestion("-2", "Who won?", ("Spain, then Germany.", "Two teams."), answers, ("World Cup",))
    assert ask(data, "ASQA.json") == [train, dev]
    assert ask(data, "ASQA.json", split="dev") == [dev]


def test_asqa_without_long_answers() -> None:
    item = {name: value for name, value in ITEM.items() if name != "annotations"}
    assert ask(json.dumps({"test": {"1": item}}))[0].long_answers == ()


def test_excluding() -> None:
    Path("qa.jsonl").write_text(LINE + "\n" + json.dumps({**ROW, "id": 2}))
    Path("ids.json").write_text('["x", 5]')
    Path("ids.txt").write_text("\nx \n5\r\n")
    assert read_ids("ids.json") == read_ids("ids.txt") == {"x", "5"}
    assert [question.id for question in read_training_questions("qa.jsonl", exclude_ids=read_ids("ids.txt"))] == ["2"]
    with pytest.raises(InputError, match=r"^All 2 questions of qa.jsonl are excluded: none is left.$"):
        read_training_questions("qa.jsonl", exclude_ids={"x", "2"})


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (LINE + "\n" + LINE, "qa.jsonl:2: the question id 'x' occurs twice."),
        ('{"id": true, "question": "Who?"}', "qa.jsonl:1: the id must be a string or a whole number."),
        ('{"id": 1}', "qa.jsonl:1: there is no question (one of the fields question, query, ambiguous_question)."),
        ('{"question": " "}', "qa.jsonl:1: the question is empty."),
        (
            LINE + '\n{"question": "Who?", "short_answers": [[""]], "long_answer": ""}',
            "qa.jsonl:2: the question has no answer: give it a long_answer, long_answers or short_answers.",
        ),
        (
            '{"question": "Who?", "long_answer": 7}',
            "qa.jsonl:1: long_answer must be a list.",
        ),
        (
            '{"question": "Who?", "long_answers": [7]}',
            "qa.jsonl:1: long_answers must be a string or a list of strings.",
        ),
        ('{"question": "Who?", "short_answers": "He"}', "qa.jsonl:1: short_answers must be a list."),
        (
            '{"question": "Who?", "short_answers": [7]}',
            "qa.jsonl:1: short_answers must be a list of strings, or of lists of names.",
        ),
        (
            LINE + "\n7",
            'qa.jsonl:2: a row must be a JSON object such as {"question": "…", "long_answer": "…", '
            '"short_answers": [["…"]]}.',
        ),
        (LINE + '\n{"id": ', "qa.jsonl:2: broken JSON at column 8: unexpected end of data."),
        (LINE.encode() + b'\n{"id": "\xff"}', "qa.jsonl:2: not UTF-8 at byte 8 of the line; save the file as UTF-8."),
        ('[\n{"id": }]', "qa.jsonl:2: broken JSON at column 8: unexpected character, expected a JSON value."),
        (
            '[{"id": 1}]',
            "qa.jsonl, row 1: there is no question (one of the fields question, query, ambiguous_question).",
        ),
        (
            '{"dev": {"1": {"ambiguous_question": "Who?", "qa_pairs": [{}]}}}',
            "qa.jsonl, question 1: qa_pairs must be a list of objects with short_answers.",
        ),
        (
            '{"dev": {"1": {"ambiguous_question": "Who?"}, "2": 3}}',
            "qa.jsonl, question 1: the question has no answer: give it a long_answer, long_answers or short_answers.",
        ),
        (json.dumps({"dev": {"2": 3, "1": ITEM}}), "qa.jsonl, question 2: not a JSON object."),
        ("", "qa.jsonl holds no questions."),
        ("[]", "qa.jsonl holds no questions."),
    ],
)
def test_wrong_files(data: str | bytes, sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        ask(data)
    assert str(caught.value) == sentence


def test_wrong_splits() -> None:
    with pytest.raises(InputError, match=r"^a.json has no split 'test'; its splits are: train, dev.$"):
        ask(json.dumps(ASQA), "a.json", split="test")
    with pytest.raises(InputError, match=r"^qa.jsonl has no splits, so --split dev cannot choose one: leave it out.$"):
        ask(LINE, split="dev")


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        ("\n", "ids holds no ids."),
        ("[1.5]", "ids must be a list of ids: strings or whole numbers."),
        ("[1,\n", "ids:2: broken JSON at column 1: unexpected end of data."),
    ],
)
def test_wrong_ids(data: str, sentence: str) -> None:
    Path("ids").write_text(data)
    with pytest.raises(InputError) as caught:
        read_ids("ids")
    assert str(caught.value) == sentence


def test_wrong_places() -> None:
    Path("docs").mkdir()
    with pytest.raises(InputError, match=r"^docs is a folder: name a file.$"):
        read_training_questions("docs")
    with pytest.raises(InputError, match=r"^missing does not exist.$"):
        read_ids("missing")


WORDS = st.text(st.characters(exclude_categories=["Cs", "Zs", "Cc", "Zl", "Zp"]), min_size=1, max_size=8)
QUESTIONS = st.builds(
    TrainingQuestion,
    id=WORDS,
    question=WORDS,
    long_answers=st.lists(WORDS, min_size=1, max_size=2).map(tuple),
    short_answers=st.lists(st.lists(WORDS, min_size=1, max_size=2).map(tuple), max_size=3).map(tuple),
    pages=st.lists(WORDS, max_size=2).map(tuple),
)


@patient
@given(st.lists(QUESTIONS, min_size=1, max_size=4, unique_by=lambda question: question.id))
def test_questions_read_back(questions: list[TrainingQuestion]) -> None:
    data = "\n".join(json.dumps(question.to_json()) for question in questions)
    assert ask(data) == questions


@pytest.mark.shared
def test_shared_files(shared: Path) -> None:
    data = shared / "data"
    train = read_training_questions(str(data / "train/questions.jsonl.gz"))
    assert len(train) == 3155
    assert all(question.long_answers and question.short_answers for question in train)
    pairs = read_training_questions(str(data / "train/pairs.jsonl.gz"))
    assert (len(pairs), pairs[0].id) == (6853, "pairs-1")
    asqa = str(data / "asqa/ASQA.json")
    excluded = read_ids(str(data / "asqa/test300.ids.json"))
    assert len(read_training_questions(asqa)) == 948
    assert len(read_training_questions(asqa, exclude_ids=excluded)) == 648
