"""The run store: nothing is lost, nothing is done twice, nothing else is mixed in, and two writers do not meet."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longform import InputError
from longform.errors import FailureError
from longform.study.ledger import Ledger, read_ledger
from longform.study.run_writer import RunBusyError, writing_run
from longform.study.runs import Run, find_runs

IDENTITY = {"system": {"kind": "question", "times": 8}, "examples": "0" * 64, "task": "text", "seed": 0}


def begin(folder: Path, items: int = 3, **identity: Any) -> Any:
    return writing_run(
        folder, system="q", dataset="d", config={"kind": "question"}, identity={**IDENTITY, **identity}, items=items
    )


def test_a_run_keeps_what_it_was_made_with(tmp_path: Path) -> None:
    with begin(tmp_path / "r") as writer:
        writer.finish({"id": "a", "answers": [{"text": "x"}], "seconds": {"total": 0.5}})
    run = Run.open(tmp_path / "r")
    assert (run.system, run.dataset, run.task, run.complete) == ("q", "d", "text", False)
    assert run.record["identity"]["system"] == {"kind": "question", "times": 8}
    assert run.record["versions"].keys() >= {"longform", "python", "numpy"}
    assert run.record["machine"].keys() == {"system", "processor", "cores", "memory_gb"}
    assert run.rows["a"]["seconds"] == {"total": 0.5}
    with begin(tmp_path / "r") as writer:
        assert list(writer.done) == ["a"]
        writer.finish({"id": "b", "answers": []})
        writer.finish({"id": "c", "answers": []})
    assert Run.open(tmp_path / "r").complete
    sessions = read_ledger(tmp_path / "r" / "sessions.jsonl", key=None)
    assert [row["finished"] for row in sessions.values()] == [0, 1]
    assert [run.system for run in find_runs(tmp_path)] == ["q"]


def test_what_was_begun_otherwise_is_refused_and_kept(tmp_path: Path) -> None:
    with begin(tmp_path / "r") as writer:
        writer.finish({"id": "a", "answers": []})
    before = (tmp_path / "r" / "items.jsonl").read_bytes()
    with (
        pytest.raises(InputError, match=r"made with another system\.times \(8, now 5\): change it back"),
        begin(tmp_path / "r", system={"kind": "question", "times": 5}),
    ):
        pass
    with pytest.raises(InputError, match=r"made with another seed \(0, now 1\)"), begin(tmp_path / "r", seed=1):
        pass
    assert (tmp_path / "r" / "items.jsonl").read_bytes() == before


def test_only_a_finished_run_may_be_of_another_version(tmp_path: Path) -> None:
    with begin(tmp_path / "r", 2) as writer:
        writer.finish({"id": "a", "answers": []})
    path = tmp_path / "r" / "run.json"
    record = json.loads(path.read_text())
    record["identity"]["longform"] = "0.0.1"
    path.write_text(json.dumps(record))
    with pytest.raises(InputError, match=r"another longform \(0\.0\.1, now "), begin(tmp_path / "r", 2):
        pass
    with (tmp_path / "r" / "items.jsonl").open("a") as file:
        file.write('{"id": "b", "answers": []}\n')
    with begin(tmp_path / "r", 2) as writer:
        assert len(writer.done) == 2


CHILD = """
import sys
from pathlib import Path
from longform.study.run_writer import writing_run
identity = {"system": {"kind": "question", "times": 8}, "examples": "0" * 64, "task": "text", "seed": 0}
with writing_run(Path(sys.argv[1]), system="q", dataset="d", config={}, identity=identity, items=3) as writer:
    writer.finish({"id": "theirs", "answers": []})
    print("held", flush=True)
    sys.stdin.read()
