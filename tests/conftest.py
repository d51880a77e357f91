"""What all tests share: the long forms of slow tests, and the evaluation data beside the checkout."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

# The same examples in every run of the continuous integration, so that a change never fails for what it did not touch;
# on a desk, new ones every time. No example has a time limit of its own: these machines are shared.
settings.register_profile("ci", derandomize=True, deadline=None)
settings.register_profile("desk", deadline=None)
settings.load_profile("ci" if os.environ.get("CI") else "desk")

ROOT = Path(__file__).parent.parent
SHARED = Path(os.environ.get("LONGFORM_SHARED", ROOT.parent / "shared"))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--long", action="store_true", help="run the long form of slow tests")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("--long"):
        for item in items:
            if item.get_closest_marker("long"):
                item.add_marker(pytest.mark.skip(reason="runs with --long"))


@pytest.fixture(scope="session")
def long_form(request: pytest.FixtureRequest) -> bool:
    """Whether slow tests shall run in their long form."""
    return bool(request.config.getoption("--long"))


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with evaluation data; the test is skipped where there is none."""
    if not SHARED.is_dir():
        pytest.skip(f"no evaluation data at {SHARED} (set LONGFORM_SHARED)")
    return SHARED


@pytest.fixture(scope="session")
def examples() -> Path:
    """The collection that the repository carries."""
    return ROOT / "examples"


def chromium_path() -> str | None:
    """Debian's chromium, or the browser that LONGFORM_CHROMIUM names."""
    named = os.environ.get("LONGFORM_CHROMIUM")
    return named or shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """One browser for all tests: Playwright runs once in a process."""
    playwright = pytest.importorskip("playwright.sync_api", reason="the dev extra has Playwright")
    path = chromium_path()
    if path is None:
        pytest.skip("there is no chromium: apt-get install chromium, or set LONGFORM_CHROMIUM")
    with playwright.sync_playwright() as running:
        found = running.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-dev-shm-usage"])
        yield found
        found.close()
