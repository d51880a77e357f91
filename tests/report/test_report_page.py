"""The page and the command: what is written, what is escaped, and what a mistake is told."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from report_study import HOSTILE

from longform.cli.app import app
from longform.errors import FailureError, InputError
from longform.report import ReportFiles, make_report
from longform.report.markup import tag

VOID = ("meta", "input", "br", "hr", "img", "link")


class Elements(HTMLParser):
    """The elements of a page, each closed in its turn, with their ids and links."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.names: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.attributes: set[str] = set()

    def handle_starttag(self, name: str, attributes: list[tuple[str, str | None]]) -> None:
        self.names.append(name)
        self.attributes |= {key for key, _ in attributes}
        found = dict(attributes)
        self.ids += [found["id"]] if found.get("id") else []
        self.links += [value for key in ("href", "src") if (value := found.get(key))]
        if name not in VOID:
            self.open.append(name)

    def handle_startendtag(self, name: str, attributes: list[tuple[str, str | None]]) -> None:
        self.names.append(name)
        self.attributes |= {key for key, _ in attributes}

    def handle_endtag(self, name: str) -> None:
        assert self.open.pop() == name


@pytest.fixture(scope="module")
def report(made_runs: Path, tmp_path_factory: pytest.TempPathFactory) -> ReportFiles:
    return make_report(made_runs, tmp_path_factory.mktemp("page") / "out", examples=6, resamples=500)


@pytest.fixture(scope="module")
def html(report: ReportFiles) -> str:
    return report.page.read_text(encoding="utf-8")


def test_what_is_written(report: ReportFiles) -> None:
    names = {path.relative_to(report.page.parent).as_posix() for path in report.files}
    assert {"index.html", "tables.md", "tables.tex", "scores.csv"} <= names
    again = (report.page.parent / "tables.md").read_text().partition("## Make it again")[2]
    assert "longform study run" in again and "longform study report" in again and "| examples.jsonl |" in again
    assert {"plots/str-em-on-ambiguous.svg", "plots/answer-recall-per-turn-on-talks.svg"} <= names
    assert all(path.is_file() for path in report.files)
    assert report.examples == 12 and report.caveats == []


def test_the_same_runs_give_the_same_bytes(report: ReportFiles, made_runs: Path, tmp_path: Path) -> None:
    command = f"longform study report {made_runs} -o {report.page.parent}"
    again = make_report(made_runs, tmp_path / "again", examples=6, resamples=500, command=command)
    assert [path.read_bytes() for path in again.files] == [path.read_bytes() for path in report.files]


def test_the_page_is_whole(html: str) -> None:
    page = Elements()
    page.feed(html)
    assert page.open == []
    assert len(page.ids) == len(set(page.ids)), "no id stands twice"
    assert {link[1:] for link in page.links if link.startswith("#")} <= set(page.ids), "every link leads somewhere"
    assert all(link.startswith("#") for link in page.links), "nothing comes from elsewhere"
    assert page.names.count("script") == page.names.count("style") == 1
    assert "img" not in page.names and "style" not in page.attributes
    assert not any(name.startswith("on") for name in page.attributes)


def test_the_policy_allows_the_one_script_and_style(html: str) -> None:
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', html)
    assert policy is not None
    told = policy[1].replace("&#x27;", "'")
    assert told.startswith("default-src 'none'; ") and "unsafe" not in told
    for name in ("script", "style"):
        text = re.search(rf"<{name}>(.*?)</{name}>", html, re.DOTALL)
        assert text is not None
        digest = base64.b64encode(hashlib.sha256(text[1].encode()).digest()).decode()
        assert f"{name}-src 'sha256-{digest}'" in told


def test_what_an_answer_says_is_shown_not_run(html: str) -> None:
    assert HOSTILE not in html and "<script>document.title" not in html and "<img" not in html
    assert "&lt;script&gt;" in html and "&lt;b&gt;Title&lt;/b&gt;" in html
    assert '<span class="ungrounded">Zanzibar</span>' in html
    assert re.search(r'<a href="#d0-e\d-p\d+" class="cite">\[1\]</a> <span class="cite">\[9\]</span>', html)


def test_characters_that_html_forbids_are_replaced() -> None:
    assert tag("p", "a\x00b\x1bc\td", title="\x7f") == '<p title="\ufffd">a\ufffdb\ufffdc\td</p>'


_TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc"]))


@given(_TEXTS, _TEXTS)
def test_markup_escapes(inner: str, value: str) -> None:
    class Text(HTMLParser):
        found = ""
        title: str | None = None

        def handle_data(self, data: str) -> None:
            self.found += data

        def handle_starttag(self, name: str, attributes: list[tuple[str, str | None]]) -> None:
            assert name == "p"
            self.title = dict(attributes)["title"]

    parser = Text()
    parser.feed(tag("p", inner, title=value))
    parser.close()
    assert parser.found == inner and (parser.title or "") == value


def test_the_end_of_the_page_says_how_to_make_it_again(html: str, made_runs: Path) -> None:
    record = json.loads((made_runs / "ambiguous" / "bm25@1" / "run.json").read_text())
    for digest in (record["identity"]["examples"], record["identity"]["dataset"]["sha256"]):
        assert digest in html
    assert record["identity"]["system"]["index"] in html and record["versions"]["numpy"] in html
    assert "longform study run study.toml" in html and "longform study report" in html
    assert "questions.json" in html and "/examples/questions.json" not in html, "no folders of the machine"


