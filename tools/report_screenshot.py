"""Take the pictures of a report in docs/images: python tools/report_screenshot.py [FOLDER]

Runs a real study over the examples with the shipped models (about a minute), makes its report, and shows it to a
browser. Needs the extra `dev` and chromium (`apt-get install chromium`, or LONGFORM_CHROMIUM).
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

from longform import Index, read
from longform.report import make_report
from longform.study.config import read_study
from longform.study.grid import run_study

ROOT = Path(__file__).parent.parent
STUDY = """
index = "examples.index"
train = {{ name = "asqa", file = "{gold}", split = "dev" }}
datasets = [{{ name = "asqa", file = "{gold}", label = "examples" }}]
systems = [
    "question",
    "random-answer",
    "bm25@1",
    "bm25@5",
    "reranked@1",
    "extractive",
    {{ kind = "extractive", given = "random", name = "extractive-random" }},
    {{ kind = "training-answer", k = 7, by = "bm25", choose = "best" }},
    "human",
]
[scores]
resamples = 2000
"""
WIDE = {"viewport": {"width": 1180, "height": 1130}, "device_scale_factor": 1.1, "reduced_motion": "reduce"}


def made_report(folder: Path) -> Path:
    """The page of a report over the examples."""
    Index.create(folder / "examples.index", read(str(ROOT / "examples" / "pages")))
    (folder / "study.toml").write_text(STUDY.format(gold=(ROOT / "examples" / "questions.json").as_posix()))
    run_study(read_study(folder / "study.toml"))
    return make_report(folder / "runs", folder / "report", baseline="bm25@1").page


def shown(browser: Any, page: Path, scheme: str, selector: str) -> Any:
    """The page, scrolled to an element."""
    found = browser.new_context(color_scheme=scheme, **WIDE).new_page()
    found.goto(page.as_uri())
    found.evaluate(f"document.querySelector({selector!r}).scrollIntoView()")
    return found


def main() -> None:
    """Take both pictures."""
    target = (Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "images").resolve()
    chromium = os.environ.get("LONGFORM_CHROMIUM") or shutil.which("chromium")
    if chromium is None:
        sys.exit("There is no chromium: apt-get install chromium, or set LONGFORM_CHROMIUM.")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        page = made_report(Path(folder))
        browser = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-dev-shm-usage", "--font-render-hinting=none"]
        )
        shown(browser, page, "light", ".plots").screenshot(path=target / "report.png")
        shown(browser, page, "dark", ".examples").screenshot(path=target / "report-examples.png")
        browser.close()
    for name in ("report.png", "report-examples.png"):
        print(f"{target / name}: {(target / name).stat().st_size // 1000} kB")


if __name__ == "__main__":
    main()
