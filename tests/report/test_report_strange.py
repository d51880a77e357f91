"""Reports of what nobody expects: no runs, nothing finished, names that are long, foreign or hostile."""

from __future__ import annotations

import json
import shutil
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner, Result

from longform.cli.study.report import command
from longform.errors import InputError
from longform.report import make_report
from longform.report.bounds import read_bounds
from longform.study.config import read_study
from longform.study.grid import run_study

EVIL = "<script>document.title = 'run'</script><img src=x onerror=alert(1)>\"'&"
LONG = "x" * 200
FOREIGN = "système_长名字"


class Tags(HTMLParser):
    """Counts the elements of a page, and keeps attributes that would run something."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.count: dict[str, int] = {}
        self.handlers: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.count[tag] = self.count.get(tag, 0) + 1
        self.handlers += [name for name, _ in attributes if name.startswith("on")]


@pytest.fixture(scope="module")
def strange(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("strange")
    rows = [
        {"id": f"{EVIL}{number}", "question": f"Who? {EVIL}", "long_answers": [EVIL, "Ada."], "short_answers": [[EVIL]]}
        for number in range(4)
    ]
    (place / "q.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    passage = {"id": EVIL, "title": EVIL, "text": EVIL}
    said = [{"id": row["id"], "answer": f"{EVIL} [1]", "passages": [passage]} for row in rows]
    (place / "said.jsonl").write_text("".join(json.dumps(row) + "\n" for row in said))
    stored = ", ".join(f'{{ kind = "stored", file = "said.jsonl", name = "{name}" }}' for name in (LONG, FOREIGN))
    (place / "study.toml").write_text(
        f'datasets = [{{ file = "q.jsonl", label = "{"l" * 180}" }}]\nsystems = ["question", {stored}]\n'
        "[scores]\nresamples = 20\n"
    )
    run_study(read_study(place / "study.toml"))
    return place / "runs"


def made_page(runs: Path, output: Path) -> str:
    made = make_report(runs, output, examples=3, resamples=20)
    for path in made.files:
        assert len(path.name.encode()) < 200
        if path.suffix == ".svg":
            ElementTree.fromstring(path.read_text())
    return made.page.read_text()


def test_long_and_foreign_names_and_hostile_questions(strange: Path, tmp_path: Path) -> None:
    html = made_page(strange, tmp_path / "report")
    tags = Tags(html)
    assert tags.count["script"] == 1 and "img" not in tags.count and tags.handlers == []
    assert FOREIGN in html and LONG in html
    assert FOREIGN.replace("_", "\\_") in (tmp_path / "report" / "tables.md").read_text()
    assert len(list((tmp_path / "report" / "plots").iterdir())) >= 4, "cut names are still different"


def test_hostile_names_in_the_records_of_runs(strange: Path, tmp_path: Path) -> None:
    runs = Path(shutil.copytree(strange, tmp_path / "runs"))
    for path in runs.rglob("run.json"):
        record = json.loads(path.read_text())
        path.write_text(json.dumps({**record, "system": EVIL + record["system"][:5], "dataset": EVIL}))
    finding = {"check": EVIL, "verdict": "fine", "words": EVIL, "notes": [EVIL], "numbers": {EVIL: EVIL}}
    (runs / "findings.json").write_text(json.dumps([finding]))
    tags = Tags(made_page(runs, tmp_path / "report"))
    assert tags.count["script"] == 1 and "img" not in tags.count and tags.handlers == []
    assert "<script" not in (tmp_path / "report" / "tables.md").read_text().replace("\\<", "")


def test_a_name_that_no_folder_can_have(tmp_path: Path) -> None:
    (tmp_path / "q.jsonl").write_text('{"id": "a", "question": "Who?", "short_answers": [["Ada"]]}\n')
    path = tmp_path / "study.toml"
    path.write_text(f'datasets = [{{ file = "q.jsonl" }}]\nsystems = [{{ kind = "question", name = "{"é" * 200}" }}]')
    with pytest.raises(
        InputError, match=r"The name é{20}… of a system is too long for a folder: 200 bytes are the most"
    ):
        read_study(path)


def call(*given: object) -> Result:
    return CliRunner().invoke(command, [str(one) for one in given])


def test_what_holds_no_runs(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "folder" / "asqa" / "run").mkdir(parents=True)
    for place, message in (
        ("folder", f"There are no runs in {tmp_path / 'folder'}: `longform study run` makes some."),
        ("file", f"{tmp_path / 'file'} is no folder with runs: `longform study run` makes some."),
        ("nowhere", f"{tmp_path / 'nowhere'} is no folder with runs: `longform study run` makes some."),
    ):
        result = call(tmp_path / place, "-o", tmp_path / "report")
        assert isinstance(result.exception, InputError) and str(result.exception) == message
    assert not (tmp_path / "report").exists()


def test_nothing_is_finished(strange: Path, tmp_path: Path) -> None:
    runs = Path(shutil.copytree(strange, tmp_path / "runs"))
    for path in runs.rglob("run.json"):
        shutil.rmtree(path.parent / "scores")
        (path.parent / "items.jsonl").unlink()
    result = call(runs, "-o", tmp_path / "report")
    assert result.exit_code == 0
    assert "question-x8 on" in result.stderr and "0 of 4 (0 %) answers." in result.stderr
    assert "there is nothing to compare yet" in (tmp_path / "report" / "index.html").read_text()


@pytest.mark.parametrize("value", [10**12, -1])
def test_numbers_that_nobody_means(tmp_path: Path, value: int) -> None:
    for option in ("--resamples", "--examples"):
        result = call(tmp_path, "-o", tmp_path / "report", option, value)
        assert result.exit_code == 2 and f"and {value:,} does not." in result.output


@pytest.mark.parametrize("value", ['"inf"', '"nan"'])
def test_a_bound_without_end(tmp_path: Path, value: str) -> None:
    (tmp_path / "bounds.json").write_text(f'[{{"name": "x", "side": "lower", "scores": {{"f1": {value}}}}}]')
    with pytest.raises(InputError, match="holds no bounds"):
        read_bounds(tmp_path / "bounds.json", "d")