def test_an_unfinished_run_is_shown_as_such(runs: Path, tmp_path: Path) -> None:
    items = runs / "ambiguous" / "bm25@5" / "items.jsonl"
    items.write_bytes(b"".join(items.read_bytes().splitlines(keepends=True)[:6]))
    made = make_report(runs, tmp_path / "out", baseline="bm25@5", resamples=100, examples=1)
    html = made.page.read_text(encoding="utf-8")
    assert "bm25@5 is not finished: 6 of 24 (25 %)" in html
    assert '<progress max="24" value="6"' in html
    assert "bm25@5 has no scores on ambiguous, so that nothing is tested there." in html
    assert not any(row.startswith("ambiguous,bm25@5") for row in (tmp_path / "out" / "scores.csv").read_text().split())


def test_nothing_is_finished(runs: Path, tmp_path: Path) -> None:
    for items in runs.glob("*/*/items.jsonl"):
        items.write_bytes(b"".join(items.read_bytes().splitlines(keepends=True)[:1]))
    made = make_report(runs, tmp_path / "out", resamples=100)
    assert made.tables == [] and made.examples == 0
    assert made.page.read_text().count("there is nothing to compare yet") == 2


def test_findings_are_on_the_page(runs: Path, tmp_path: Path) -> None:
    finding = {"check": "Length <i>", "verdict": "concern", "words": "40 % is length.", "notes": ["a note"]}
    numbers = {"share": 0.41234, "by": {"cut": [1, 2]}, "rows": [{"n": 3}]}
    (runs / "findings.json").write_text(json.dumps([{**finding, "numbers": numbers}]))
    html = make_report(runs, tmp_path / "out", resamples=100, examples=0).page.read_text(encoding="utf-8")
    assert "Length &lt;i&gt;" in html and "40 % is length." in html and "a note" in html
    assert "0.4123" in html and "by.cut" in html and "1, 2" in html and "rows.1.n" in html


def test_only_some_scores(made_runs: Path, tmp_path: Path) -> None:
    made = make_report(made_runs, tmp_path / "out", metrics=["str_em", "groundedness"], resamples=100, examples=1)
    assert [list(table.metrics) for table in made.tables] == [["str_em", "groundedness"]] * 2


def test_mistakes(made_runs: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with pytest.raises(InputError, match=r"no system bm52 in .* to be the baseline: there are question-x8, random-a"):
        make_report(made_runs, out, baseline="bm52")
    with pytest.raises(InputError, match=r"There is no score F9 in .*: there are length, str_em"):
        make_report(made_runs, out, metrics=["F9"])
    with pytest.raises(InputError, match=r"The number of examples is 0 or more, not -1\."):
        make_report(made_runs, out, examples=-1)
    with pytest.raises(InputError, match=r"At least one resample is needed, not 0\."):
        make_report(made_runs, out, resamples=0)
    (tmp_path / "file").write_text("kept")
    with pytest.raises(InputError, match=r"file is a file: name a folder for the report\."):
        make_report(made_runs, tmp_path / "file", resamples=1)
    with pytest.raises(FailureError, match=r"cannot be written: not a directory\."):
        make_report(made_runs, tmp_path / "file" / "out", resamples=1)
    assert (tmp_path / "file").read_text() == "kept" and not out.exists()


def test_the_command(made_runs: Path, tmp_path: Path) -> None:
    out = tmp_path / "my report"
    given = ["study", "report", str(made_runs), "-o", str(out), "--resamples", "200", "--examples", "2"]
    done = CliRunner().invoke(app, [*given, "--baseline", "bm25@5", "--title", "A <title>"], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    assert "ambiguous: 7 systems, tested against bm25@5" in done.output
    assert re.search(r"index\.html: \d+ kB, 4 examples; tables and plots are beside it\.", done.output)
    html = (out / "index.html").read_text(encoding="utf-8")
    assert "<h1>A &lt;title&gt;</h1>" in html
    assert "--baseline bm25@5 --examples 2 --resamples 200 --title &#x27;A &lt;title&gt;&#x27;" in html
    done = CliRunner().invoke(app, [*given, "--json"], catch_exceptions=False)
    row = json.loads(done.output)
    assert row["page"] == str(out / "index.html") and row["caveats"] == []
    assert {"dataset", "system", "metric", "value", "p_holm"} <= set(row["scores"][0])


def test_notes_go_to_standard_error(runs: Path, tmp_path: Path) -> None:
    items = runs / "talks" / "bm25@5" / "items.jsonl"
    items.write_bytes(b"".join(items.read_bytes().splitlines(keepends=True)[:3]))
    given = ["study", "report", str(runs), "-o", str(tmp_path / "out"), "--resamples", "50", "--examples", "0"]
    done = CliRunner().invoke(app, given, catch_exceptions=False)
    assert "Note: bm25@5 on talks is not finished and is in no table: 3 of 10 (30 %) answers." in done.stderr
    assert "Note" not in done.stdout
