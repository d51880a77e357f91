from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longform.errors import InputError
from longform.score.nq import score_nq
from longform.score.nq_records import Label, NqPrediction
from longform.score.report import Metric, Report, mean_of
from longform.score.statistics import Interval, compare, holm, intervals, permutation_test

DR = Metric("DR", "root of the product", "ASQA", lambda means: np.sqrt(means["f1"] * means["rouge"]))


def report(f1: list[float], rouge: list[float] | None = None, ids: list[str] | None = None) -> Report:
    columns = {"f1": np.array(f1, dtype=float), "rouge": np.array(rouge or f1, dtype=float)}
    names = ids or [str(n) for n in range(len(f1))]
    return Report("x", names, columns, [mean_of("f1", "", "", scale=100.0), mean_of("rouge", "", ""), DR])


def noise(seed: int, n: int = 200, shift: float = 0.0) -> list[float]:
    return list(np.clip(np.random.default_rng(seed).normal(0.5 + shift, 0.2, n), 0, 1))


def test_an_interval_is_as_wide_as_theory_says() -> None:
    values = noise(1, 400)
    found = intervals(report(values))["rouge"]
    error = 1.96 * np.std(values) / np.sqrt(400)
    assert found.value == pytest.approx(np.mean(values))
    assert found.value - found.low == pytest.approx(error, rel=0.08)
    assert found.high - found.value == pytest.approx(error, rel=0.08)


def test_it_agrees_with_scipy() -> None:
    stats = pytest.importorskip("scipy.stats")
    first, second = noise(1, 60), noise(2, 60)
    theirs = stats.bootstrap((np.array(first),), np.mean, method="percentile", rng=0, n_resamples=20_000)
    ours = intervals(report(first), resamples=20_000)["rouge"]
    assert (ours.low, ours.high) == pytest.approx(tuple(theirs.confidence_interval), abs=3e-3)
    both = np.array(first), np.array(second)
    test = stats.permutation_test(
        both, lambda a, b: np.mean(a - b), permutation_type="samples", n_resamples=20_000, rng=0
    )
    assert permutation_test(report(first), report(second), resamples=20_000)["rouge"] == pytest.approx(
        test.pvalue, abs=0.02
    )


def test_a_formula_is_resampled_as_a_formula() -> None:
    found = intervals(report(noise(1), noise(2)))
    assert found["DR"].low < found["DR"].value < found["DR"].high
    assert found["DR"].value == pytest.approx(np.sqrt(np.mean(noise(1)) * np.mean(noise(2))))
    assert found["f1"].value == pytest.approx(100 * np.mean(noise(1)))


def test_seeds() -> None:
    assert intervals(report(noise(1)), seed=7) == intervals(report(noise(1)), seed=7)
    assert intervals(report(noise(1)), seed=7) != intervals(report(noise(1)), seed=8)
    one, two = report(noise(1)), report(noise(2))
    assert compare(one, two, seed=7) == compare(one, two, seed=7)


def test_chunks_do_not_change_the_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    import longform.score.statistics as module

    whole, one, two = intervals(report(noise(1))), report(noise(1)), report(noise(2))
    p_values = permutation_test(one, two)
    monkeypatch.setattr(module, "_CHUNK", 5000)
    assert intervals(report(noise(1)))["DR"] == pytest.approx(whole["DR"])
    assert permutation_test(one, two) == p_values


def test_a_single_item_and_equal_items() -> None:
    assert intervals(report([0.3]))["rouge"] == Interval(0.3, 0.3, 0.3)
    found = intervals(report([0.1] * 7))["rouge"]
    assert found.low <= found.value <= found.high
    assert found.high - found.low < 1e-12


def test_few_items_are_tested_exactly() -> None:
    first, second = [0.9, 0.8, 0.4, 0.6, 0.7], [0.2, 0.5, 0.5, 0.1, 0.3]
    differences = np.subtract(first, second)
    sums = [abs(np.dot(signs, differences)) for signs in product((1, -1), repeat=5)]
    expected = np.mean([value >= abs(differences.sum()) - 1e-12 for value in sums])
    assert permutation_test(report(first), report(second))["rouge"] == expected


def test_a_formula_is_tested_by_swapping_items() -> None:
    first, second = (
        report([0.9, 0.8, 0.7, 0.6], [0.5, 0.6, 0.7, 0.8]),
        report([0.1, 0.2, 0.3, 0.1], [0.5, 0.5, 0.4, 0.4]),
    )
    found = []
    for swapped in product((False, True), repeat=4):
        ones, others = (
            {name: np.where(swapped, x.columns[name], y.columns[name]).mean() for name in ("f1", "rouge")}
            for x, y in ((second, first), (first, second))
        )
        found.append(abs(np.sqrt(ones["f1"] * ones["rouge"]) - np.sqrt(others["f1"] * others["rouge"])))
    expected = np.mean([value >= found[0] - 1e-12 for value in found])
    assert permutation_test(first, second)["DR"] == expected


