"""Bounds: which the data allow, what they say of the scores, and where systems stand between them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

from longform import InputError
from longform.audit.bound_systems import LOWER, UPPER, bound_systems, side_of, title_of
from longform.audit.bounds import audit_bounds
from longform.audit.bounds_runs import Bound, Bounds, make_bounds, nearby_bounds
from longform.audit.finding import Verdict
from longform.audit.placed import place_system
from longform.cli.audit.bounds import command
from longform.report.bounds import read_bounds
from longform.score.report import Report, mean_of
from longform.study.config import ScoreSettings, read_study
from longform.study.dataset_spec import DatasetSpec
from longform.study.grid import run_study
from longform.study.runs import Run, find_runs

EXAMPLES = Path(__file__).parents[2] / "examples"
QUESTIONS = EXAMPLES / "questions.json"
QUICK = ScoreSettings(resamples=100)


def call(*given: object) -> Result:
    return CliRunner().invoke(command, [str(one) for one in given], catch_exceptions=False)


def spec(path: Path) -> DatasetSpec:
    return DatasetSpec.parse(str(path), Path())


def rows(path: Path, answers: list[list[str]]) -> Path:
    lines = [{"id": str(n), "question": f"Why is {n}?", "long_answers": texts} for n, texts in enumerate(answers)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


@pytest.mark.slow
def test_every_bound_with_training_questions(tmp_path: Path) -> None:
    found = make_bounds(replace(spec(QUESTIONS), limit=16), tmp_path, train=spec(QUESTIONS), scores=QUICK)
    assert [(bound.name, bound.side) for bound in found.bounds] == [
        ("question-x8", LOWER),
        ("random-answer", LOWER),
        ("longest-training-answer@1", LOWER),
        ("longest-training-answer@7", LOWER),
        ("best-training-answer@1", UPPER),
        ("best-training-answer@7", UPPER),
        ("longest-gold", UPPER),
        ("best-gold", UPPER),
        ("human", UPPER),
    ]
    assert list(found.left_out) == ["silver-oracle"]
    scores = {bound.name: bound.report.scores["rougeLsum"] for bound in found.bounds}
    assert scores["best-training-answer@7"] >= scores["best-training-answer@1"] >= scores["longest-training-answer@1"]
    assert scores["best-gold"] >= scores["longest-gold"] > scores["question-x8"]
    kept = json.loads((tmp_path / "questions" / "bounds.json").read_text())
    assert kept["items"] == 16
    assert kept["bounds"][0]["intervals"]["rougeLsum"][0] <= scores["question-x8"]
    # The report's plots read the same file.
    drawn = read_bounds(tmp_path / "questions" / "bounds.json", "questions")
    assert [(one.name, one.side) for one in drawn] == [(bound.name, bound.side) for bound in found.bounds]
    finding = audit_bounds(found, resamples=100)
    assert finding.verdict is Verdict.UNKNOWN
    assert finding.words.startswith("16 questions are too few to judge by: at least 20 are needed. So far on ROUGE-L ")
    assert "and people 100.0" in finding.words


def test_what_cannot_be_had_says_why(tmp_path: Path) -> None:
    data = rows(tmp_path / "one.jsonl", [["Tea."], ["Milk."]])
    result = call("--dataset", data, "--resamples", 50)
    assert "unknown" in result.stdout
    assert "Nothing tells what people reach on one" in result.stdout
    assert "random-answer, longest-training-answer@1, " in result.stdout
    text = " ".join(result.stdout.split())
    assert "training questions with long answers are not known: name them with --train." in text
    assert "no question has two long answers to compare with each other." in text
    assert "there is no index to take silver passages from: name one with --index." in text


def test_people_are_compared_where_there_are_two_answers(tmp_path: Path) -> None:
    data = rows(tmp_path / "some.jsonl", [["Tea is hot.", "Tea is hot"], ["Milk."], ["Milk is cold.", "Milk is cold"]])
    found = {bound.name: bound for bound in make_bounds(spec(data), tmp_path / "w", scores=QUICK).bounds}
    assert found["human"].report.n == 2
    assert found["human"].report.scores["rougeLsum"] == pytest.approx(100.0)
    assert found["question-x5"].report.n == 3


def test_a_dataset_of_short_answers_has_no_people(tmp_path: Path) -> None:
    lines = [{"id": str(n), "question": "Who?", "short_answers": [["Ringo"]]} for n in range(3)]
    (tmp_path / "short.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    train = rows(tmp_path / "train.jsonl", [["Ringo did."]])
    found = make_bounds(spec(tmp_path / "short.jsonl"), tmp_path / "w", train=spec(train), scores=QUICK)
    assert [bound.name for bound in found.bounds] == [
        "question-x5",
        "random-answer",
        "longest-training-answer@1",
        "longest-training-answer@7",
    ]
    assert found.left_out["best-training-answer@1"] == "3 of 3 questions have no long answer to choose by."


def made_up(name: str, kind: str, values: list[float]) -> Bound:
    side = side_of({"kind": kind})
    assert side is not None
    return Bound(name, kind, side, title_of({"kind": kind}), report(values))


def report(values: list[float]) -> Report:
    column = np.array(values)
    ids = [str(n) for n in range(len(values))]
    metrics = [mean_of("length", "", ""), mean_of("rougeLsum", "", "", scale=100.0)]
    return Report("text", ids, {"length": column, "rougeLsum": column}, metrics)


def spread(mean: float, n: int = 40) -> list[float]:
    return [mean + 0.01 * (place % 5 - 2) for place in range(n)]


def bounds_of(*bounds: Bound) -> Bounds:
    return Bounds("made-up", "text", bounds[0].report.n, bounds, {})


def test_a_score_that_tells_little_is_a_concern() -> None:
    # As in the paper's Table 7: copying the question 20.0, people 21.2.
    narrow = bounds_of(made_up("question", "question", spread(0.200)), made_up("human", "human", spread(0.212)))
    finding = audit_bounds(narrow, resamples=100)
    assert finding.verdict is Verdict.CONCERN
    assert "on ROUGE-L copying the question 8 times reaches 20.0, and people 21.2" in finding.words
    assert finding.numbers["bounds"]["human"]["side"] == UPPER


@pytest.mark.parametrize(
    ("mean", "verdict", "words"),
    [
        (0.30, Verdict.FINE, "Yes: on ROUGE-L it has 30.0, copying the question 8 times 20.0."),
        (0.10, Verdict.CONCERN, "mine is below copying the question 8 times (20.0) on ROUGE-L, with 10.0."),
        (0.20, Verdict.CONCERN, "mine is not above copying the question 8 times (20.0) on ROUGE-L, with 20.0."),
        (0.60, Verdict.CONCERN, "mine is above people on ROUGE-L (60.0 against 50.0), which says more of the score"),
    ],
)
def test_where_a_system_stands(mean: float, verdict: Verdict, words: str) -> None:
    bounds = bounds_of(made_up("question", "question", spread(0.2)), made_up("human", "human", spread(0.5)))
    finding = place_system("mine", report(spread(mean)), bounds, resamples=500)
    assert finding.verdict is verdict
    assert words in finding.words
    assert {row["bound"] for row in finding.numbers["placed"]} == {"question", "human"}


def test_too_few_questions_do_not_tell() -> None:
    bounds = bounds_of(made_up("question", "question", spread(0.2, 5)))
    finding = place_system("mine", report(spread(0.3, 5)), bounds, resamples=500)
    assert finding.verdict is Verdict.UNKNOWN
    assert "is not surely above copying the question 8 times (30.0 against 20.0)" in finding.words


def test_other_questions_are_refused() -> None:
    other = Report("text", ["x"], {"length": np.array([1.0])}, [mean_of("length", "", "")])
    with pytest.raises(InputError, match="have no question in common: name a run of this dataset"):
        place_system("mine", other, bounds_of(made_up("question", "question", spread(0.2))))


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Run]:
    tmp_path = tmp_path_factory.mktemp("placed")
    train = {"name": "asqa", "file": str(QUESTIONS), "split": "dev"}
    (tmp_path / "study.toml").write_text(
        f"""
        datasets = [{{ name = "asqa", file = "{QUESTIONS}" }}]
        systems = [
            {{ kind = "random-answer", train = {{ name = "asqa", file = "{train["file"]}", split = "dev" }} }},
            {{ kind = "stored", file = "mine.json", name = "mine" }},
            {{ kind = "stored", file = "poor.json", name = "poor" }},
        ]
        [scores]
        resamples = 100
        """
    )
    items = json.loads(QUESTIONS.read_text())["dev"]
    facts = {key: " ".join(pair["context"] for pair in item["qa_pairs"]) for key, item in items.items()}
    (tmp_path / "mine.json").write_text(json.dumps(facts))
    (tmp_path / "poor.json").write_text(json.dumps(dict.fromkeys(items, "I do not know.")))
    run_study(read_study(tmp_path / "study.toml"))
    return {run.system: run for run in find_runs(tmp_path / "runs")}


def test_bounds_of_a_run_alone(runs: dict[str, Run]) -> None:
    found = nearby_bounds(runs["mine"])
    names = [bound.name for bound in found.bounds]
    assert names == ["random-answer", "question-x8", "longest-gold", "best-gold", "human"]
    assert "silver-oracle" in found.left_out
    result = call("--run", runs["mine"].folder, "--run", runs["poor"].folder, "--resamples", 400, "--json")
    told = json.loads(result.stdout)["findings"]
    assert [finding["verdict"] for finding in told] == ["fine", "concern", "concern"]
    # The facts were noted by the people who wrote the answers, who share less with each other.
    assert "mine is above people on ROUGE-L" in told[1]["words"]
    placed = {(row["metric"], row["bound"]): row for row in told[1]["numbers"]["placed"]}
    # Beside people it has one reference, as they have; beside others the better of two.
    assert placed["rougeLsum", "human"]["first"] < placed["rougeLsum", "question-x8"]["first"]
    assert placed["str_em", "human"]["first"] == placed["str_em", "question-x8"]["first"]
    assert (
        "poor is below a random training answer (21.1) and copying the question 8 times (16.2) on ROUGE-L, with 0.6"
        in told[2]["words"]
    )


def test_bounds_with_runs_and_a_page(runs: dict[str, Run], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LONGFORM_DATA", "../my data")
    page = tmp_path / "bounds.md"
    given = ("--dataset", QUESTIONS, "--run", runs["poor"].folder, "--resamples", 200, "--work", tmp_path / "w")
    result = call(*given, "-o", page, "--note", "A remark.")
    assert f"Wrote {page}." in result.stdout
    text = page.read_text()
    assert "# Bounds on questions" in text
    assert "| questions.json | " in text
    assert "poor between the bounds" in text
    assert "- A remark." in text
    assert "LONGFORM_DATA='../my data' " in text, "whoever makes it again needs it"
    assert (tmp_path / "w" / "questions" / "findings.json").is_file()


def test_mistakes_are_one_sentence(runs: dict[str, Run], tmp_path: Path) -> None:
    for given, message in (
        ((), "Bounds are those of a dataset: name one with --dataset, or a run with --run."),
        (("--run", runs["mine"].folder, "--train", "x"), "x is neither a file nor a dataset"),
        (("--run", runs["mine"].folder, "--work", "x"), "--index and --work need --dataset"),
        (("--run", tmp_path), "is no run"),
        (("--dataset", tmp_path / "none.jsonl"), "does not exist"),
    ):
        with pytest.raises(InputError) as caught:
            call(*given)
        assert message in str(caught.value)


def test_a_run_over_other_gold_is_refused(runs: dict[str, Run], tmp_path: Path) -> None:
    first = runs["mine"].examples[0]
    other = {"id": first.id, "question": first.question, "long_answers": ["Another answer."]}
    (tmp_path / "other.jsonl").write_text(json.dumps(other) + "\n")
    with pytest.raises(InputError, match=rf"is scored by other answers to the question {first.id} than other has"):
        call("--dataset", tmp_path / "other.jsonl", "--run", runs["mine"].folder, "--resamples", 50)
    same = [example.to_json() for example in runs["mine"].examples[:5]]
    (tmp_path / "some.jsonl").write_text("".join(json.dumps(row) + "\n" for row in same))
    told = call("--dataset", tmp_path / "some.jsonl", "--run", runs["mine"].folder, "--resamples", 50, "--json")
    notes = json.loads(told.stdout)["findings"][1]["notes"]
    assert f"mine is compared on 5 of its {runs['mine'].report.n} questions: those that the bounds are over." in notes


def test_another_way_to_split_sentences_is_refused(runs: dict[str, Run], monkeypatch: pytest.MonkeyPatch) -> None:
    from longform.cli.audit.bounds import _check_sentences

    with pytest.raises(InputError, match="is scored with sentences own: give --sentences own"):
        _check_sentences(runs["mine"], "punkt")


def test_the_question_is_copied_as_often_as_each_paper_does() -> None:
    assert bound_systems("asqa")[0].table["times"] == 8
    assert bound_systems("eli5")[0].table["times"] == 5
