"""Tables: the numbers, the tests, the marks, and how they are written."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longform.report import gather
from longform.report.formats import csv_rows, escape_latex, legend, to_csv, to_latex, to_markdown
from longform.report.table import Cell, ScoreTable, mark_of, score_table
from longform.score.statistics import compare, holm


@pytest.fixture(scope="module")
def table(made_runs: Path) -> ScoreTable:
    return score_table(gather(made_runs).datasets[0], baseline="bm25@5", resamples=2000)


def test_the_numbers_are_those_of_the_runs(table: ScoreTable, made_runs: Path) -> None:
    dataset = gather(made_runs).datasets[0]
    for entry in dataset.entries:
        for name, value in entry.report.scores.items():
            cell = table.cells[entry.system][name]
            assert cell.value == value
            assert cell.low is not None and cell.high is not None and cell.low <= value <= cell.high


def test_all_tests_of_a_dataset_are_corrected_together(table: ScoreTable, made_runs: Path) -> None:
    dataset = gather(made_runs).datasets[0]
    against = dataset.entry("bm25@5")
    assert against is not None
    p = {
        (entry.system, name): one.p
        for entry in dataset.entries
        if entry is not against
        for name, one in compare(entry.report, against.report, resamples=2000).items()
        if name != "length"
    }
    expected = dict(zip(p, holm(list(p.values())), strict=True))
    found = {(system, name): cell.holm for system in table.systems for name, cell in table.cells[system].items()}
    assert {key: value for key, value in found.items() if value is not None} == expected
    assert table.tests == len(p)
    assert table.cells["bm25@1"]["rougeLsum"].mark == "↑*" and table.cells["bm25@1"]["str_em"].mark == "↓*"
    assert table.cells["bm25@1"]["length"].p is None and table.cells["bm25@5"]["str_em"].p is None


def test_the_baseline_is_the_first_that_competes(made_runs: Path) -> None:
    ambiguous, talks = gather(made_runs).datasets
    assert score_table(ambiguous, resamples=100).baseline == "bm25@1"
    without = score_table(ambiguous, baseline="none", resamples=100)
    assert without.baseline is None and without.tests == 0 and "better" not in legend(without)
    missing = score_table(talks, baseline="human", resamples=100)
    assert missing.baseline is None
    assert missing.notes == ["human has no scores on talks, so that nothing is tested there."]


def test_runs_over_other_questions_are_not_tested(made_runs: Path) -> None:
    from dataclasses import replace

    dataset = gather(made_runs).datasets[1]
    first, second, third = dataset.entries
    report = second.report
    shorter = replace(
        report, ids=report.ids[:-1], columns={name: column[:-1] for name, column in report.columns.items()}
    )
    found = score_table(
        replace(dataset, entries=(first, replace(second, report=shorter), third)), baseline="bm25@5", resamples=100
    )
    assert len(found.notes) == 1 and found.notes[0].startswith("bm25@1 was not tested against bm25@5: Item ")
    assert found.cells["bm25@1"]["str_em"].p is None and found.cells["question-x8"]["str_em"].p is not None


@given(st.floats(-100, 100), st.floats(0, 1))
def test_marks_tell_sign_and_level(difference: float, p: float) -> None:
    mark = mark_of(difference, p)
    if p >= 0.05 or difference == 0:
        assert mark == ""
    else:
        assert mark[0] == ("↑" if difference > 0 else "↓")
        assert mark.count("*") == (2 if p < 0.01 else 1)


def test_few_resamples_are_told(made_runs: Path) -> None:
    dataset = gather(made_runs).datasets[0]
    assert "So few resamples cannot show p < 0.22." in legend(score_table(dataset, resamples=100))
    assert "So few" not in legend(score_table(dataset, resamples=4000))


def test_markdown(table: ScoreTable) -> None:
    text = to_markdown([table])
    row = next(line for line in text.splitlines() if line.startswith("| bm25@1 "))
    assert re.fullmatch(r"\| bm25@1 \| [\d.]+ \([\d.–]+\) \| 48\.4↓\\\* \([\d.–]+\) \| 41\.8↑\\\* \([\d.–]+\) \|", row)
    assert "| hostile\\_100 |" in text and "human (upper bound)" in text
    rows = [line for line in text.splitlines() if line.startswith("|")]
    widths = {line.replace("\\|", "").count("|") for line in rows}
    assert widths == {5, 9}, "every row of a table has as many cells"


def test_latex(table: ScoreTable) -> None:
    text = to_latex([table])
    assert "hostile\\_100 & " in text and "\\toprule" in text and "\\bottomrule" in text
    assert text.count("\\begin{tabular}") == text.count("\\end{tabular}") == 2
    assert "95 \\% bootstrap" in text and "$\\uparrow$ better" in text
    assert "\\textbf{41.8}$^{\\uparrow\\ast}$ {\\scriptsize [" in text
    assert "\\textbf{100.0}" not in text.split("\\midrule")[2], "a bound is never the best"
    body = [line for line in text.splitlines() if line.endswith("\\\\")]
    assert {len(re.findall(r"(?<!\\)&", line)) for line in body} == {3, 7}
    assert all(ord(letter) < 128 for letter in text)


@given(st.text(alphabet="\\{}$&#%_^~<>|abc "))
def test_latex_escapes_everything(text: str) -> None:
    written = escape_latex(text)
    plain = re.sub(r"\\text\w+\{\}|\\[{}$&#%_]", "", written)
    assert not set(plain) & set("\\{}$&#%_^~<>|")


def test_csv_holds_numbers(table: ScoreTable) -> None:
    rows = list(csv.DictReader(io.StringIO(to_csv([table]))))
    assert len(rows) == len(csv_rows([table])) == sum(map(len, table.cells.values()))
    row = next(row for row in rows if (row["system"], row["metric"]) == ("bm25@1", "str_em"))
    cell = table.cells["bm25@1"]["str_em"]
    assert float(row["value"]) == cell.value and float(row["low"]) == cell.low and float(row["high"]) == cell.high
    assert float(row["p"]) == cell.p and float(row["p_holm"]) == cell.holm and row["mark"] == "↓*"
    baseline = next(row for row in rows if (row["system"], row["metric"]) == ("bm25@5", "str_em"))
    assert baseline["p"] == "" and baseline["baseline"] == "bm25@5"


def test_a_score_without_an_interval() -> None:
    cell = Cell(0.5, None, None, 3)
    assert (cell.text, cell.interval, cell.mark) == ("0.500", "", "")
