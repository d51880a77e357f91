"""A study over a grid: killed at random moments it ends with the very bytes of one that never was."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from longform import Index, InputError, read
from longform.cli.study.run import command
from longform.data import Example, FollowUp, Reading
from longform.errors import FailureError
from longform.study.config import read_study
from longform.study.grid import plan, run_study
from longform.study.runs import Run
from longform.study.scores import score_rows

EXAMPLES = Path(__file__).parents[2] / "examples"

STUDY = f"""
index = "examples.index"
train = {{ name = "asqa", file = "{EXAMPLES / "questions.json"}", split = "dev" }}
datasets = [
    {{ name = "asqa", file = "{EXAMPLES / "questions.json"}" }},
    {{ file = "mine.jsonl" }},
]
systems = [
    "question",
    "random-answer",
    "bm25@1",
    {{ kind = "bm25", k = 5, name = "five" }},
    "human",
    {{ kind = "training-answer", k = 7, by = "bm25" }},
]
[scores]
resamples = 200
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("grid")
    Index.create(folder / "examples.index", read(str(EXAMPLES / "pages")))
    items = json.loads((EXAMPLES / "questions.json").read_text())["dev"]
    with (folder / "mine.jsonl").open("w") as file:
        for identifier, item in items.items():
            row = {
                "id": identifier,
                "question": item["ambiguous_question"],
                "long_answers": [note["long_answer"] for note in item["annotations"]],
                "short_answers": [pair["short_answers"] for pair in item["qa_pairs"]],
            }
            file.write(json.dumps(row) + "\n")
    (folder / "study.toml").write_text(STUDY)
    return folder


