"""Silver files: made, read back, broken, and gone on with."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from longform import FailureError, Index, InputError
from longform.corpus import TrainingQuestion
from longform.files import writing_alone
from longform.silver import SilverPassage, SilverRow, SilverSettings, read_silver, silver_rows, write_silver
from longform.silver.reading import parse_row

# A busy machine is no failure.
patient = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


def row_of(index: Index, question: TrainingQuestion, **settings: Any) -> SilverRow:
    return next(silver_rows(index, [question], SilverSettings(**settings)))


def test_silver(kings: Index, asked: TrainingQuestion) -> None:
    row = row_of(kings, asked, k=3)
    assert (row.id, row.question, row.answers, row.answers_found) == ("q", asked.question, 3, 2)
    assert set(row.pool) == {"a", "b", "c", "d"}, "tea shares no word with the question"
    assert [passage.id for passage in row.silver] == ["b", "a", "c"]
    best = row.silver[0]
    assert best.answers == ("Charles X", "Louis Philippe")
    assert best.words == ("charles", "x", "king", "august", "1830", "louis", "philippe", "became", "french")
    assert best.rank == row.pool.index("b") + 1
    assert best.score == pytest.approx(9 / 11)
    assert best.why == (
        "Holds the direct answers “Charles X” and “Louis Philippe”; of the 2 candidates with “Charles X” it matches "
        "best, by 9 of the 11 words of the long answer."
    )
    assert row.silver[1].why == "Shares 6 of the 11 words of the long answer: 2nd of 4 candidates."
    assert row.negatives == ("d",)


def test_an_answer_in_one_passage_only(kings: Index, asked: TrainingQuestion) -> None:
    row = row_of(kings, replace(asked, short_answers=(("abdicated",),)), k=1)
    assert row.silver[0].why == (
        "Holds the direct answer “abdicated”; no other candidate has “abdicated”. It shares 9 of the 11 words of the "
        "long answer."
    )


def test_direct(kings: Index, asked: TrainingQuestion) -> None:
    row = row_of(kings, asked, method="direct")
    assert [passage.id for passage in row.silver] == ["a", "c", "b"], "by the words of the question, 1 of them 'was'"
    assert row.silver[0].why.startswith("Holds the direct answer “Charles X”, and ")
    assert row.silver[0].words, "words of the long answer are told for every method"
    assert row_of(kings, replace(asked, short_answers=()), method="direct").silver == ()


def test_lexical(kings: Index, asked: TrainingQuestion) -> None:
    row = row_of(kings, asked, method="lexical")
    assert [passage.id for passage in row.silver] == ["b", "a", "c", "d"]
    assert row.silver[0].why == "Shares 9 of the 11 words of the long answer: 1st of 4 candidates."
    assert row_of(kings, replace(asked, long_answers=("zebras",)), method="lexical").silver == ()
    assert row_of(kings, replace(asked, long_answers=()), method="lexical").silver == ()


def test_without_a_long_answer_silver_still_finds_direct_answers(kings: Index, asked: TrainingQuestion) -> None:
    row = row_of(kings, replace(asked, long_answers=()))
    assert row.answers_found == 2
    assert all(passage.score == 0 and passage.words == () for passage in row.silver)


def test_semantic_and_perplexity_say_why(kings: Index, asked: TrainingQuestion) -> None:
    passage = row_of(kings, asked, method="semantic").silver[0]
    assert passage.why == (
        f"Its meaning is near that of the long answer (similarity {passage.score:.3f}): 1st of 4 candidates."
    )

    class Model:
        name = "flat"

        def log_likelihoods(self, prompts: Any, continuations: Any) -> list[float]:
            return [-15.0] * len(prompts)

    row = next(silver_rows(kings, [asked], SilverSettings(method="perplexity", k=2), language_model=Model()))
    assert [passage.id for passage in row.silver] == list(row.pool[:2]), "ties stay in the order of the first stage"
    why = "With it the language model finds the long answer likely (-1.000 per word): 1st of 4 candidates."
    assert row.silver[0].why == why


def test_written_and_read(kings: Index, asked: TrainingQuestion, here: Path) -> None:
    nothing = TrainingQuestion("none", "zzz?", ("Zebras.",))
    summary = write_silver(kings, [asked, nothing], "silver.jsonl", origin={"questions": "qa.jsonl"})
    found = read_silver("silver.jsonl")
    assert found.rows == tuple(silver_rows(kings, [asked, nothing]))
    assert found.rows[0].long_answers == asked.long_answers
    assert found.rows[0].short_answers == asked.short_answers
    assert found.rows[1].silver == found.rows[1].pool == ()
    fingerprint = found.header["index_fingerprint"]
    assert len(fingerprint) == 64
    assert found.header == {
        "format": "longform-silver/1",
        "index": str(kings.folder),
        "index_fingerprint": fingerprint,
        "index_passages": 5,
        "questions": "qa.jsonl",
        "count": 2,
        "method": "silver",
        "k": 5,
        "pool": 100,
        "mode": "bm25",
        "seed": 0,
    }
    assert (summary.questions, summary.with_silver, summary.answers, summary.answers_found) == (2, 1, 3, 2)
    assert summary.coverage == pytest.approx(2 / 3)
    assert summary.match == pytest.approx(sum(p.score for p in found.rows[0].silver) / len(found.rows[0].silver))
    assert list(here.iterdir()) == [here / "silver.jsonl"]


def test_headers_name_the_models(kings: Index, asked: TrainingQuestion, here: Path) -> None:
    write_silver(kings, [asked], "s.jsonl", SilverSettings(method="semantic"))
    header = read_silver("s.jsonl").header
    assert header["encoder"] == "encoder"
    assert len(header["encoder_fingerprint"]) == 64
    summary = write_silver(kings, [replace(asked, short_answers=(), long_answers=("zz",))], "s.jsonl")
    assert (summary.coverage, summary.match) == (None, 0)


def test_going_on(kings: Index, asked: TrainingQuestion, here: Path) -> None:
    questions = [replace(asked, id=str(number)) for number in range(10)]
    write_silver(kings, questions, "whole.jsonl")
    whole = Path("whole.jsonl").read_bytes()
    lines = whole.splitlines(keepends=True)
    for part, resumed in (
        (b"".join(lines[:4]), 3),
        (b"".join(lines[:4]) + lines[4][:50], 3),
        (b"".join(lines[:4]) + lines[4][:-1], 3),
        (b"".join(lines[:4]) + b"{}\n" + lines[5], 3),
        (b"".join(lines[:2]) + lines[4], 1),
        (whole, 10),
        (lines[0], 0),
        (lines[0][:-1], 0),
        (b"", 0),
        (b"{\n" + lines[1], 0),
        (lines[0].replace(b'"k":5', b'"k":4') + lines[1], 0),
    ):
        Path("silver.jsonl.part").write_bytes(part)
        seen: list[tuple[str, int, int | None]] = []
        summary = write_silver(kings, questions, "silver.jsonl", progress=lambda *told, seen=seen: seen.append(told))
        assert Path("silver.jsonl").read_bytes() == whole
        assert (summary.resumed, summary.questions) == (resumed, 10)
        assert seen[-1] == ("choosing", 10, 10)
        assert len(seen) == 10 - resumed + 1
        assert not Path("silver.jsonl.part").exists()


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        (
            {"method": "gold"},
            "There is no method 'gold': choose one of lexical, semantic, perplexity, direct, silver.",
        ),
        ({"mode": "x"}, "There is no mode 'x': choose one of bm25, dense, hybrid."),
        ({"k": 0}, "k must be at least 1, and 0 is not."),
        ({"k": 9, "pool": 8}, "A pool of 8 is too small to choose 9 passages from: raise --pool."),
    ],
)
def test_wrong_settings(settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        SilverSettings(**settings)
    assert str(caught.value) == sentence


def test_wrong_places(kings: Index, asked: TrainingQuestion, here: Path) -> None:
    Path("folder").mkdir()
    for path, sentence in {
        "folder": "folder is a folder: name the file to write.",
        "missing/s.jsonl": "There is no folder missing to write s.jsonl to: make it first.",
        "": "The name of the file to write is empty.",
        "/dev/null": "/dev/null is no file that could be replaced: name another to write.",
    }.items():
        with pytest.raises(InputError) as caught:
            write_silver(kings, [asked], path)
        assert str(caught.value) == sentence
    with pytest.raises(InputError, match=r"^The method perplexity needs a language model: name one with --model.$"):
        write_silver(kings, [asked], "s.jsonl", SilverSettings(method="perplexity"))


def test_two_processes_do_not_write_one_file(kings: Index, asked: TrainingQuestion, here: Path) -> None:
    with (
        writing_alone(Path("s.jsonl.part.lock"), "s.jsonl"),
        pytest.raises(FailureError, match=r"^Another process is writing s\.jsonl: wait for it, or name another"),
    ):
        write_silver(kings, [asked], "s.jsonl")
    write_silver(kings, [asked], "s.jsonl")
    assert [path.name for path in Path().glob("s.jsonl*")] == ["s.jsonl"]


HEADER = '{"format": "longform-silver/1"}\n'
PASSAGE = {
    "id": "a",
    "title": "",
    "text": "",
    "rank": 1,
    "score": 1,
    "method": "m",
    "answers": [],
    "words": [],
    "why": "",
}
ROW = {"id": "q", "question": "Who?", "pool": ["a"], "silver": [PASSAGE], "answers_found": 0, "answers": 0}
LINE = json.dumps(ROW)


def changed(**fields: Any) -> str:
    return HEADER + json.dumps({name: value for name, value in {**ROW, **fields}.items() if value is not None})


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        ("", "s.jsonl is empty: `longform silver` writes silver files."),
        (LINE, "s.jsonl is not a silver file (its first line has no format): `longform silver` writes them."),
        ("Who?", "s.jsonl is not a silver file (its first line has no format): `longform silver` writes them."),
        (
            '{"format": "longform-silver/2"}',
            "s.jsonl has format longform-silver/2, and this Longform reads longform-silver/1: upgrade it, or make it "
            "anew.",
        ),
        (HEADER + LINE[:20], "s.jsonl:2: broken JSON at column 21: unexpected end of data."),
        (HEADER + LINE + "\n\n" + LINE, "s.jsonl:4: the question id 'q' occurs twice."),
        (HEADER + "[]", "s.jsonl:2: a row must be a JSON object."),
        (changed(id=None), "s.jsonl:2: a row has no id."),
        (changed(question=7), "s.jsonl:2: a row has an unusable question."),
        (changed(pool="a"), "s.jsonl:2: a row has an unusable pool."),
        (changed(pool=[1]), "s.jsonl:2: a row has an unusable pool."),
        (changed(pool=[]), "s.jsonl:2: the silver passage 'a' is not in the pool."),
        (changed(answers=True), "s.jsonl:2: a row has an unusable answers."),
        (changed(silver=[7]), "s.jsonl:2: a silver passage must be a JSON object."),
        (changed(silver=[{}]), "s.jsonl:2: a silver passage has no id."),
        (changed(silver=[{**PASSAGE, "rank": "1"}]), "s.jsonl:2: a silver passage has an unusable rank."),
        (changed(short_answers=["a"]), "s.jsonl:2: a row has an unusable short_answers."),
        (changed(long_answers=[1]), "s.jsonl:2: a row has an unusable long_answers."),
    ],
)
def test_broken_files(here: Path, data: str, sentence: str) -> None:
    Path("s.jsonl").write_text(data)
    with pytest.raises(InputError) as caught:
        read_silver("s.jsonl")
    assert str(caught.value) == sentence


def test_the_smallest_file(here: Path) -> None:
    Path("s.jsonl").write_text(HEADER)
    assert read_silver("s.jsonl").rows == ()
    Path("s.jsonl").write_text(HEADER + LINE)
    assert read_silver("s.jsonl").rows[0].silver[0].score == 1.0


TEXT = st.text("aé \n\x00", max_size=4)
TEXTS = st.lists(TEXT, max_size=2).map(tuple)
PASSAGES = st.builds(
    SilverPassage,
    id=st.sampled_from(["a", "b"]),
    title=TEXT,
    text=TEXT,
    rank=st.integers(1, 100),
    score=st.floats(-10, 1),
    method=TEXT,
    answers=TEXTS,
    words=TEXTS,
    why=TEXT,
)


@patient
@given(
    st.builds(
        SilverRow,
        id=TEXT,
        question=TEXT,
        pool=st.just(("a", "b", "c")),
        silver=st.lists(PASSAGES, max_size=2).map(tuple),
        answers_found=st.integers(0, 5),
        answers=st.integers(0, 5),
        long_answers=TEXTS,
        short_answers=st.lists(TEXTS, max_size=2).map(tuple),
    )
)
def test_rows_read_back(row: SilverRow) -> None:
    assert parse_row(json.loads(json.dumps(row.to_json())), "here") == row
    assert set(row.negatives) | {passage.id for passage in row.silver} == {"a", "b", "c"}
