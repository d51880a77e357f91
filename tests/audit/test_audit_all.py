"""Every check over one run: what applies has a verdict, what does not says why."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from longform import Index, InputError, read
from longform.audit.everything import audit_run, training_of
from longform.audit.finding import Verdict
from longform.audit.own_passages import audit_passages
from longform.cli.audit.all import command
from longform.report.findings import read_findings
from longform.study.config import read_study
from longform.study.dataset_spec import DatasetSpec
from longform.study.grid import run_study
from longform.study.runs import Run, find_runs

EXAMPLES = Path(__file__).parents[2] / "examples"
QUESTIONS = EXAMPLES / "questions.json"

CONTROL, BOUNDS, LENGTH, OVERLAP = (
    "Does it use what it retrieves?",
    "Is it above what knows nothing?",
    "How much of its ROUGE-L is length?",
    "Are the test questions among the training questions?",
)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Run]:
    place = tmp_path_factory.mktemp("all")
    Index.create(place / "examples.index", read(str(EXAMPLES / "pages")))
    items = json.loads(QUESTIONS.read_text())["dev"]
    deaf = [
        {
            "id": key,
            "answer": item["annotations"][0]["long_answer"],
            "passages": [{"id": f"p{number}", "title": "", "text": f"Passage {number} is about nothing."}],
        }
        for number, (key, item) in enumerate(items.items())
    ]
    (place / "deaf.jsonl").write_text("".join(json.dumps(row) + "\n" for row in deaf))
    (place / "study.toml").write_text(
        f"""
        index = "examples.index"
        datasets = [{{ name = "asqa", file = "{QUESTIONS}", limit = 24 }}]
        systems = [
            "question",
            "bm25@2",
            {{ kind = "stored", file = "deaf.jsonl", name = "deaf" }},
        ]
        [scores]
        resamples = 100
        """
    )
    run_study(read_study(place / "study.toml"))
    return {run.system: run for run in find_runs(place / "runs")}


def call(*given: object) -> Result:
    return CliRunner().invoke(command, [str(one) for one in given], catch_exceptions=False)


def test_a_run_with_passages(runs: dict[str, Run], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LONGFORM_DATA", raising=False)
    page = tmp_path / "page.md"
    result = call(runs["bm25@2"].folder, "--resamples", 200, "-o", page, "--json")
    told = {finding["check"]: finding for finding in json.loads(result.stdout)["findings"]}
    assert list(told) == [
        "Do its answers hold what it retrieved?",
        f"{BOUNDS} (bm25@2)",
        LENGTH,
        OVERLAP,
    ]
    own = told["Do its answers hold what it retrieved?"]
    assert own["verdict"] == "fine"
    assert "`longform audit control` tells" in own["words"]
    assert own["numbers"]["overlap"]["2-gram"]["first"] > 95
    assert own["numbers"]["overlap"]["2-gram"]["second"] < 50
    assert told[OVERLAP]["verdict"] == "unknown"
    assert told[OVERLAP]["words"] == (
        "It does not apply: the training questions are not known: name them with --train."
    )
    assert {"question-x8", "human"} <= {row["bound"] for row in told[f"{BOUNDS} (bm25@2)"]["numbers"]["placed"]}
    text = page.read_text()
    assert "# Audit of bm25@2 on asqa" in text
    assert all(f"## {check}" in text for check in told)


def test_a_run_that_holds_nothing_of_its_passages(runs: dict[str, Run]) -> None:
    finding = audit_passages(runs["deaf"], resamples=200)
    assert finding.verdict is Verdict.CONCERN
    assert finding.words.startswith("Hardly: of the names, numbers and nouns of its answers ")


def test_a_bound_is_no_system(runs: dict[str, Run]) -> None:
    found = {finding.check: finding for finding in audit_run(runs["question-x8"], resamples=100)}
    assert found[CONTROL].words == (
        "It does not apply: question-x8 keeps no passages, so there is nothing that its answers could draw on."
    )
    assert found[BOUNDS].words == "It does not apply: question-x8 is a bound itself."
    assert found[LENGTH].verdict in Verdict


@pytest.mark.slow
def test_with_training_questions(runs: dict[str, Run], tmp_path: Path) -> None:
    train = DatasetSpec.parse({"name": "asqa", "file": str(QUESTIONS)}, Path())
    found = audit_run(runs["deaf"], train=train, cache=tmp_path, resamples=100)
    checks = {finding.check: finding for finding in found}
    # The same questions are all there, word for word.
    assert checks[OVERLAP].verdict is Verdict.CONCERN
    assert checks[OVERLAP].numbers["word_for_word"]["share"] == 1.0
    assert len(found) == 5
    # The same training questions bound the scores.
    placed = checks[f"{BOUNDS} (deaf)"]
    names = {row["bound"]: row["side"] for row in placed.numbers["placed"]}
    assert names["random-answer"] == names["longest-training-answer@7"] == "lower"
    assert names["best-training-answer@7"] == "upper"
    assert not any("training" in note for note in placed.notes)


def test_training_questions_without_answers_bound_nothing_and_say_so(
    runs: dict[str, Run], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LONGFORM_HOME", str(tmp_path / "home"))
    train = tmp_path / "train.jsonl"
    train.write_text('{"id": "t", "question": "Who built the bridge?", "short_answers": [["Ana"]]}\n')
    result = call(runs["bm25@2"].folder, "--train", train, "--resamples", 100, "--json")
    told = json.loads(result.stdout)
    (placed,) = [finding for finding in told["findings"] if finding["check"].startswith(BOUNDS)]
    assert placed["notes"][0] == (
        "Left out: random-answer, longest-training-answer@1, longest-training-answer@7, best-training-answer@1, "
        "best-training-answer@7: the training questions of train have no long answers."
    )
    assert "train.jsonl (training)" in told["hashes"]
    assert "bm25@2 (items.jsonl)" in told["hashes"]
    with pytest.raises(InputError, match=r"nowhere\.jsonl does not exist\."):
        call(runs["bm25@2"].folder, "--train", tmp_path / "nowhere.jsonl")


def test_without_training_questions_the_option_is_named(runs: dict[str, Run]) -> None:
    (placed,) = [one for one in audit_run(runs["bm25@2"], resamples=100) if one.check.startswith(BOUNDS)]
    assert any(note.endswith("are not known: name them with --train.") for note in placed.notes)


def test_kept_where_the_report_finds_them(runs: dict[str, Run]) -> None:
    folder = runs["deaf"].folder
    result = call(folder, "--resamples", 100, "--keep")
    assert f"Kept in {folder / 'findings.json'}." in result.stdout
    kept = read_findings(folder)
    assert kept[0].finding.check == "Do its answers hold what it retrieved?"
    assert kept[0].finding.tables[0].columns[0] == "of the answers"
    (folder / "findings.json").unlink()


def test_the_training_split_of_a_known_dataset(
    runs: dict[str, Run], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LONGFORM_DATA", str(tmp_path))
    assert training_of(runs["deaf"]) is None
    items = json.loads(QUESTIONS.read_text())["dev"]
    (tmp_path / "ASQA.json").write_text(json.dumps({"train": items}))
    found = training_of(runs["deaf"])
    assert found is not None
    assert found.split == "train" and len(found.load()) == 48


def test_what_is_no_run(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is no run: `longform study run` makes runs"):
        call(tmp_path)