def test_a_real_difference_and_none() -> None:
    better, worse = report(noise(1, shift=0.2)), report(noise(2))
    found = compare(better, worse)
    assert found["DR"].p == found["f1"].p == pytest.approx(1 / 10_001)
    assert found["f1"].low > 0
    assert found["f1"].difference == pytest.approx(found["f1"].first - found["f1"].second)
    assert found["f1"].holm == pytest.approx(3 / 10_001)
    same = compare(report(noise(1)), report(noise(3)))
    assert same["DR"].p > 0.05
    assert same["DR"].low < 0 < same["DR"].high


def test_identical_systems() -> None:
    found = compare(report(noise(1)), report(noise(1)))
    assert all(row.p == row.holm == 1 and row.difference == row.low == row.high == 0 for row in found.values())


def test_items_are_matched_by_id() -> None:
    first = report([0.1, 0.9, 0.4], ids=["a", "b", "c"])
    turned = report([0.4, 0.1, 0.9], ids=["c", "a", "b"])
    assert compare(first, turned)["rouge"].low == compare(first, turned)["rouge"].high == 0


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        (["a", "x"], "Item b is in the first report only: two systems compare on the same items."),
        (["a", "b", "x"], "Item x is in the second report only: two systems compare on the same items."),
    ],
)
def test_other_items(ids: list[str], message: str) -> None:
    with pytest.raises(InputError) as error:
        compare(report([0, 1], ids=["a", "b"]), report([0.0] * len(ids), ids=ids))
    assert str(error.value) == message


def test_no_metric_in_common() -> None:
    other = Report("y", ["0"], {"em": np.zeros(1)}, [mean_of("em", "", "")])
    with pytest.raises(InputError, match=r"^The two reports have no metric in common.$"):
        compare(report([1.0]), other)


def test_impossible_settings() -> None:
    with pytest.raises(InputError, match=r"^The level of an interval lies between 0 and 1: 95 does not.$"):
        intervals(report([1.0]), level=95)
    with pytest.raises(InputError, match=r"^At least one resample is needed, not 0.$"):
        compare(report([1.0]), report([1.0]), resamples=0)


def test_what_belongs_to_the_run_as_a_whole_has_no_interval() -> None:
    yes, none = Label(yes_no="yes"), Label()
    gold = {str(n): (yes, yes, none) for n in range(6)}
    guesses = {str(n): NqPrediction(yes if n % 2 else none, 0.1 * n, 0.1 * n) for n in range(6)}
    scored = score_nq(gold, guesses)
    found = intervals(scored)
    assert "short-answer-f1" in found
    assert "short-best-threshold-f1" not in found
    assert "short-best-threshold-f1" in scored.scores
    assert found["long-answer-f1"] == (0, 0, 0), "nothing is predicted in any resample, and nothing is NaN"
    assert compare(scored, scored)["short-answer-f1"].p == 1


def test_a_formula_that_gives_nan_is_an_error() -> None:
    broken = Metric("broken", "", "", lambda means: means["f1"] * np.nan)
    with pytest.raises(ValueError, match="the formula of broken does not give one finite number per resample"):
        intervals(Report("x", ["a"], {"f1": np.ones(1)}, [broken]))


def test_holm() -> None:
    assert holm([]) == []
    assert holm([0.2]) == [0.2]
    assert holm([0.04, 0.01, 0.03]) == pytest.approx([0.06, 0.03, 0.06])
    assert holm([0.9, 0.8]) == [1.0, 1.0]


VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=25)


@settings(max_examples=40, deadline=None)
@given(VALUES, st.integers(0, 99))
def test_the_interval_holds_the_score(values: list[float], seed: int) -> None:
    for found in intervals(report(values), seed=seed, resamples=200).values():
        assert found.low <= found.value <= found.high
        assert np.isfinite(found).all()


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=16), st.integers(0, 99))
def test_p_values(pairs: list[tuple[float, float]], seed: int) -> None:
    first, second = report([a for a, _ in pairs]), report([b for _, b in pairs])
    found = permutation_test(first, second, seed=seed, resamples=300)
    assert all(0 < p <= 1 for p in found.values())
    assert found == permutation_test(second, first, seed=seed, resamples=300), (
        "the order of the systems does not matter"
    )
    assert all(p == 1 for p in permutation_test(first, first, seed=seed, resamples=300).values())


@given(st.lists(st.floats(0, 1), max_size=8))
def test_holm_only_raises_and_keeps_the_order(p_values: list[float]) -> None:
    corrected = holm(p_values)
    assert all(p <= q <= 1 for p, q in zip(p_values, corrected, strict=True))
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    assert [corrected[place] for place in order] == sorted(corrected)
