"""Too few questions: what says so, and whether the number that it names is right."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longform.audit.bound_systems import LOWER, UPPER
from longform.audit.bounds import audit_bounds
from longform.audit.bounds_runs import Bound, Bounds
from longform.audit.control import audit_control
from longform.audit.enough import LEVEL, fewest_questions, more_questions, more_to_decide, questions_needed
from longform.audit.finding import Verdict
from longform.audit.length import Answered, audit_length
from longform.audit.overlap import MUCH, wilson
from longform.audit.overlap import _enough as enough_test_questions
from longform.audit.overlap_scores import audit_scores_by_overlap
from longform.audit.placed import place_system
from longform.data import Example
from longform.score.report import Report, mean_of
from longform.score.statistics import Comparison, compare, holm, permutation_test
from longform.study.config import read_study
from longform.study.grid import run_study
from longform.study.runs import Run


def report(values: object) -> Report:
    column = np.asarray(values, dtype=np.float64)
    metrics = [mean_of("length", "", ""), mean_of("rougeLsum", "", "", scale=100.0)]
    columns = {"length": np.ones(len(column)), "rougeLsum": column}
    return Report("text", [str(place) for place in range(len(column))], columns, metrics)


@given(st.integers(1, 30))
def test_the_fewest_questions_are_those_of_the_test_itself(tests: int) -> None:
    least = fewest_questions(tests)

    def smallest(n: int) -> float:
        p = permutation_test(report(np.ones(n)), report(np.zeros(n)), resamples=2**n)["rougeLsum"]
        return holm([p] + [1.0] * (tests - 1))[0]

    assert smallest(least) < LEVEL <= smallest(least - 1)


def test_as_many_questions_as_it_says_find_the_difference_in_four_cases_of_five() -> None:
    generator = np.random.default_rng(0)
    mean, spread = 0.02, 0.1
    differences = generator.normal(mean, spread, 4000)
    # A sample whose mean and spread are known, to be free of its luck.
    seen = (differences - differences.mean()) / differences.std() * spread + mean
    found = compare(report(seen), report(np.zeros(len(seen))), resamples=10_000)["rougeLsum"]
    needed = questions_needed(found, len(seen))
    assert needed is not None and needed == pytest.approx((1.96 + 0.8416) ** 2 * (spread / mean) ** 2, rel=0.1)
    hits = 0
    for _ in range(200):
        sample = generator.normal(mean, spread, needed)
        hits += permutation_test(report(sample), report(np.zeros(needed)), resamples=400)["rougeLsum"] < LEVEL
    assert 140 <= hits <= 180


def test_what_the_sentence_says() -> None:
    none = Comparison(30.0, 30.0, 0.0, -1.0, 1.0, 1.0, 1.0)
    assert more_questions(none, 100) == "The difference is so small that a million questions would not tell."
    some = Comparison(31.0, 30.0, 1.0, -0.1, 2.1, 0.06, 0.06)
    assert more_questions(some, 100, 40, resamples=100) == (
        "So few resamples cannot show it: 800 are needed at least (--resamples)."
    )
    assert more_questions(some, 5) == "With fewer than 6 questions no difference can be significant."
    assert more_to_decide(some, 5.0, 12) == "12 questions are too few to judge by: at least 20 are needed."
    assert more_questions(Comparison(31.0, 30.0, 1.0, 0.4, 1.6, 0.2, 0.2), 100) == "A few more questions would tell."


@given(st.floats(0.0, 0.049))
def test_test_questions_that_tell_a_small_share(share: float) -> None:
    n = enough_test_questions(share)
    # Wilson's interval of a share that need not be a whole number of questions.
    assert wilson(share * n, n).high <= MUCH + 1e-9  # type: ignore[arg-type]
    assert wilson(share * (n - 1), n - 1).high >= MUCH - 1e-9  # type: ignore[arg-type]


def bounds(floor: object, people: object) -> Bounds:
    lower = Bound("copy", "question", LOWER, "copying", report(floor))
    upper = Bound("human", "human", UPPER, "people", report(people))
    return Bounds("d", "text", lower.report.n, (lower, upper), {})


def test_bounds_of_few_questions_tell_nothing() -> None:
    finding = audit_bounds(bounds([0.1] * 6, [0.9] * 6), resamples=100)
    assert finding.verdict is Verdict.UNKNOWN
    assert finding.words.startswith("6 questions are too few to judge by: at least 20 are needed. So far on ROUGE-L")
    assert audit_bounds(bounds([0.1] * 20, [0.9] * 20), resamples=100).verdict is Verdict.FINE
    assert audit_bounds(bounds([0.8] * 20, [0.9] * 20), resamples=100).verdict is Verdict.CONCERN


def test_bounds_that_may_be_too_near() -> None:
    floor = np.tile([0.0, 1.0, 0.5], 10)
    finding = audit_bounds(bounds(floor, np.full(30, 0.7)), resamples=500)
    assert finding.verdict is Verdict.UNKNOWN
    assert "which on 30 questions may be 80 % of it (about " in finding.words
    assert "questions would tell" in finding.words


def test_a_system_that_is_not_surely_above_says_how_many_questions_would_tell() -> None:
    generator = np.random.default_rng(1)
    floor = generator.uniform(0.1, 0.5, 40)
    mine = floor + generator.normal(0.03, 0.2, 40)
    mine = mine - mine.mean() + floor.mean() + 0.02
    finding = place_system("mine", report(mine), bounds(floor, np.full(40, 0.9)), resamples=1000)
    assert finding.verdict is Verdict.UNKNOWN
    (row,) = [row for row in finding.numbers["placed"] if row["bound"] == "copy"]
    assert row["needed"] > 40
    assert "questions would tell, if the difference stays as it is." in finding.words
    few = place_system("mine", report([0.5] * 5), bounds([0.1] * 5, [0.9] * 5), resamples=1000)
    assert few.words.endswith(
        "With fewer than 7 questions no difference can be significant after correction for 2 tests."
    )


def test_a_second_half_of_which_nothing_is_sure() -> None:
    generator = np.random.default_rng(3)
    words = [f"w{place}" for place in range(40)]
    examples, rows = [], {}
    for place in range(24):
        said = list(generator.permutation(words)[:8])
        reference = said[:4] if place % 2 else said[4:]
        examples.append(Example(str(place), "Who?", (" ".join(reference),)))
        rows[str(place)] = {"id": str(place), "answers": [{"text": " ".join(said)}]}
    finding = audit_length(Answered("it", "text", examples, rows), resamples=500)
    assert finding.verdict is Verdict.UNKNOWN
    assert "What its second half adds is not sure" in finding.words
    few = audit_length(Answered("it", "text", examples[:6], rows), resamples=100)
    assert few.words.endswith("6 questions are too few to judge by: at least 20 are needed.")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Run]:
    """Two systems with passages over twelve questions, and over thirty of which their answers say little."""
    place = tmp_path_factory.mktemp("enough")
    generator = np.random.default_rng(0)
    names = ["Ada", "Bohr", "Curie", "Darwin", "Euler", "Fermi", "Gauss", "Hertz"]
    for count in (12, 30):
        lines, found, random = [], [], []
        for number in range(count):
            name, other = generator.choice(names, 2, replace=False)
            long = f"{name} did it in the end."
            lines.append({"id": str(number), "question": "Who?", "long_answers": [long], "short_answers": [[name]]})
            passage = [{"id": f"p{number}", "title": "", "text": f"It was {name}."}]
            found.append({"id": str(number), "answer": f"{name if number % 3 else other} did.", "passages": passage})
            random.append({"id": str(number), "answer": f"{name if number % 2 else other} did.", "passages": passage})
        for kind, rows in (("q", lines), ("found", found), ("random", random)):
            (place / f"{kind}{count}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        (place / "study.toml").write_text(
            f'datasets = [{{ file = "q{count}.jsonl" }}]\n'
            f'systems = [{{ kind = "stored", file = "found{count}.jsonl", name = "found" }}, '
            f'{{ kind = "stored", file = "random{count}.jsonl", name = "random" }}]\n[scores]\nresamples = 50\n'
        )
        run_study(read_study(place / "study.toml"))
    folder = place / "runs"
    return {
        f"{kind}{count}": Run.open(folder / f"q{count}" / kind) for kind in ("found", "random") for count in (12, 30)
    }


def test_a_control_that_does_not_tell_says_how_many_questions_would(runs: dict[str, Run]) -> None:
    finding = audit_control(runs["found12"], runs["random12"], resamples=500)
    assert finding.verdict is Verdict.UNKNOWN
    assert finding.words.endswith("12 questions are too few to judge by: at least 20 are needed.")
    finding = audit_control(runs["found30"], runs["random30"], resamples=500)
    assert finding.verdict is Verdict.UNKNOWN
    assert finding.words.endswith("questions would tell, if the difference stays as it is.")


def test_groups_that_do_not_tell_say_how_many_questions_would(runs: dict[str, Run]) -> None:
    ids = [str(number) for number in range(30)]
    finding = audit_scores_by_overlap(runs["found30"], {"a paraphrase": ids[:12]}, resamples=500)
    assert finding.verdict is Verdict.UNKNOWN
    assert "may still be higher by 10 % of itself. " in finding.words
    few = audit_scores_by_overlap(runs["found30"], {"a paraphrase": ids[:4]}, resamples=500)
    assert few.words.endswith("fewer than 10 on one side tell nothing, and about 75 in all would be needed.")
