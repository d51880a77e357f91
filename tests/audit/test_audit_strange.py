"""Audits of what nobody expects: folders that are no runs, runs that are not whole, names that are hostile."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from longform.audit.finding import Finding, Table, Verdict, audit_page
from longform.cli.audit import command
from longform.cli.audit.present import present_findings
from longform.errors import FailureError, InputError, LongformError
from longform.study.config import read_study
from longform.study.grid import run_study
from longform.study.runs import Run

EVIL = "<script>alert(1)</script> \x1b[31mred"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("strange")
    rows = [
        {"id": str(number), "question": f"Who? {EVIL}", "long_answers": ["Ada did.", "It was Ada."]}
        for number in range(5)
    ]
    (place / "q.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (place / "study.toml").write_text(
        'datasets = [{ file = "q.jsonl" }]\nsystems = ["question", { kind = "question", times = 3 }]\n'
        "[scores]\nresamples = 20\n"
    )
    run_study(read_study(place / "study.toml"))
    return place


@pytest.fixture
def study(made: Path, tmp_path: Path) -> Path:
    """A copy of the study that a test may break."""
    return Path(shutil.copytree(made, tmp_path / "study"))


def call(*given: object) -> Result:
    return CliRunner().invoke(command, [str(one) for one in given])


def mistake(*given: object) -> str:
    result = call(*given)
    assert isinstance(result.exception, LongformError), result.output
    return str(result.exception)


@pytest.mark.parametrize("check", [("all",), ("length", "--run"), ("bounds", "--run")])
def test_what_is_no_run(check: tuple[str, ...], study: Path, tmp_path: Path) -> None:
    runs = study / "runs"
    empty = tmp_path / "empty"
    empty.mkdir()
    assert mistake(*check, empty) == f"{empty} is no run: `longform study run` makes runs."
    assert mistake(*check, tmp_path / "x") == (
        f"{tmp_path / 'x'} is no run, as there is no such folder: `longform study run` makes runs."
    )
    for folder in (runs, runs / "q"):
        assert mistake(*check, folder) == (
            f"{folder} is no run but a folder with runs: name one of them, such as {runs / 'q' / 'question-x3'}."
        )


@pytest.mark.parametrize("check", [("all",), ("length", "--run"), ("bounds", "--run")])
def test_a_run_that_is_not_whole(check: tuple[str, ...], study: Path) -> None:
    folder = study / "runs" / "q" / "question-x3"
    items = (folder / "items.jsonl").read_bytes()
    (folder / "items.jsonl").write_bytes(b"")
    assert "is not finished, 0 of 5 items are there: start its study again." in mistake(*check, folder)
    (folder / "items.jsonl").write_bytes(items.replace(b'"total":', b'"total": '))
    assert mistake(*check, folder) == (
        f"{folder} has scores of other answers: start its study again, which scores it anew."
    )
    run_study(read_study(study / "study.toml"))
    assert call("length", "--run", folder, "--resamples", 20).exit_code == 0, "what is said mends it"
    shutil.rmtree(folder / "scores")
    assert "has no scores: start its study again, which scores it." in mistake(*check, folder)


def test_a_record_of_no_items_is_damaged(study: Path) -> None:
    path = study / "runs" / "q" / "question-x3" / "run.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "items": 0}))
    with pytest.raises(FailureError, match=r"run\.json is damaged: remove .*, and the study makes it anew\."):
        Run.open(path.parent)


def test_damaged_questions_are_mended_by_the_study(study: Path) -> None:
    path = study / "runs" / "q" / "examples.jsonl"
    before = path.read_bytes()
    path.write_bytes(before[:-5])
    assert "is not the file that" in mistake("bounds", "--run", path.parent / "question-x3")
    run_study(read_study(study / "study.toml"))
    assert path.read_bytes() == before


def test_one_run_is_no_control_of_itself(study: Path) -> None:
    folder = study / "runs" / "q" / "question-x3"
    said = mistake("control", "--run", folder, "--run-random", folder)
    assert said == f"{folder} is named twice: a control compares it with a run from random passages."


def test_numbers_that_nobody_means(study: Path) -> None:
    folder = study / "runs" / "q" / "question-x3"
    for given in (
        ("all", folder, "--resamples", 10**12),
        ("all", folder, "--seed", 10**12),
        ("length", "--run", folder, "--resamples", 0),
        ("control", "index", "--dataset", "asqa", "--work", "w", "-k", 10**12),
        ("control", "index", "--dataset", "asqa", "--work", "w", "--words", 10**12),
        ("bounds", "--dataset", "asqa", "--limit", 10**12),
    ):
        result = call(*given)
        assert result.exit_code == 2 and f"and {given[-1]:,} does not." in result.output
    for fractions in ("nan", "inf", "1e999"):
        said = mistake("length", "--run", folder, "--fractions", fractions)
        assert said.startswith("A fraction of an answer lies above 0 and is at most 1: ")


def test_what_a_question_says_is_text(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    table = Table(EVIL, ("test question", "b", "p", "x"), [(EVIL, EVIL, "0.9", "|")], EVIL, sentences=True)
    finding = Finding(EVIL, Verdict.FINE, EVIL, [table, Table("T", ("a", "b"), [(EVIL, "< 0.001")])], {}, [EVIL])
    page = audit_page(EVIL, [finding], command="x", hashes={}, seed=0)
    assert "<script" not in page and "</script" not in page
    assert "&lt;script>alert(1)" in page and "| < 0.001 |" in page
    output = tmp_path / "deep" / "page.md"
    present_findings("T", [finding], hashes={}, seed=0, as_json=False, output=str(output), kept="Kept.")
    assert output.is_file()
    told = capsys.readouterr().out
    assert "\x1b[31m" not in told and "�[31mred" in told
    assert told.endswith(f"Wrote {output}.\nKept.\n")


def test_a_folder_that_is_no_run_is_the_users_mistake(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        Run.open(tmp_path)