"""


def test_two_processes_do_not_write_one_run(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", CHILD, str(tmp_path / "r")], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as child:
        assert child.stdout is not None
        assert child.stdin is not None
        assert child.stdout.readline() == b"held\n"
        with pytest.raises(RunBusyError, match="is being written by another process"), begin(tmp_path / "r"):
            pass
        assert list(Run.open(tmp_path / "r").rows) == ["theirs"], "it can be read all the same"
        child.kill()
        child.wait()
    with begin(tmp_path / "r") as writer:
        assert list(writer.done) == ["theirs"]
        writer.finish({"id": "ours", "answers": []})
    assert list(Run.open(tmp_path / "r").rows) == ["theirs", "ours"]


@settings(deadline=None, max_examples=40)
@given(st.lists(st.text(max_size=5), min_size=1, max_size=6, unique=True), st.data())
def test_a_ledger_cut_anywhere_keeps_every_whole_line(
    tmp_path_factory: pytest.TempPathFactory, ids: list[str], data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("ledger") / "items.jsonl"
    with Ledger(path) as ledger:
        for identifier in ids:
            ledger.append({"id": identifier, "text": "line\nbreak"})
    whole = path.read_bytes()
    cut = data.draw(st.integers(0, len(whole)))
    path.write_bytes(whole[:cut])
    kept = whole[:cut].count(b"\n")
    with Ledger(path) as ledger:
        assert list(ledger.rows) == ids[:kept]
        for identifier in ids[kept:]:
            ledger.append({"id": identifier, "text": "line\nbreak"})
    assert path.read_bytes() == whole


def test_a_damaged_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "items.jsonl"
    path.write_bytes(b'{"id": "a"}\n{"id": \n{"id": "b"}\n')
    with pytest.raises(FailureError, match=r"items\.jsonl, line 2, is damaged: remove that line"):
        read_ledger(path)
    path.write_bytes(b'{"id": "a"}\n{"id": "a"}\n{"id": "b"}\n')
    with pytest.raises(FailureError, match="line 2, is damaged"):
        read_ledger(path)
    path.write_bytes(b'{"id": "a"}\n\0\0\0\n')
    assert list(read_ledger(path)) == ["a"], "a last line whose bytes never reached the disk was never finished"


def test_what_is_no_run(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is no run: `longform study run` makes runs"):
        Run.open(tmp_path)
    with pytest.raises(InputError, match="There are no runs in"):
        find_runs(tmp_path)
    (tmp_path / "run.json").write_text("{")
    with pytest.raises(FailureError, match=r"run\.json is damaged"):
        Run.open(tmp_path)
    (tmp_path / "run.json").write_text('{"format": "other/1"}')
    with pytest.raises(InputError, match="a run of another version"):
        Run.open(tmp_path)


def test_other_examples_than_the_runs_are_not_taken(tmp_path: Path) -> None:
    with begin(tmp_path / "r"):
        pass
    (tmp_path / "examples.jsonl").write_text('{"id": "a", "question": "Who?"}\n')
    with pytest.raises(FailureError, match=r"is not the file that .* was made with"):
        _ = Run.open(tmp_path / "r").examples


def test_a_run_that_has_not_begun_may_become_another(tmp_path: Path) -> None:
    with begin(tmp_path / "r"):
        pass
    with begin(tmp_path / "r", seed=1) as writer:
        writer.finish({"id": "a", "answers": []})
    assert Run.open(tmp_path / "r").record["identity"]["seed"] == 1


@pytest.mark.parametrize("change", [{"identity": 5}, {"items": "x"}, {"system": None}, {"config": []}])
def test_a_damaged_record_is_named(change: dict[str, Any], tmp_path: Path) -> None:
    with begin(tmp_path / "r"):
        pass
    record = json.loads((tmp_path / "r" / "run.json").read_text())
    (tmp_path / "r" / "run.json").write_text(json.dumps({**record, **change}))
    with pytest.raises(FailureError, match=r"run\.json is damaged: remove .*, and the study makes it anew"):
        Run.open(tmp_path / "r")


@pytest.mark.parametrize("row", [{"id": "a"}, {"id": "a", "answers": [5]}, {"id": "a", "answers": [{}]}])
def test_a_line_that_is_no_item_is_named(row: dict[str, Any], tmp_path: Path) -> None:
    with begin(tmp_path / "r"):
        pass
    (tmp_path / "r" / "items.jsonl").write_text(json.dumps(row) + "\n")
    for use in (lambda: Run.open(tmp_path / "r").rows, lambda: begin(tmp_path / "r").__enter__()):
        with pytest.raises(FailureError, match=r"items\.jsonl is damaged: its line for a has no answers"):
            use()
