"""The control experiment over models that use their passages and models that do not."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from longform import Index, InputError, read
from longform.audit.control import CHECK, Evidence, audit_control
from longform.audit.control_runs import control_siblings
from longform.audit.everything import audit_run
from longform.audit.finding import Verdict
from longform.cli.audit.control import command
from longform.score.statistics import Comparison
from longform.study.config import read_study
from longform.study.grid import run_study
from longform.study.runs import Run, find_runs

EXAMPLES = Path(__file__).parents[2] / "examples"
QUESTIONS = EXAMPLES / "questions.json"


class Endpoint(BaseHTTPRequestHandler):
    """A chat endpoint: the model "reads" says what its passages say, "recites" the same whatever they are."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        server: Any = self.server
        asked = body["messages"][-1]["content"]
        server.count += 1
        time.sleep(server.pause)
        passages = re.findall(r"<passage[^>]*>(.*?)</passage", asked, re.S)
        said = " ".join(passages) if body["model"] == "reads" else "The king of France won the first world cup in 1930."
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        chunk = {"choices": [{"index": 0, "delta": {"content": said}, "finish_reason": "stop"}]}
        self.wfile.write(f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n".encode())

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture(scope="module")
def endpoint() -> Iterator[Any]:
    server: Any = ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
    server.count, server.pause = 0, 0.0
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("control") / "examples.index"
    Index.create(folder, read(str(EXAMPLES / "pages")))
    return str(folder)


def arguments(endpoint: Any, index: str, model: str, work: Path, limit: int = 24) -> list[str]:
    where = f"openai:{model}@http://127.0.0.1:{endpoint.server_address[1]}/v1"
    return [
        *(index, "--dataset", str(QUESTIONS), "--limit", str(limit), "--system", "open-book", "--model", where),
        *("-k", "2", "--rerank", "none", "--mode", "bm25", "--work", str(work), "--resamples", "400"),
    ]


def call(*given: object) -> Result:
    return CliRunner().invoke(command, [str(one) for one in given], catch_exceptions=False)


@pytest.fixture(scope="module")
def reading(endpoint: Any, index: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The runs of a model that uses its passages."""
    work = tmp_path_factory.mktemp("reading")
    assert call(*arguments(endpoint, index, "reads", work)).exit_code == 0
    return work


def runs_in(work: Path) -> dict[str, Run]:
    return {run.system: run for run in find_runs(work)}


def test_a_model_that_reads_is_fine(endpoint: Any, index: str, reading: Path, tmp_path: Path) -> None:
    before = endpoint.count
    page = tmp_path / "page.md"
    result = call(*arguments(endpoint, index, "reads", reading), "-o", page, "--json")
    assert endpoint.count == before, "what is there is not asked for again"
    told = json.loads(result.stdout)
    finding = told["findings"][0]
    assert finding["verdict"] == "fine", finding["words"]
    assert finding["words"].startswith("Yes: STR-EM is ")
    numbers = finding["numbers"]
    assert numbers["questions"] == 24
    score = numbers["scores"]["str_em"]
    assert score["first"] > score["second"] + 20
    assert 0 < score["p"] <= score["holm"] < 0.05
    assert numbers["scores_against_gold"]["questions"] == 24
    overlap = numbers["overlap"]
    assert overlap["found answers in found passages"]["2-gram"] > 90
    assert overlap["found answers in found passages"]["1-gram"] > overlap["found answers in random passages"]["1-gram"]
    assert overlap["random answers in random passages"]["2-gram"] > 90
    assert "people answers in found passages" in overlap
    text = page.read_text()
    assert "# Control: open-book@2 on questions" in text
    assert "**Fine.** Yes" in text
    assert "Spearman's ρ" in text
    for name, digest in told["hashes"].items():
        assert f"| {name} | {digest} |" in text
    assert set(told["hashes"]) == {
        "questions.json",
        "passages found (items.jsonl)",
        "random passages (items.jsonl)",
        "gold passages (items.jsonl)",
    }
    kept = json.loads((reading / "questions" / "open-book@2" / "findings.json").read_text())
    assert kept["findings"][0]["tables"][0]["title"] == "Scores"


def test_a_model_that_recites_is_a_concern(endpoint: Any, index: str, tmp_path: Path) -> None:
    result = call(*arguments(endpoint, index, "recites", tmp_path))
    assert "Does it use what it retrieves?  concern" in result.stdout
    assert "There is no sign that it does: " in result.stdout
    assert "The runs are in " in result.stdout


def test_few_questions_do_not_tell(endpoint: Any, index: str, tmp_path: Path) -> None:
    result = call(*arguments(endpoint, index, "recites", tmp_path, limit=3), "--json")
    finding = json.loads(result.stdout)["findings"][0]
    assert finding["verdict"] == "unknown"
    assert finding["words"].startswith("These 3 questions do not tell: ")


def test_from_runs_that_are_there(reading: Path) -> None:
    runs = runs_in(reading)
    found, random, gold = (runs[f"open-book@2{suffix}"] for suffix in ("", "-random", "-gold"))
    assert control_siblings(found) == (random, gold)
    assert control_siblings(random) == (None, None)
    result = call("--run", found.folder, "--run-random", random.folder, "--resamples", 400, "--json")
    finding = json.loads(result.stdout)["findings"][0]
    assert finding["verdict"] == "fine"
    assert finding["numbers"]["scores_against_gold"] is None
    with_gold = audit_control(found, random, gold, resamples=100)
    assert with_gold.numbers["scores_against_gold"]["questions"] == 24


@pytest.mark.slow
def test_audit_all_finds_the_runs_beside(reading: Path) -> None:
    runs = runs_in(reading)
    found = audit_run(runs["open-book@2"], resamples=400)[0]
    assert found.check == CHECK
    assert found.verdict is Verdict.FINE
    assert found.numbers["scores_against_gold"]["questions"] == 24
    random = audit_run(runs["open-book@2-random"], resamples=50)[0]
    assert random.words == (
        "It does not apply: this run is given random passages: audit the run with those that it finds."
    )


def test_runs_in_the_wrong_role_are_named(reading: Path) -> None:
    runs = runs_in(reading)
    found, random = runs["open-book@2"], runs["open-book@2-random"]
    with pytest.raises(InputError, match=r"--run takes a run with given = .found., and .* is one with random passages"):
        audit_control(random, found)
    with pytest.raises(InputError, match=r"--run-gold takes a run with given = .gold., and .* with found passages"):
        audit_control(found, random, found)


def test_other_systems_are_no_control(reading: Path) -> None:
    runs = runs_in(reading)
    found, random = runs["open-book@2"], runs["open-book@2-random"]
    other = replace(
        random,
        record={
            **random.record,
            "identity": {
                **random.record["identity"],
                "system": {**random.record["identity"]["system"], "words": 3},
            },
        },
    )
    with pytest.raises(InputError, match=r"differ in words, and not in their passages alone"):
        audit_control(found, other)
    bare = {"kind": "bm25", "k": 2}
    other = replace(random, record={**random.record, "identity": {**random.record["identity"], "system": bare}})
    with pytest.raises(InputError, match=r"--run-random takes a run with given = .random., and .* no setting given"):
        audit_control(found, other)


def study(folder: Path, text: str) -> dict[str, Run]:
    (folder / "study.toml").write_text(text)
    run_study(read_study(folder / "study.toml"))
    return runs_in(folder / "runs")


def stored(folder: Path, name: str, rows: dict[str, tuple[str, str]]) -> None:
    lines = [
        {"id": identifier, "answer": answer, "passages": [{"title": "", "text": text}] if text else []}
        for identifier, (answer, text) in rows.items()
    ]
    (folder / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


@pytest.fixture
def published(tmp_path: Path) -> dict[str, Run]:
    """Answers that others have stored: with passages found, without, and over other questions."""
    things = [f"thing{place}" for place in range(30)]
    for label, kept in (("q", things), ("other", things[:5])):
        rows = [
            {"id": one, "question": f"What is {one}?", "long_answers": [f"A {one} is a kettle{one}."]} for one in kept
        ]
        (tmp_path / f"{label}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    good = {one: (f"A {one} is a kettle{one}.", f"The {one}: kettle{one}.") for one in things}
    stored(tmp_path, "found", good)
    stored(tmp_path, "random", dict.fromkeys(things, ("A spoon is a fork.", "")))
    stored(tmp_path, "bare", {one: (answer, "") for one, (answer, _) in good.items()})
    return study(
        tmp_path,
        """
        datasets = [{ file = "q.jsonl" }, { file = "other.jsonl" }]
        systems = [
            { kind = "stored", file = "found.jsonl", name = "found", datasets = ["q"] },
            { kind = "stored", file = "random.jsonl", name = "random", datasets = ["q"] },
            { kind = "stored", file = "bare.jsonl", name = "bare", datasets = ["q"] },
            { kind = "question", name = "elsewhere", datasets = ["other"] },
        ]
        [scores]
        resamples = 100
        """,
    )


def test_stored_answers_of_anybody(published: dict[str, Run]) -> None:
    finding = audit_control(published["found"], published["random"], resamples=300)
    assert finding.verdict is Verdict.FINE
    assert "the floor are passages of other questions" in finding.notes[0]
    # Of thing7 and kettlething7 one is asked for, the other stands in the passage.
    overlap = finding.numbers["overlap"]["found answers in found passages"]
    assert overlap["telling"] == pytest.approx(50.0)
    assert overlap["in question"] == pytest.approx(50.0)
    assert finding.numbers["overlap"]["found answers in random passages"]["telling"] == 0.0


def test_answers_that_are_no_better_for_their_passages(published: dict[str, Run]) -> None:
    finding = audit_control(published["found"], published["bare"], resamples=300)
    assert finding.verdict is Verdict.CONCERN
    assert "There is no sign that it does" in finding.words


def test_runs_that_cannot_be_compared(published: dict[str, Run]) -> None:
    with pytest.raises(InputError, match="are over other questions: a control asks the same ones"):
        audit_control(published["found"], published["elsewhere"])
    with pytest.raises(InputError, match="keeps no passages, so there is nothing that its answers could draw on"):
        audit_control(published["bare"], published["random"])
    scores = published["random"].folder / "scores" / "scores.json"
    before = scores.read_text()
    scores.write_text(before.replace('"sentences": "own"', '"sentences": "punkt"'))
    with pytest.raises(InputError, match=r"are scored with other sentences \(own and punkt\): score them alike"):
        audit_control(published["found"], Run.open(published["random"].folder))
    scores.write_text(before)
    items = published["random"].folder / "items.jsonl"
    items.write_bytes(b"".join(items.read_bytes().splitlines(keepends=True)[:-1]))
    with pytest.raises(InputError, match=r"is not finished, 29 of 30 items are there: start its study again"):
        audit_control(published["found"], Run.open(published["random"].folder))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([], "A control needs an INDEX; or --run and --run-random"),
        (["my.index"], "A control needs --dataset"),
        (["my.index", "--dataset", "asqa"], "A control needs --work"),
        (["--run", "a"], "name both --run and --run-random"),
        (["my.index", "--run", "a", "--run-random", "b"], "leave them out"),
        (["my.index", "--dataset", "asqa", "--work", "w", "--model", "gguf:x"], "--model is for --system open-book"),
        (["--run", "a", "--run-random", "b"], "a is no run"),
    ],
)
def test_what_is_missing_is_named(given: list[str], message: str) -> None:
    with pytest.raises(InputError) as caught:
        call(*given)
    assert message in str(caught.value)


def test_a_dataset_without_gold_passages_says_so(endpoint: Any, index: str, tmp_path: Path) -> None:
    rows = [{"id": str(n), "question": f"Who was king {n}?", "long_answers": ["Charles X was."]} for n in range(3)]
    (tmp_path / "mine.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    given = arguments(endpoint, index, "reads", tmp_path / "work")
    given[given.index("--dataset") + 1] = str(tmp_path / "mine.jsonl")
    finding = json.loads(call(*given, "--json").stdout)["findings"][0]
    assert finding["notes"] == ["The dataset has no gold passages, so there is no run from gold ones."]
    assert finding["numbers"]["scores_against_gold"] is None


def test_gold_over_some_of_the_questions(endpoint: Any, index: str, tmp_path: Path) -> None:
    items = json.loads(QUESTIONS.read_text())["dev"]
    kept = dict(list(items.items())[:6])
    first = next(iter(kept.values()))
    for part in (*first["qa_pairs"], *first["annotations"]):
        part.pop("context", None)
        part.pop("knowledge", None)
    (tmp_path / "some.json").write_text(json.dumps({"dev": kept}))
    given = arguments(endpoint, index, "reads", tmp_path / "work")
    given[given.index("--dataset") + 1] = str(tmp_path / "some.json")
    finding = json.loads(call(*given, "--json").stdout)["findings"][0]
    assert finding["notes"] == ["5 of 6 questions have gold passages: the run from gold ones is over these."]
    assert finding["numbers"]["scores_against_gold"]["questions"] == 5
    found = runs_in(tmp_path / "work")["open-book@2"]
    random, gold = control_siblings(found)
    assert random is not None
    assert gold is not None
    assert len(gold.rows) == 5


@pytest.mark.slow
def test_killed_it_goes_on(endpoint: Any, index: str, tmp_path: Path) -> None:
    given = ["audit", "control", *arguments(endpoint, index, "reads", tmp_path, limit=8)]
    start = [sys.executable, "-c", "from longform.cli import main; main()", *given]
    before, endpoint.pause = endpoint.count, 0.05
    child = subprocess.Popen(start, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    while child.poll() is None and endpoint.count - before < 11:
        time.sleep(0.005)
    os.killpg(child.pid, signal.SIGKILL)
    child.wait()
    endpoint.pause = 0.0
    done = sum(path.read_bytes().count(b"\n") for path in tmp_path.glob("*/*/items.jsonl"))
    assert 8 <= done < 24
    made = endpoint.count
    assert call(*given[2:]).exit_code == 0
    # What was being asked when it was killed is asked again.
    assert endpoint.count - made == 24 - done


def test_evidence_is_there_ruled_out_or_neither() -> None:
    def judge(difference: float, low: float, high: float, p: float, n: int = 100) -> bool | None:
        return Evidence.judge(Comparison(50.0, 50.0 - difference, difference, low, high, p, p), 5.0, n).shown

    assert judge(10, 8, 12, 0.001) is True
    assert judge(10, 8, 12, 0.20) is None
    assert judge(1, 0.5, 2, 0.001) is False, "sure, but too small to matter"
    assert judge(1, 0.5, 2, 0.001, n=5) is None
    assert judge(3, -4, 10, 0.4) is None