def scores_in(folder: Path) -> dict[str, bytes]:
    """The bytes of every score, by run."""
    files = [*folder.glob("*/*/scores/scores.json"), *folder.glob("*/*/scores/items.jsonl")]
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def start(study: Path, output: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", "from longform.cli import main; main()", "study", "run", str(study), "-o", str(output)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def items_in(folder: Path) -> int:
    return sum(path.read_bytes().count(b"\n") for path in folder.glob("*/*/items.jsonl"))


@pytest.mark.slow
def test_killed_at_random_moments_the_scores_are_the_same(place: Path, tmp_path: Path, long_form: bool) -> None:
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    run_study(read_study(place / "study.toml", whole))
    expected, total = scores_in(whole), items_in(whole)
    assert len(expected) == 24, "6 systems on 2 datasets, two files each"
    chance = random.Random(0)
    kills = 10 if long_form else 3
    # A random item before which to kill: kills by the clock would all miss the work on a fast machine.
    moments = sorted(chance.sample(range(total), kills))
    landed = 0
    for moment in moments:
        child = start(place / "study.toml", killed)
        while child.poll() is None and items_in(killed) < moment:
            time.sleep(0.001)
        time.sleep(chance.uniform(0, 0.01))
        if child.poll() is None:
            os.killpg(child.pid, signal.SIGKILL)
            landed += 1
        _, errors = child.communicate()
        assert child.returncode in (0, -signal.SIGKILL), errors.decode()
        for path in killed.glob("*/*/items.jsonl"):
            ids = [json.loads(line)["id"] for line in path.read_bytes().split(b"\n")[:-1]]
            assert len(ids) == len(set(ids)), "nothing is done twice"
    assert landed >= kills - 1
    before = {path: path.read_bytes().rpartition(b"\n")[0] for path in killed.glob("*/*/items.jsonl")}
    child = start(place / "study.toml", killed)
    _, errors = child.communicate()
    assert child.returncode == 0, errors.decode()
    assert all(path.read_bytes().startswith(kept) for path, kept in before.items()), "nothing is lost"
    assert items_in(killed) == total
    assert scores_in(killed) == expected


@pytest.mark.slow
def test_two_processes_share_a_grid(place: Path, tmp_path: Path) -> None:
    alone, together = tmp_path / "alone", tmp_path / "together"
    run_study(read_study(place / "study.toml", alone))
    children = [start(place / "study.toml", together) for _ in range(2)]
    for child in children:
        _, errors = child.communicate()
        assert child.returncode == 0, errors.decode()
    assert scores_in(together) == scores_in(alone)
    for path in together.glob("*/*/items.jsonl"):
        ids = [json.loads(line)["id"] for line in path.read_bytes().splitlines()]
        assert len(ids) == len(set(ids)) == 48


def small(folder: Path, text: str) -> Path:
    (folder / "q.jsonl").write_text(
        '{"id": "a", "question": "Who?", "long_answers": ["Ringo did.", "It was Ringo."], "short_answers": ["Ringo"]}\n'
        '{"id": "b", "question": "Why?", "long_answers": ["For tea.", "Tea."], "short_answers": ["tea"]}\n'
    )
    path = folder / "small.toml"
    path.write_text(text)
    return path


def test_a_study_is_made_once_and_scored_anew_when_scoring_changes(tmp_path: Path) -> None:
    path = small(tmp_path, 'datasets = [{ file = "q.jsonl" }]\nsystems = ["question", "human"]\n')
    seen: list[tuple[str, int, int | None]] = []
    runs = run_study(read_study(path), progress=lambda stage, done, total=None: seen.append((stage, done, total)))
    assert [(run.system, run.before, run.done) for run in runs] == [("question-x8", 0, 2), ("human", 0, 2)]
    assert seen[0] == ("answering", 0, 4)
    assert seen[-1] == ("answering", 4, 4)
    run = Run.open(tmp_path / "runs" / "q" / "human")
    assert run.report.scores["str_em"] == 100.0
    assert [example.id for example in run.examples] == ["a", "b"]
    items = run.folder / "items.jsonl"
    state = items.stat().st_mtime_ns, (run.folder / "scores" / "scores.json").stat().st_mtime_ns
    assert [run.before for run in run_study(read_study(path))] == [2, 2]
    assert state == (items.stat().st_mtime_ns, (run.folder / "scores" / "scores.json").stat().st_mtime_ns)
    path.write_text(path.read_text() + "[scores]\nresamples = 50\n")
    run_study(read_study(path))
    assert json.loads((run.folder / "scores" / "scores.json").read_text())["settings"]["resamples"] == 50
    assert items.stat().st_mtime_ns == state[0]


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("items.jsonl", lambda text: text[: len(text) // 2]),
        ("items.jsonl", lambda text: text.splitlines(keepends=True)[0]),
        ("items.jsonl", lambda text: text.replace('"str_em":1.0', '"str_em":0.25', 1)),
        ("items.jsonl", lambda text: text.replace('"str_em":1.0', '"str_em":null', 1)),
        ("items.jsonl", lambda _: ""),
        ("scores.json", lambda text: text[: len(text) // 2]),
        ("scores.json", lambda _: "[]"),
        ("scores.json", lambda text: text.replace('"intervals"', '"interval"')),
    ],
)
def test_damaged_scores_are_named_and_the_study_mends_them(
    tmp_path: Path, name: str, change: Callable[[str], str]
) -> None:
    path = small(tmp_path, 'datasets = [{ file = "q.jsonl" }]\nsystems = ["human"]\n[scores]\nresamples = 20\n')
    run_study(read_study(path))
    scores = tmp_path / "runs" / "q" / "human" / "scores"
    before = {file.name: file.read_bytes() for file in scores.iterdir()}
    changed = change(before[name].decode())
    assert changed.encode() != before[name]
    (scores / name).write_text(changed)
    with pytest.raises(FailureError) as caught:
        _ = Run.open(scores.parent).report
    assert str(caught.value) == (
        f"The scores in {scores} are damaged: start the study of human again, which scores it anew."
    )
    run_study(read_study(path))
    assert {file.name: file.read_bytes() for file in scores.iterdir()} == before
    assert Run.open(scores.parent).report.n == 2


def test_other_questions_under_the_same_label_are_refused(tmp_path: Path) -> None:
    path = small(tmp_path, 'datasets = [{ file = "q.jsonl" }]\nsystems = ["question"]\n')
    run_study(read_study(path))
    path.write_text('datasets = [{ file = "q.jsonl", limit = 1 }]\nsystems = ["question"]\n')
    with pytest.raises(InputError, match="holds runs over other questions or other gold than q has now: give the"):
        run_study(read_study(path))


def test_a_damaged_run_of_another_study_is_left_alone(tmp_path: Path) -> None:
    path = small(tmp_path, 'datasets = [{ file = "q.jsonl" }]\nsystems = ["question"]\n')
    run_study(read_study(path))
    (tmp_path / "runs" / "q" / "question-x8" / "run.json").write_text("{")
    path.write_text('datasets = [{ file = "q.jsonl" }]\nsystems = ["human"]\n')
    (made,) = run_study(read_study(path))
    assert made.run.complete
    path.write_text('datasets = [{ file = "q.jsonl" }]\nsystems = ["question"]\n')
    with pytest.raises(FailureError, match=r"run\.json is damaged: remove .*question-x8"):
        run_study(read_study(path))


def test_a_run_that_fails_does_not_stop_the_others(tmp_path: Path) -> None:
    path = small(
        tmp_path,
        'index = "my.index"\ndatasets = [{ file = "q.jsonl" }]\nsystems = ["bm25@1", "question"]\n',
    )
    Index.create(tmp_path / "my.index", read(str(EXAMPLES / "pages" / "a-star-is-born-1937-film.md")))
    shutil.rmtree(next((tmp_path / "my.index").glob("bm25-*")))
    with pytest.raises(FailureError, match=r"1 of 2 runs is not finished; the others are\. bm25@1 on q: "):
        run_study(read_study(path))
    assert Run.open(tmp_path / "runs" / "q" / "question-x8").complete


@pytest.mark.parametrize(
    ("system", "message"),
    [
        (
            '{ kind = "human" }',
            "human needs questions with two-answers, and 1 of the 2 of q are without, the first",
        ),
        ('{ kind = "gold" }', 'give it a dataset of the others, with having = "two-answers" and a label of its own'),
        ('{ kind = "oracle" }', "oracle needs questions with gold-passages-or-readings, and q has none: leave it out"),
        ('{ kind = "extractive", given = "gold" }', "extractive needs questions with gold-passages, and q has none"),
    ],
)
def test_what_questions_lack_is_said_before_the_first_is_asked(tmp_path: Path, system: str, message: str) -> None:
    path = small(tmp_path, f'datasets = [{{ file = "q.jsonl" }}]\nsystems = ["question", {system}]\n')
    (tmp_path / "q.jsonl").write_text(
        '{"id": "a", "question": "Who?", "long_answers": ["Ringo did.", "It was Ringo."]}\n'
        '{"id": "b", "question": "Why?", "long_answers": ["For tea."]}\n'
    )
    with pytest.raises(InputError) as caught:
        run_study(read_study(path))
    assert message in str(caught.value)
    assert not (tmp_path / "runs" / "q").exists()
    path.write_text(
        'datasets = [{ file = "q.jsonl", having = "two-answers" }, { file = "q.jsonl", limit = 1, label = "one" }]\n'
        'systems = ["human", "gold"]\n'
    )
    made = run_study(read_study(path))
    assert [(run.dataset, run.items) for run in made] == [("q", 1), ("q", 1), ("one", 1), ("one", 1)]


def test_what_cannot_be_run_or_scored_is_said_beforehand(tmp_path: Path) -> None:
    def refused(text: str) -> str:
        path = small(tmp_path, text)
        for make in (plan, run_study):
            with pytest.raises(InputError) as caught:
                make(read_study(path))
        assert not (tmp_path / "runs").exists()
        return str(caught.value)

    (tmp_path / "half.jsonl").write_text('{"id": "a", "answer": "Ringo."}\n')
    stored = 'datasets = [{ file = "q.jsonl" }]\nsystems = ["question", { kind = "stored", file = "half.jsonl" }]'
    assert refused(stored) == "The system stored: half.jsonl has no answer to the question b."
    (tmp_path / "half.jsonl").write_text('{"id": "a", "answer": "Ringo."}\n{"id": "a", "answer": "Paul."}\n')
    assert "half.jsonl:2: there is an answer to the question a already" in refused(stored)
    none = 'datasets = [{ file = "q.jsonl" }]\nsystems = [{ kind = "question", datasets = [] }]'
    assert refused(none) == "There is nothing to run: none of the systems is meant for any of the datasets."
    (tmp_path / "bare.jsonl").write_text('{"question": "Who?"}\n')
    bare = 'datasets = [{ file = "bare.jsonl" }]\nsystems = ["question"]'
    assert refused(bare).startswith("There is nothing to score by")


def test_sentences_that_cannot_be_split_are_said_beforehand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nltk.data.path", [str(tmp_path / "none")])
    for name in ("NLTK_DATA", "HOME"):
        monkeypatch.setenv(name, str(tmp_path / "none"))
    path = small(tmp_path, 'datasets = [{ file = "q.jsonl" }]\nsystems = ["question"]\n[scores]\nsentences = "punkt"\n')
    with pytest.raises((InputError, FailureError), match=r"[Pp]unkt"):
        run_study(read_study(path))
    assert not (tmp_path / "runs").exists()


def test_answers_that_nothing_tells_of_are_not_gone_on_with(tmp_path: Path) -> None:
    path = small(tmp_path, 'datasets = [{ file = "q.jsonl" }]\nsystems = ["question"]\n')
    run_study(read_study(path))
    folder = tmp_path / "runs" / "q" / "question-x8"
    kept = (folder / "run.json").read_bytes()
    (folder / "run.json").unlink()
    with pytest.raises(InputError, match=r"has answers but no run\.json, so that nothing says what made them"):
        run_study(read_study(path))
    (folder / "run.json").write_bytes(kept)
    items = folder / "items.jsonl"
    whole = items.read_bytes()
    items.write_bytes(whole + b'{"id": "z", "answers": [{"text": "No."}]}\n')
    with pytest.raises(FailureError, match=r"1 of 1 runs is not finished\. .* its line for z is of no question of q"):
        run_study(read_study(path))
    for line in (
        b'{"id": "a", "answers": [{"text": null}]}',
        b'{"id": "a", "answers": [{"text": "x"}], "ranks": 3}',
        b'{"id": "a", "answers": [{"text": "x"}], "passages": [{"text": "x"}]}',
        b'{"id": "a", "answers": [{"text": "x"}], "seconds": {"total": "x"}}',
    ):
        items.write_bytes(line + b"\n" + whole.splitlines(keepends=True)[1])
        with pytest.raises(FailureError, match=r"items.jsonl is damaged: its line for a has no \w+ that can be read"):
            run_study(read_study(path))
    items.write_bytes(whole)
    run_study(read_study(path))


def test_a_question_that_finds_nothing_has_a_recall_of_0() -> None:
    examples = [Example(name, "Who?", ("He.",), (("he",),), ("Page",)) for name in "ab"]
    hit = {"answers": [{"text": "He."}], "ranking": ["x"], "ranks": {"answer": [1], "page": [None]}}
    rows = {"a": hit, "b": {"answers": [{"text": ""}]}}
    scores = score_rows(examples, rows, "text").scores
    assert (scores["answer_recall@1"], scores["page_recall@1"]) == (50.0, 0.0)
    without = [examples[0], Example("b", "Who?", ("He.",), (("he",),))]
    assert "page_recall@1" not in score_rows(without, rows, "text").scores


def test_other_code_does_not_go_on_with_a_run_but_keeps_a_finished_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = small(tmp_path, 'datasets = [{ file = "q.jsonl" }]\nsystems = ["question"]\n')
    run_study(read_study(path))
    items = tmp_path / "runs" / "q" / "question-x8" / "items.jsonl"
    whole = items.read_bytes()
    monkeypatch.setattr("longform.study.run_writer.code_sha", lambda: "0" * 64)
    run_study(read_study(path))
    assert items.read_bytes() == whole
    items.write_bytes(whole.splitlines(keepends=True)[0])
    with pytest.raises(InputError, match=r"was made with another code \(\w{12}…, now 000000000000…\)"):
        run_study(read_study(path))
    assert items.read_bytes() in whole


def test_a_busy_run_is_waited_for(tmp_path: Path) -> None:
    path = small(tmp_path, 'datasets = [{ file = "q.jsonl" }]\nsystems = ["question"]\n')
    run_study(read_study(path))
    run = Run.open(tmp_path / "runs" / "q" / "question-x8")
    code = (
        "import sys\nfrom filelock import FileLock\n"
        "with FileLock(sys.argv[1]):\n    print('held', flush=True)\n    sys.stdin.readline()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(run.folder / ".lock")], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        waiting = start(path, tmp_path / "runs")
        with pytest.raises(subprocess.TimeoutExpired):
            waiting.wait(1)
        holder.kill()
        _, errors = waiting.communicate()
        assert waiting.returncode == 0, errors.decode()


def test_a_system_for_some_of_the_datasets(tmp_path: Path) -> None:
    path = small(
        tmp_path,
        'datasets = [{ file = "q.jsonl" }, { file = "q.jsonl", label = "again" }]\n'
        'systems = ["question", { kind = "human", datasets = ["again"] }]\n',
    )
    pairs = [(run.dataset, run.system, run.done) for run in plan(read_study(path))]
    assert pairs == [("q", "question-x8", 0), ("again", "question-x8", 0), ("again", "human", 0)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("datasets = [", "is not valid TOML"),
        ('systems = ["question"]', "A study needs datasets: a list of at least one."),
        ('datasets = ["asqa"]', "A study needs systems"),
        ('datasets = ["asqa"]\nsystems = ["question"]\nseeds = 3', "A study has no setting seeds"),
        ('datasets = ["asqa"]\nsystems = ["question"]\nseed = "x"', "The seed is a whole number"),
        ('datasets = ["asqa"]\nsystems = ["question"]\nname = "a/b"', "The name of a study is one word"),
        ('datasets = ["asqa"]\nsystems = ["question", "question"]', "Two systems are called question-x8"),
        ('datasets = ["asqa", "asqa"]\nsystems = ["question"]', "Two datasets are called asqa"),
        ('datasets = [{ nam = "asqa" }]\nsystems = ["question"]', "A dataset has no setting nam"),
        ('datasets = [{ label = "x" }]\nsystems = ["question"]', "neither a name nor a file"),
        ('datasets = [{ name = "asqa", limit = "2" }]\nsystems = ["question"]', "The limit of the dataset asqa"),
        (
            'datasets = [{ name = "asqa", having = "gold" }]\nsystems = ["question"]',
            "The having of the dataset asqa is one of gold-passages, gold-passages-or-readings, two-answers",
        ),
        ('datasets = [{ name = "asqa", fields = 2 }]\nsystems = ["question"]', "The fields of the dataset asqa"),
        (
            'datasets = ["asqa"]\nsystems = [{ kind = "question", datasets = ["x"] }]',
            "must be some of the study's: asqa",
        ),
        ('datasets = ["asqa"]\nsystems = ["question"]\n[scores]\nsentences = "nltk"', 'are "own" or "punkt"'),
        ('datasets = ["asqa"]\nsystems = ["question"]\n[scores]\nresample = 2', "[scores] has no setting resample"),
        (
            'datasets = ["asqa"]\nsystems = ["question"]\n[scores]\nresamples = 0',
            "are a whole number from 1 to 1,000,000",
        ),
        (
            'datasets = ["asqa"]\nsystems = ["question"]\n[scores]\nresamples = 1000000000000',
            "The resamples of [scores] are a whole number from 1 to 1,000,000, not 1,000,000,000,000.",
        ),
        (
            'datasets = ["asqa"]\nsystems = ["question"]\nseed = -1',
            "The seed is a whole number from 0 to 4,294,967,295, not -1.",
        ),
        ('datasets = ["asqa"]\nsystems = ["question"]\nseed = 99999999999', "The seed is a whole number from 0 to"),
        (
            'datasets = ["asqa"]\nsystems = [{ kind = "question", times = 1000000000000 }]',
            "The times of the system question is at most 1,000, not 1,000,000,000,000.",
        ),
        ('datasets = ["asqa"]\nsystems = ["bm25@99999999999"]', "The k of the system bm25 is at most 100,000"),
        (f'datasets = ["asqa"]\nsystems = ["bm25@{"9" * 5000}"]', "The k of the system bm25 is at most 100,000"),
        (f'datasets = ["asqa"]\nsystems = ["question"]\nseed = {"9" * 5000}', "is not valid TOML"),
        (
            'datasets = ["asqa"]\nsystems = [{ kind = "extractive", words = 10000000 }]',
            "The words of the system extractive is at most 100,000, not 10,000,000.",
        ),
        (
            'datasets = ["asqa"]\nsystems = [{ kind = "extractive", k = inf }]',
            "The k of the system extractive is a number, not inf.",
        ),
        (
            'datasets = [{ name = "asqa", limit = 99999999999 }]\nsystems = ["question"]',
            "The limit of the dataset asqa is at most 1,000,000,000",
        ),
    ],
)
def test_what_a_study_file_cannot_mean(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "study.toml"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        read_study(path)
    assert message in str(caught.value)
    assert str(path) in str(caught.value)


def test_everything_is_checked_before_anything_is_run(tmp_path: Path) -> None:
    path = small(tmp_path, 'datasets = [{ file = "q.jsonl" }]\nsystems = ["question", "bm25@1"]\nindex = "no.index"\n')
    with pytest.raises((InputError, FailureError), match=r"The system bm25@1: .*no\.index"):
        run_study(read_study(path))
    assert not (tmp_path / "runs" / "q").exists()


def test_a_changed_setting_is_named(tmp_path: Path) -> None:
    path = small(tmp_path, 'datasets = [{ file = "q.jsonl" }]\nsystems = [{ kind = "question", name = "q8" }]\n')
    run_study(read_study(path))
    path.write_text(path.read_text().replace('name = "q8"', 'name = "q8", times = 2'))
    with pytest.raises(InputError, match=r"another system\.times \(8, now 2\)"):
        run_study(read_study(path))


def test_the_command(tmp_path: Path) -> None:
    path = small(tmp_path, 'datasets = [{ file = "q.jsonl" }]\nsystems = ["question", "human"]\n')

    def run(*more: str) -> str:
        return CliRunner().invoke(command, [str(path), *more], catch_exceptions=False).output

    assert run("--plan").endswith("2 runs, 4 answers to make.\n")
    assert not (tmp_path / "runs").exists()
    shown = run("--system", "human")
    assert shown.startswith("[1/1] human on q: 2 made · str_em 100.0")
    rows = json.loads(run("--json"))
    assert [(row["system"], row["made"]) for row in rows] == [("question-x8", 2), ("human", 0)]
    assert [row["done"] for row in json.loads(run("--plan", "--json"))] == [2, 2]
    with pytest.raises(InputError, match="The study has no dataset x: it has q"):
        run("--dataset", "x")
    with pytest.raises(InputError, match="cannot be read: no such file"):
        CliRunner().invoke(command, [str(tmp_path / "no.toml")], catch_exceptions=False)


def row(*texts: str, **more: Any) -> dict[str, Any]:
    return {"answers": [{"text": text} for text in texts], **more}


def test_scores_by_task() -> None:
    qampari = Example("1", "Which?", (), (("Rome", "Roma"), ("Oslo",)), meta={"answers": ["Rome", "Oslo"]})
    listed = score_rows([qampari], {"1": row("Paris", items=["Roma", "Oslo"])}, "qampari").scores
    assert (listed["recall"], listed["precision"]) == (1.0, 1.0)
    assert score_rows([qampari], {"1": row("Rome, Paris.")}, "qampari").scores["precision"] == 0.5
    why = Example("1", "Why?", ("It is hot.", "Heat."))
    assert score_rows([why], {"1": row("Heat.")}, "kilt").scores["f1"] == 100.0
    assert score_rows([why], {"1": row("Heat.")}, "eli5").scores["rougeLsum"] == 100.0
    with pytest.raises(InputError, match="1 of 1 questions have no answer"):
        score_rows([why], {}, "kilt")
    with pytest.raises(InputError, match="There is no task 'x'"):
        score_rows([why], {}, "x")
    with pytest.raises(InputError, match="neither long nor short answers"):
        score_rows([Example("1", "Why?")], {"1": row("")}, "text")


def test_scores_of_conversations_and_of_passages() -> None:
    turn = FollowUp("t", "When was Dune out?", (("1965",),))
    talk = Example("1", "Who wrote Dune?", (), (("Herbert",),), follow_ups=(turn,))
    kept = row(
        "Frank Herbert.",
        passages=[{"id": "p", "title": "Dune", "text": "Frank Herbert wrote it."}],
        ranking=["p", *"qrstu"],
        ranks={"answer": [1], "follow_up": [None]},
    )
    scores = score_rows([talk], {"1": kept}, "text", read={"1": [["Herbert", ""]]}).scores
    assert scores["C-F1"] == 50.0
    assert scores["groundedness"] == 100.0
    assert (scores["answer_recall@5"], scores["follow_up_recall@5"]) == (100.0, 0.0)
    assert "answer_recall@20" not in scores


def test_several_answers_are_averaged_and_questions_without_gold_left_out() -> None:
    both = Example("1", "Who?", (), (("Ringo",),), readings=(Reading("Who drummed?", ("Ringo",)),))
    report = score_rows([both, Example("2", "Why?")], {"1": row("Ringo.", "Paul.")}, "text")
    assert report.ids == ["1"]
    assert report.scores["str_em"] == 50.0
    assert report.settings["of"] == 2


def test_a_file_in_a_table_is_seen_for_what_it_is(tmp_path: Path) -> None:
    from longform.study.dataset_spec import DatasetSpec

    asqa = {"dev": {"a": {"ambiguous_question": "Who won?", "qa_pairs": [], "wikipages": [], "annotations": []}}}
    asqa["dev"]["b"] = {**asqa["dev"]["a"], "ambiguous_question": "Who lost?"}
    (tmp_path / "mine.json").write_text(json.dumps(asqa, indent=1))
    spec = DatasetSpec.parse({"file": "mine.json", "limit": 1, "label": "m"}, tmp_path)
    assert [example.question for example in spec.load().examples] == ["Who won?"]
    assert spec.label == "m"
