"""Scores on questions that overlap against the others: the numbers, the test, and the verdict."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from longform import InputError
from longform.audit.finding import Verdict
from longform.audit.overlap_scores import audit_scores_by_overlap, compare_groups
from longform.cli.audit.overlap import command
from longform.score.report import Metric, Report, mean_of
from longform.study.config import read_study
from longform.study.grid import run_study
from longform.study.runs import Run

EXAMPLES = Path(__file__).parents[2] / "examples"


def report(values: list[float]) -> Report:
    ids = [str(place) for place in range(len(values))]
    return Report("x", ids, {"em": np.array(values)}, [mean_of("em", "", "", scale=100.0)])


def test_p_agrees_with_all_ways_to_choose_the_group() -> None:
    values = [0.9, 0.8, 0.7, 0.1, 0.5, 0.2, 0.3, 0.4]
    found = compare_groups(report(values), {"0", "1", "2"}, resamples=20_000)["em"]
    assert found.difference == pytest.approx(80.0 - 30.0)

    def gap(places: tuple[int, ...]) -> float:
        inside = [values[place] for place in places]
        return float(np.mean(inside)) - (sum(values) - sum(inside)) / (len(values) - len(inside))

    gaps = [abs(gap(places)) for places in combinations(range(8), 3)]
    exact = np.mean([one >= abs(gap((0, 1, 2))) - 1e-9 for one in gaps])
    assert found.p == pytest.approx(exact, abs=0.01)
    assert found.low <= found.difference <= found.high


def test_a_formula_is_compared_as_it_is_defined() -> None:
    columns = {"a": np.array([0.5, 0.7, 0.2, 0.4] * 6), "b": np.array([0.1, 0.9, 0.5, 0.3] * 6)}
    root = Metric("DR", "", "", lambda means: np.sqrt(np.asarray(means["a"]) * np.asarray(means["b"])))
    constant = Metric("best", "", "", lambda _: np.asarray(3.0))
    ids = [str(place) for place in range(24)]
    inside = set(ids[:12:2])
    found = compare_groups(Report("x", ids, columns, [root, constant]), inside, resamples=300)
    assert list(found) == ["DR"], "what does not follow from means is in no test"
    member = np.array([identifier in inside for identifier in ids])
    by_hand = [np.sqrt(columns["a"][group].mean() * columns["b"][group].mean()) for group in (member, ~member)]
    assert found["DR"].difference == pytest.approx(by_hand[0] - by_hand[1])


def test_the_same_seed_gives_the_same_numbers() -> None:
    one, again = (compare_groups(report([0.1, 0.9] * 20), {"1", "3", "4"}, resamples=500, seed=4) for _ in range(2))
    assert one == again


def test_both_groups_are_needed() -> None:
    for inside in (set(), {"0", "1"}):
        with pytest.raises(InputError, match="needs items in both groups"):
            compare_groups(report([0.0, 1.0]), inside)
    with pytest.raises(InputError, match="At least one resample"):
        compare_groups(report([0.0, 1.0]), {"0"}, resamples=0)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two systems: one that says the gold answer to the first twenty questions and the question to the rest."""
    place = tmp_path_factory.mktemp("runs")
    items = json.loads((EXAMPLES / "questions.json").read_text())["dev"]
    answers = {
        identifier: item["annotations"][0]["long_answer"] if number < 20 else item["ambiguous_question"]
        for number, (identifier, item) in enumerate(items.items())
    }
    (place / "memory.json").write_text(json.dumps(answers))
    (place / "study.toml").write_text(
        f'datasets = [{{ name = "asqa", file = "{EXAMPLES / "questions.json"}" }}]\n'
        'systems = ["question", { kind = "stored", file = "memory.json", name = "memory" }]\n'
        "[scores]\nresamples = 100\n"
    )
    run_study(read_study(str(place / "study.toml"), None))
    return place / "runs" / "asqa"


def test_a_system_that_remembers_is_found_out(runs: Path) -> None:
    memory, question = (Run.open(runs / name) for name in ("memory", "question-x8"))
    ids = [example.id for example in memory.examples]
    groups = {"a paraphrase": ids[:20]}
    finding = audit_scores_by_overlap(memory, groups, resamples=2000)
    assert finding.verdict is Verdict.CONCERN
    assert "memory has" in finding.words
    assert "report the score on the others" in finding.words
    assert finding.numbers["groups"]["a paraphrase"]["str_em"]["difference"] > 50
    assert "length" not in finding.numbers["groups"]["a paraphrase"], "it is no quality"
    assert audit_scores_by_overlap(question, groups, resamples=2000).verdict is Verdict.FINE
    few = audit_scores_by_overlap(memory, {"a paraphrase": ids[:5]}, resamples=100)
    assert few.verdict is Verdict.UNKNOWN
    assert "fewer than 10 on one side tell nothing" in few.words
    with pytest.raises(InputError, match="was not asked the test question nobody: name the same dataset"):
        audit_scores_by_overlap(memory, {"a paraphrase": ["nobody"]})


def test_the_command_splits_scores(runs: Path, tmp_path: Path) -> None:
    items = json.loads((EXAMPLES / "questions.json").read_text())["dev"]
    copied = [
        {"id": f"n{number}", "question": item["ambiguous_question"]}
        for number, item in enumerate(items.values())
        if number < 20
    ]
    (tmp_path / "train.jsonl").write_text("\n".join(map(json.dumps, copied)))
    questions = ["--train", str(tmp_path / "train.jsonl"), "--test", str(EXAMPLES / "questions.json")]
    settings = ["--cache", str(tmp_path / "cache"), "--run", str(runs / "memory"), "--resamples", "500"]
    result = CliRunner().invoke(command, [*questions, *settings])
    assert result.exit_code == 0, result.output
    assert "Does memory do better on questions that overlap?  concern" in result.output
    assert "Scores with a paraphrase" in result.output
