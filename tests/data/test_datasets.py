"""Every dataset's official shape becomes examples, and what is missing or broken is one sentence."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longform import InputError
from longform.data import CATALOGUE, Example, FollowUp, GoldPassage, Reading, describe, load_dataset
from longform.data.guess import guess_source

TURN = {
    "turn": 0,
    "question_id": "7-0",
    "question": "Who wrote Dune?",
    "answers": [{"id": "Q7934", "label": "Frank Herbert"}],
    "answer_text": "Frank Herbert",
    "answer_src": "KB",
    "entities": [{"id": "Q190192", "label": "Dune"}],
    "paraphrase": "Dune was written by whom?",
}
LATER = {
    "turn": 1,
    "question_id": "7-1",
    "question": "When was it published?",
    "completed": "When was Dune published?",
    "answers": [{"id": "1965-08-01T00:00:00Z", "label": "August 1965"}, {"id": "yes", "label": "Yes"}],
    "answer_text": "August 1965",
    "answer_src": "text",
    "entities": [],
    "paraphrase": "What year did it come out?",
}
CONVERSATION = {"conv_id": 7, "domain": "books", "questions": [TURN, LATER]}


def lines(path: Path, *rows: Any) -> str:
    text = "".join(json.dumps(row) + "\n" for row in rows)
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text)
    return str(path)


def whole(path: Path, value: Any) -> str:
    path.write_text(json.dumps(value))
    return str(path)


def only(path: str, name: str | None = None, **options: Any) -> Example:
    found = load_dataset(name, file=path, **options) if name else load_dataset(path, **options)
    assert len(found) == 1
    return found.examples[0]


def test_asqa_with_its_knowledge_by_annotator(tmp_path: Path) -> None:
    pair = {
        "question": "Who won in 2010?",
        "short_answers": ["Spain"],
        "context": "No context provided",
        "wikipage": None,
    }
    shown = {
        "question": "Who won in 2014?",
        "short_answers": ["Germany", "DFB"],
        "context": "Germany won.",
        "wikipage": "W",
    }
    item = {
        "ambiguous_question": "Who won the cup?",
        "qa_pairs": [pair, shown],
        "wikipages": [{"title": "Cup", "url": ""}, {"title": "Cup", "url": ""}],
        "annotations": [
            {"long_answer": "Spain.", "knowledge": [{"content": "", "wikipage": "Cup"}]},
            {"long_answer": "Spain, then Germany.", "knowledge": [{"content": "It is a cup.", "wikipage": "Cup"}]},
        ],
    }
    path = whole(tmp_path / "ASQA.json", {"train": {"1": item}, "dev": {"2": item}})
    example = only(path, "asqa", split="dev")
    assert example.id == "2"
    assert example.long_answers == ("Spain.", "Spain, then Germany.")
    assert example.short_answers == (("Spain",), ("Germany", "DFB"))
    assert example.pages == ("Cup",)
    assert example.readings[0] == Reading("Who won in 2010?", ("Spain",))
    assert example.passages == (GoldPassage("W", "Germany won."), GoldPassage("Cup", "It is a cup.", 1))
    assert load_dataset(path).split == "dev"
    with pytest.raises(InputError, match="has no split test; its splits are: train, dev"):
        load_dataset("asqa", file=path, split="test")


def test_asqa_with_one_split_is_that_split(tmp_path: Path, examples: Path) -> None:
    path = whole(tmp_path / "mine.json", {"train": json.loads((examples / "questions.json").read_text())["dev"]})
    assert load_dataset(path).split == "train"


def test_ambignq_takes_the_annotation_with_the_most_readings(tmp_path: Path) -> None:
    pairs = [{"question": f"Which {name}?", "answer": [name]} for name in ("A1", "B2")]
    notes = [{"type": "singleAnswer", "answer": ["C"]}, {"type": "multipleQAs", "qaPairs": pairs}]
    several = {"id": "1", "question": "Which?", "annotations": notes}
    single = {"id": "2", "question": "Who?", "annotations": [notes[0], {"type": "singleAnswer", "answer": ["C", "D"]}]}
    path = whole(tmp_path / "dev_light.json", [several, single])
    first, second = load_dataset(path).examples
    assert [reading.short_answers for reading in first.readings] == [("A1",), ("B2",)]
    assert first.meta["annotations"] == notes
    assert second.short_answers == (("C", "D"),)
    assert second.readings == ()


def nq_row(**more: Any) -> dict[str, Any]:
    note = {"long_answer": {"start_token": 0, "end_token": 5}, "yes_no_answer": "NONE"}
    short = [{"start_token": 1, "end_token": 2}]
    wider = [{"start_token": 1, "end_token": 3}]
    empty = {"long_answer": {"start_token": -1, "end_token": -1}, "short_answers": [], "yes_no_answer": "NONE"}
    notes = [{**note, "short_answers": short}, {**note, "short_answers": wider}, empty]
    return {"example_id": 7, "question_text": "who sang", "annotations": notes, **more}


def test_nq_original_and_simplified_say_the_same(tmp_path: Path) -> None:
    words = [("<P>", True), ("Ringo", False), ("Starr", False), ("sang", False), ("</P>", True), ("More", False)]
    url = "https://en.wikipedia.org//w/index.php?title=The_Beatles&amp;oldid=1"
    tokens = [{"token": word, "html_token": html, "start_byte": 0, "end_byte": 1} for word, html in words]
    original = nq_row(document_tokens=tokens, document_title="The Beatles", document_url=url)
    simplified = nq_row(document_text=" ".join(word for word, _ in words), document_url=url)
    first = only(lines(tmp_path / "nq-dev-00.jsonl.gz", original), "nq")
    second = only(lines(tmp_path / "simple.jsonl", simplified), "nq-simplified")
    assert first == second
    assert first.long_answers == ("Ringo Starr sang",)
    assert first.short_answers == (("Ringo", "Ringo Starr"),)
    assert first.pages == ("The Beatles",)
    assert first.meta["labelled"] == [3, 2, 2]
    assert guess_source(str(tmp_path / "simple.jsonl")) == "nq-simplified"
    with pytest.raises(InputError, match=r"neither document_tokens .* nor document_text"):
        only(lines(tmp_path / "bad.jsonl", nq_row()), "nq")


def test_nq_short_answers_of_several_spans_are_answers_of_their_own(tmp_path: Path) -> None:
    spans = [{"start_token": 0, "end_token": 1}, {"start_token": 2, "end_token": 3}]
    note = {"long_answer": {"start_token": 0, "end_token": 3}, "short_answers": spans, "yes_no_answer": "NONE"}
    row = nq_row(document_text="Paul and Ringo", document_url="") | {"annotations": [note]}
    assert only(lines(tmp_path / "n.jsonl", row), "nq").short_answers == (("Paul",), ("Ringo",))
    yes = {**note, "short_answers": [], "yes_no_answer": "YES"}
    assert only(lines(tmp_path / "y.jsonl", row | {"annotations": [yes]}), "nq").short_answers == (("yes",),)


def test_nq_open_is_numbered_by_line(tmp_path: Path) -> None:
    path = lines(tmp_path / "NQ-open.dev.jsonl", {"question": "who", "answer": ["A", "B"]})
    assert only(path) == Example("nq-open-1", "who", (), (("A", "B"),))


def test_eli5_in_both_shapes(tmp_path: Path) -> None:
    outputs = [
        {"answer": "Heat.", "provenance": [{"wikipedia_id": "5", "title": "Heat"}]},
        {"answer": ""},
        {"answer": "Fire."},
    ]
    kilt = only(lines(tmp_path / "eli5-dev-kilt.jsonl", {"id": "a", "input": "Why?", "output": outputs}))
    assert (kilt.long_answers, kilt.pages, kilt.meta["pages"]) == (("Heat.", "Fire."), ("Heat",), ["5"])
    alce = only(whole(tmp_path / "eli5_eval.json", [{"question": "Why?", "answer": "Heat.", "claims": ["It is hot."]}]))
    assert (alce.id, alce.long_answers, alce.meta["claims"]) == ("0", ("Heat.",), ["It is hot."])


def test_qampari_with_proofs(tmp_path: Path) -> None:
    proof = {"proof_text": "Heat is a manga.", "found_in_title": "Heat"}
    answer = {"answer_text": "Heat", "aliases": ["Heat", "HEAT"], "proof": [proof]}
    row = {"qid": "1__simple__dev", "question_text": "Which manga?", "answer_list": [answer]}
    example = only(lines(tmp_path / "dev_data.jsonl", row))
    assert example.short_answers == (("Heat", "HEAT"),)
    assert example.passages == (GoldPassage("Heat", "Heat is a manga."),)
    assert example.meta == {"answers": ["Heat"], "type": "simple"}
    with pytest.raises(InputError, match=r"x\.jsonl:1: Item 1 has no gold answers"):
        only(lines(tmp_path / "x.jsonl", {"qid": "1", "question_text": "?", "answer_list": []}))


def test_convmix_first_question_and_follow_ups(tmp_path: Path) -> None:
    example = only(whole(tmp_path / "dev_set_ALL.json", [CONVERSATION]))
    assert example.id == "7"
    assert example.question == "Who wrote Dune?"
    assert example.short_answers == (("Frank Herbert",),)
    assert example.follow_ups == (FollowUp("7-1", "When was Dune published?", (("August 1965",), ("Yes",))),)
    assert example.meta["domain"] == "books"
    assert example.meta["turns"][1]["answers"] == ["1965-08-01T00:00:00Z", "yes"]
    other = {"conversation_id": "b", "questions": [TURN]}
    assert only(whole(tmp_path / "b.json", [other]), "convmix").id == "b"
    with pytest.raises(InputError, match="row 1, turn 0: the question has no answers"):
        only(whole(tmp_path / "c.json", [{"conv_id": 1, "questions": [TURN | {"answers": []}]}]), "convmix")


def test_rows_with_gold_passages_readings_and_follow_ups(tmp_path: Path) -> None:
    row = {
        "id": 7,
        "question": "Who sang?",
        "long_answer": "Ringo sang.",
        "answers": ["Ringo"],
        "passages": ["He sang.", {"title": "Song", "text": "It was Ringo.", "answer": 0}],
        "readings": [{"question": "Who sang first?", "short_answers": ["Ringo"]}],
        "follow_ups": [{"question": "When?", "short_answers": [["1966", "in 1966"]]}],
    }
    found = load_dataset(lines(tmp_path / "mine.jsonl", row)).examples[0]
    assert found.long_answers == ("Ringo sang.",) and found.short_answers == (("Ringo",),)
    assert found.passages == (GoldPassage("", "He sang."), GoldPassage("Song", "It was Ringo.", 0))
    assert found.readings == (Reading("Who sang first?", ("Ringo",)),)
    assert found.follow_ups == (FollowUp("7-1", "When?", (("1966", "in 1966"),)),)
    again = load_dataset(lines(tmp_path / "again.jsonl", found.to_json())).examples[0]
    assert again == found
    mapped = lines(tmp_path / "mapped.jsonl", {"ask": "Who?", "ctx": ["He."], "passages": 3})
    assert load_dataset(mapped, fields={"question": "ask", "passages": "ctx"}).examples[0].passages == (
        GoldPassage("", "He."),
    )


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"passages": 3}, "passages must be a list"),
        ({"passages": [3]}, "a gold passage: not a JSON object"),
        ({"passages": [{"title": "T"}]}, "a gold passage: there is no text"),
        ({"passages": [{"title": 3, "text": "t"}]}, "a gold passage: its title must be a string"),
        ({"passages": [{"text": "t", "answer": 1}]}, "its answer is the place of a long answer, from 0, or -1 for all"),
        ({"readings": ["Who?"]}, "a reading: not a JSON object"),
        ({"readings": [{"question": "Who?", "short_answers": "he"}]}, "a reading: short_answers must be a list"),
        ({"follow_ups": [{"short_answers": []}]}, "a follow-up: there is no question"),
        ({"passages": [], "id": ["x"]}, "there is no id, a string or a whole number"),
        ({"passages": [], "question": {"x": 1}}, "there is no question, a text with something in it"),
        ({"passages": [], "long_answers": [None, 3]}, "long_answers must be a list of strings"),
    ],
)
def test_rows_of_strange_gold(tmp_path: Path, more: dict[str, Any], message: str) -> None:
    path = lines(tmp_path / "mine.jsonl", {"question": "Who?", "long_answers": ["He."], **more})
    with pytest.raises(InputError) as caught:
        load_dataset(path)
    assert message in str(caught.value)
    assert "mine.jsonl:1" in str(caught.value)


def test_rows_by_a_map_of_fields(tmp_path: Path) -> None:
    path = lines(tmp_path / "mine.jsonl", {"ask": "Who?", "gold": {"text": "Ringo did it."}, "n": 3})
    example = only(path, fields={"question": "ask", "long_answers": "gold.text", "id": "n"})
    assert example == Example("3", "Who?", ("Ringo did it.",))
    with pytest.raises(InputError, match=r"there is no field gold\.nothing, which was to be the long_answers"):
        only(path, fields={"question": "ask", "long_answers": "gold.nothing"})
    with pytest.raises(InputError, match="there is no question: name its field with question=…"):
        only(path)
    with pytest.raises(InputError, match="An example has no answer to fill from a field"):
        only(path, fields={"answer": "gold"})
    with pytest.raises(InputError, match="asqa has a shape of its own"):
        load_dataset("asqa", fields={"question": "ask"}, file=path)


TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8).filter(str.strip)
NAMES = st.lists(TEXT, min_size=1, max_size=3).map(tuple)


@settings(deadline=None, max_examples=40)
@given(
    st.builds(
        Example,
        TEXT,
        TEXT,
        st.lists(TEXT, max_size=2).map(tuple),
        st.lists(NAMES, max_size=2).map(tuple),
        st.lists(TEXT, max_size=2).map(tuple),
        st.lists(st.builds(Reading, TEXT, NAMES), max_size=2).map(tuple),
        st.lists(st.builds(FollowUp, TEXT, TEXT, st.lists(NAMES, max_size=2).map(tuple)), max_size=2).map(tuple),
        st.lists(st.builds(GoldPassage, TEXT, TEXT, st.integers(-1, 3)), max_size=2).map(tuple),
    )
)
def test_an_example_survives_json(example: Example) -> None:
    assert Example.from_json(json.loads(json.dumps(example.to_json()))) == example


@pytest.mark.parametrize("name", list(CATALOGUE))
def test_a_missing_file_says_where_it_comes_from(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LONGFORM_DATA", "elsewhere")
    source = CATALOGUE[name]
    with pytest.raises(InputError) as caught:
        load_dataset(name)
    message = str(caught.value)
    assert f"its owners publish it at {source.owner}" in message
    assert str(Path("elsewhere") / source.files[source.default][0]) in message
    assert str(Path("data") / source.files[source.default][0]) in message
    assert "--file" in message


def test_files_are_found_in_the_data_folder_compressed_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LONGFORM_DATA", raising=False)
    (tmp_path / "data" / "nq").mkdir(parents=True)
    for number in range(2):
        row = nq_row(document_text="a b c d e", document_url="") | {"example_id": number}
        lines(tmp_path / "data" / "nq" / f"nq-dev-0{number}.jsonl.gz", row)
    found = load_dataset("nq")
    assert [example.id for example in found] == ["0", "1"]
    assert len(found.files) == 2
    assert len(found.sha256) == 64


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("asqaa", {}, "asqaa is neither a file nor a dataset that Longform knows: did you mean asqa?"),
        ("asqa", {"split": "gold"}, "asqa has no split gold: it has dev, train"),
        ("asqa", {"file": "no.json"}, "no.json does not exist"),
        ("rows", {}, "The dataset rows is any file of JSON rows: name it with --file"),
        ("no.jsonl", {}, "no.jsonl does not exist"),
    ],
)
def test_what_cannot_be_meant(name: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as caught:
        load_dataset(name, **options)
    assert message in str(caught.value)


def test_broken_files(tmp_path: Path) -> None:
    row = {"id": 1, "question": "Who?"}
    with pytest.raises(InputError, match="the question id '1' occurs twice"):
        load_dataset(lines(tmp_path / "twice.jsonl", row, row))
    (tmp_path / "cut.jsonl").write_text('{"id": 1, "ques')
    with pytest.raises(InputError, match=r"cut\.jsonl:1: broken JSON"):
        load_dataset(str(tmp_path / "cut.jsonl"))
    (tmp_path / "empty.jsonl").write_text("")
    with pytest.raises(InputError, match="is empty"):
        load_dataset(str(tmp_path / "empty.jsonl"))
    (tmp_path / "ASQA.json").write_text('{"dev": ')
    with pytest.raises(InputError, match=r"broken JSON .* fetch the file again"):
        load_dataset("asqa", file=tmp_path / "ASQA.json")


def test_ids_and_limit(tmp_path: Path) -> None:
    path = lines(tmp_path / "q.jsonl", *({"id": number, "question": "Who?"} for number in range(5)))
    found = load_dataset(path, ids=["3", "1", "4"], limit=2)
    assert ([example.id for example in found], found.all) == (["1", "3"], 5)
    with pytest.raises(InputError, match="has no question 'x', and 1 of 2 wanted ids"):
        load_dataset(path, ids=["x", "1"])
    with pytest.raises(InputError, match="A limit of 0 leaves no question"):
        load_dataset(path, limit=0)


def test_describe_counts(tmp_path: Path) -> None:
    facts = describe(load_dataset(whole(tmp_path / "d.json", [CONVERSATION])))
    assert facts["counts"]["follow-up questions"] == 1
    assert facts["kinds"] == {"books": 1}
    assert facts["published"] == 560
    assert facts["statistics"]["words in a question"] == {"mean": 3, "median": 3, "least": 3, "most": 3}
    assert "readings" not in facts["counts"]


@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "split", "counts"),
    [
        ("asqa", "dev", {"questions": 948, "long answers": 1896, "readings": 3184}),
        ("ambignq", "dev", {"questions": 2002, "with several readings": 1172}),
        ("ambignq", "train", {"questions": 10_036}),
        ("nq-open", "dev", {"questions": 3610}),
        ("nq", "train", {"questions": 3}),
        ("eli5-alce", "eval", {"questions": 1000, "long answers": 1000}),
        ("qampari", "dev", {"questions": 1000, "short answers": 14_434}),
    ],
)
def test_the_official_files(
    shared: Path, monkeypatch: pytest.MonkeyPatch, name: str, split: str, counts: dict[str, int]
) -> None:
    monkeypatch.setenv("LONGFORM_DATA", str(shared / "data"))
    found = describe(load_dataset(name, split=split))["counts"]
    assert {key: found[key] for key in counts} == counts
