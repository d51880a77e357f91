"""A real study over the examples, made once: quick systems, one that is hostile, conversations, an unfinished run."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from longform import Index, read
from longform.study.config import read_study
from longform.study.grid import run_study

EXAMPLES = Path(__file__).parents[2] / "examples"
HOSTILE = '<script>document.title = "run"</script> <img src=x onerror="document.title = \'run\'"> & Zanzibar [1] [9].'

STUDY = f"""
index = "examples.index"
train = {{ name = "asqa", file = "{EXAMPLES / "questions.json"}", split = "dev" }}
datasets = [
    {{ name = "asqa", file = "{EXAMPLES / "questions.json"}", label = "ambiguous", limit = 24 }},
    {{ file = "talks.jsonl" }},
]
systems = [
    "question",
    {{ kind = "random-answer", datasets = ["ambiguous"] }},
    "bm25@1",
    "bm25@5",
    {{ kind = "stored", file = "hostile.jsonl", name = "hostile_100", datasets = ["ambiguous"] }},
    {{ kind = "training-answer", k = 7, by = "bm25", choose = "best", datasets = ["ambiguous"] }},
    {{ kind = "human", datasets = ["ambiguous"] }},
]
[scores]
resamples = 200
"""


@pytest.fixture(scope="session")
def made_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The runs of the study; not to be changed."""
    folder = tmp_path_factory.mktemp("report")
    Index.create(folder / "examples.index", read(str(EXAMPLES / "pages")))
    items = json.loads((EXAMPLES / "questions.json").read_text(encoding="utf-8"))["dev"]
    with (folder / "talks.jsonl").open("w", encoding="utf-8") as talks:
        for identifier, item in list(items.items())[:10]:
            first, *later = item["qa_pairs"]
            row = {
                "id": identifier,
                "question": first["question"],
                "short_answers": [first["short_answers"]],
                "follow_ups": [
                    {"id": f"{identifier}-{turn}", "question": pair["question"], "short_answers": [pair["short_answers"]]}
                    for turn, pair in enumerate(later, 1)
                ],
            }
            talks.write(json.dumps(row) + "\n")
    with (folder / "hostile.jsonl").open("w", encoding="utf-8") as file:
        for identifier in items:
            passage = {"id": "p", "title": "<b>Title</b>", "text": "A script for an image."}
            file.write(json.dumps({"id": identifier, "answer": HOSTILE, "passages": [passage]}) + "\n")
    (folder / "study.toml").write_text(STUDY, encoding="utf-8")
    run_study(read_study(folder / "study.toml"))
    return folder / "runs"


@pytest.fixture
def runs(made_runs: Path, tmp_path: Path) -> Path:
    """A copy of the runs that a test may break."""
    return Path(shutil.copytree(made_runs, tmp_path / "runs"))


def chromium_path() -> str | None:
    """Debian's chromium, or the browser that LONGFORM_CHROMIUM names."""
    named = os.environ.get("LONGFORM_CHROMIUM")
    return named or shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """One browser for all tests."""
    playwright = pytest.importorskip("playwright.sync_api", reason="the dev extra has Playwright")
    path = chromium_path()
    if path is None:
        pytest.skip("there is no chromium: apt-get install chromium, or set LONGFORM_CHROMIUM")
    with playwright.sync_playwright() as running:
        found = running.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-dev-shm-usage"])
        yield found
        found.close()
