"""Systems: what each says, what each needs, and the two rows of ASQA's table that need no model."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from longform import Index, InputError, read
from longform.data import Example, GoldPassage, load_dataset
from longform.study.items import item_row
from longform.study.scores import score_rows
from longform.study.systems import KINDS, Outcome, SystemSpec, Tools

EXAMPLES = Path(__file__).parents[2] / "examples"
TRAIN = {"name": "asqa", "file": str(EXAMPLES / "questions.json"), "split": "dev"}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("systems") / "examples.index"
    Index.create(folder, read(str(EXAMPLES / "pages")))
    return str(folder)


@pytest.fixture(scope="module")
def tools() -> Tools:
    return Tools(seed=1)


@pytest.fixture(scope="module")
def asked() -> tuple[Example, ...]:
    return load_dataset("asqa", file=EXAMPLES / "questions.json", limit=3).examples


def opened(value: Any, tools: Tools, task: str = "asqa", **defaults: Any) -> Any:
    return SystemSpec.parse(value, defaults, Path()).open(tools, task)


def said(outcome: Outcome) -> str:
    assert len(outcome.answers) == 1
    return outcome.answers[0].text


def test_the_question_eight_times(tools: Tools, asked: tuple[Example, ...]) -> None:
    assert said(opened("question", tools).answer(asked[0])) == " ".join([asked[0].question] * 8)
    five = SystemSpec.parse({"kind": "question", "times": 5}, {}, Path())
    assert five.name == "question-x5"


def test_a_random_answer_depends_on_seed_and_id_alone(tools: Tools, asked: tuple[Example, ...]) -> None:
    first, again = (opened("random-answer", Tools(seed=1), train=TRAIN) for _ in range(2))
    assert [said(first.answer(one)) for one in asked] == [said(again.answer(one)) for one in reversed(asked)][::-1]
    others = [said(opened("random-answer", Tools(seed=seed), train=TRAIN).answer(asked[0])) for seed in range(5)]
    assert len(set(others)) > 1
    longest = opened({"kind": "random-answer", "choose": "longest"}, tools, train=TRAIN).answer(asked[0])
    source = {example.id: example for example in load_dataset(**TRAIN)}[longest.note["training"][0]]
    assert said(longest) == max(source.long_answers, key=lambda text: len(text.split()))


def test_passages_as_answers(tools: Tools, asked: tuple[Example, ...], index: str) -> None:
    one, five = (opened(f"bm25@{k}", tools, index=index).answer(asked[0]) for k in (1, 5))
    assert said(one) == one.passages[0].text
    assert said(five) == " ".join(passage.text for passage in five.passages)
    assert len(five.passages) == 5
    assert len(one.ranking) > 20
    row = item_row(asked[0], five, 1.0)
    assert row["ranks"].keys() == {"answer", "page"}
    assert len(row["ranks"]["answer"]) == len(asked[0].short_answers)
    assert row["ranking"][:5] == [passage.id for passage in five.passages]
    assert row["seconds"].keys() == {"search", "total"}


def test_re_ranked_diverse_and_extractive(tools: Tools, asked: tuple[Example, ...], index: str) -> None:
    settings = {"depth": 6, "k": 2}
    reranked = opened({"kind": "reranked", **settings}, tools, index=index).answer(asked[0])
    diverse = opened({"kind": "diverse", "pool": 3, **settings}, tools, index=index).answer(asked[0])
    assert {passage.id for passage in diverse.ranking} == {passage.id for passage in reranked.ranking}
    assert diverse.ranking[0] == reranked.ranking[0]
    extractive = opened({"kind": "extractive", "pool": 6, "k": 3}, tools, index=index).answer(asked[0])
    assert extractive.answers[0].cited != said(extractive)
    assert "[1]" not in said(extractive)
    assert len(extractive.passages) == 3
    assert extractive.seconds.keys() == {"search", "rerank", "answer"}


def test_random_passages_are_drawn_by_seed_and_id(asked: tuple[Example, ...], index: str) -> None:
    spec = {"kind": "extractive", "given": "random", "k": 3, "reader": "none"}
    tools = Tools(seed=1)
    first, again = (opened(spec, tools, index=index).answer(asked[0]) for _ in range(2))
    assert [one.id for one in first.passages] == [one.id for one in again.passages]
    assert len({one.id for one in first.passages}) == 3


def test_oracle_sees_one_annotator_and_is_compared_with_the_other(tools: Tools) -> None:
    notes = (
        GoldPassage("T", "Ringo Starr drummed.", 0),
        GoldPassage("T", "Paul sang too.", 1),
        GoldPassage("T", "All."),
    )
    example = Example("1", "Who drummed?", ("Ringo.", "Ringo Starr did."), passages=notes)
    outcome = opened({"kind": "oracle", "reader": "none"}, tools).answer(example)
    assert outcome.answers[0].references == (0,)
    assert [passage.text for passage in outcome.passages] == ["Paul sang too.", "All."]


def test_oracle_by_silver_passages(tools: Tools, asked: tuple[Example, ...], index: str) -> None:
    spec = {"kind": "oracle", "passages": "silver", "k": 4, "disambiguations": False, "reader": "none"}
    outcome = opened(spec, tools, index=index).answer(asked[0])
    assert len(outcome.passages) == 4
    assert all(passage.id in Index.open(index) for passage in outcome.passages)


def test_people_against_each_other(tools: Tools) -> None:
    example = Example("1", "Who?", ("Ringo did it.", "Ringo.", "It was Ringo, who did it."))
    human = opened("human", tools).answer(example)
    assert [answer.references for answer in human.answers] == [(1, 2), (0, 2), (0, 1)]
    longest = opened("gold", tools).answer(example)
    assert (said(longest), longest.answers[0].references) == (example.long_answers[2], (0, 1))
    best = opened({"kind": "gold", "choose": "best"}, tools, "kilt").answer(example)
    assert best.answers[0].references is not None


@pytest.mark.parametrize("by", ["bm25", "embedding"])
def test_the_answers_to_the_nearest_training_questions(tools: Tools, by: str, tmp_path: Path) -> None:
    rows = [
        {"id": "tea", "question": "Why is tea hot?", "long_answers": ["It is boiled.", "Water is boiled to make it."]},
        {"id": "milk", "question": "Who gives us milk?", "long_answer": "Cows give milk."},
        {"id": "same", "question": "Why is the tea so hot?", "long_answer": "Never to be found by itself."},
    ]
    (tmp_path / "train.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    example = Example("same", "Why is the tea so hot?", ("It is boiled.",))
    spec = {"kind": "training-answer", "by": by, "train": str(tmp_path / "train.jsonl")}
    longest = opened({**spec, "k": 1}, tools).answer(example)
    assert longest.note["training"] == ["tea"]
    assert said(longest) == "Water is boiled to make it."
    best = opened({**spec, "k": 7, "choose": "best"}, tools).answer(example)
    assert said(best) == "It is boiled."


def test_what_is_kept_of_training_questions_is_used_again(tmp_path: Path) -> None:
    (tmp_path / "train.jsonl").write_text('{"id": "a", "question": "Why tea?", "long_answer": "So."}\n')
    spec = {"kind": "training-answer", "by": "bm25", "train": str(tmp_path / "train.jsonl")}
    for _ in range(2):
        tools = Tools(cache=tmp_path / "cache")
        assert said(opened(spec, tools).answer(Example("1", "Which tea?"))) == "So."
    assert len(list((tmp_path / "cache").glob("*.index"))) == 1


def test_stored_answers(tools: Tools, tmp_path: Path) -> None:
    row = {"id": "1", "answer": "Ringo [1].", "passages": [{"title": "T", "text": "Ringo."}]}
    (tmp_path / "a.jsonl").write_text(json.dumps(row))
    outcome = opened({"kind": "stored", "file": str(tmp_path / "a.jsonl")}, tools).answer(Example("1", "Who?"))
    assert (said(outcome), outcome.answers[0].cited, outcome.passages[0].title) == ("Ringo.", "Ringo [1].", "T")
    (tmp_path / "b.json").write_text('{"1": "Ringo."}')
    stored = opened({"kind": "stored", "file": str(tmp_path / "b.json")}, tools)
    assert said(stored.answer(Example("1", "Who?"))) == "Ringo."
    with pytest.raises(InputError, match="has no answer to the question 2"):
        stored.answer(Example("2", "Who?"))


def test_a_random_answer_is_that_of_another_question(tools: Tools, tmp_path: Path) -> None:
    rows = [{"id": str(n), "question": "Who?", "long_answers": [f"Answer {n}."]} for n in range(3)]
    (tmp_path / "train.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    drawn = opened({"kind": "random-answer", "train": str(tmp_path / "train.jsonl")}, tools)
    for n in range(3):
        assert said(drawn.answer(Example(str(n), "Who?"))) != f"Answer {n}."


class Endpoint(BaseHTTPRequestHandler):
    """A chat endpoint that says the same to everybody, and remembers what it was asked."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        server: Any = self.server
        server.asked.append(body["messages"][-1]["content"])
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        chunk = {"choices": [{"index": 0, "delta": {"content": "Charles X was king [1]."}, "finish_reason": "stop"}]}
        self.wfile.write(f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n".encode())

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def endpoint() -> Iterator[Any]:
    server: Any = ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
    server.asked = []
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()


def test_open_and_closed_book(endpoint: Any, asked: tuple[Example, ...], index: str) -> None:
    model = f"openai:small@http://127.0.0.1:{endpoint.server_address[1]}/v1"
    tools = Tools()
    for k in (1, 3):
        spec = {"kind": "open-book", "k": k, "rerank": "none", "mode": "bm25"}
        outcome = opened(spec, tools, index=index, model=model).answer(asked[0])
        assert said(outcome) == "Charles X was king."
        assert outcome.answers[0].cited == "Charles X was king [1]."
        assert len(outcome.passages) == k
        assert endpoint.asked[-1].count("</passage") == k
    closed = opened("closed-book", tools, model=model).answer(asked[0])
    assert said(closed) == "Charles X was king."
    assert asked[0].question in endpoint.asked[-1]
    assert "passage" not in endpoint.asked[-1]
    assert closed.model.startswith("openai:small")


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("bm52@5", "There is no kind of system bm52: did you mean bm25?"),
        ("bm25@five", "bm25@five names no system: behind the @ stands how many passages"),
        ("human@2", "human@2 names no system: a human has no k"),
        ("bm25", "The system bm25: it needs an index: set index to its folder."),
        ("open-book", "it needs an index"),
        ("closed-book", "it needs a language model: set model"),
        ("random-answer", "it needs training questions: set train"),
        ("training-answer", "it needs training questions"),
        ("stored", "it needs a file of answers"),
        ({"kind": "oracle", "passages": "silver"}, "silver passages come from an index"),
        ({"kind": "question", "time": 8}, "has no setting time: a question has times"),
        ({"kind": "question", "times": "8"}, "The setting times of the system question is a whole number, not '8'."),
        ({"kind": "question", "times": 0}, "times must be at least 1, and 0 is not"),
        ({"kind": "question", "name": "a/b"}, "cannot be that of a folder"),
        ({"kind": "gold", "choose": "any"}, "choose is one of longest, best, not 'any'"),
        (7, "A system is a kind"),
    ],
)
def test_what_cannot_be_meant(value: Any, message: str) -> None:
    with pytest.raises(InputError) as caught:
        SystemSpec.parse(value, {}, Path())
    assert message in str(caught.value)


