"""A real study, made once for all tests, and a browser; where there is none its tests are skipped."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from report_study import make_runs


@pytest.fixture(scope="session")
def made_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The runs of the study; not to be changed."""
    return make_runs(tmp_path_factory.mktemp("report"))


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