def test_identity_is_by_what_files_hold(tmp_path: Path) -> None:
    for name in ("a.jsonl", "b.jsonl"):
        (tmp_path / name).write_text('{"id": "1", "question": "Who?", "long_answer": "He."}\n')
    one, two = (
        SystemSpec.parse({"kind": "random-answer", "train": str(tmp_path / name)}, {}, Path()).identity(Tools())
        for name in ("a.jsonl", "b.jsonl")
    )
    assert one == two
    (tmp_path / "b.jsonl").write_text('{"id": "1", "question": "Who?", "long_answer": "She."}\n')
    changed = SystemSpec.parse({"kind": "random-answer", "train": str(tmp_path / "b.jsonl")}, {}, Path())
    assert changed.identity(Tools()) != one


def test_every_kind_says_which_row_it_makes() -> None:
    assert all(kind.row and kind.__doc__ for kind in KINDS.values())


@pytest.mark.shared
def test_the_rows_of_asqas_table_that_need_no_model(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NLTK_DATA", str(shared / "nltk_data"))
    dataset = load_dataset("asqa", file=shared / "data" / "asqa" / "ASQA.json", split="dev")
    tools, found = Tools(), {}
    for kind in ("question", "human"):
        system = opened(kind, tools)
        rows = {one.id: item_row(one, system.answer(one), 0.0) for one in dataset}
        found[kind] = score_rows(dataset.examples, rows, "asqa", sentences="punkt")
        assert found[kind].n == 948
    question, human = found["question"].scores, found["human"].scores
    assert (round(question["length"], 1), round(question["str_em"], 1)) == (71.6, 1.2)
    assert [round(human[name], 1) for name in ("rougeLsum", "str_em", "length")] == [49.4, 98.4, 64.8]
