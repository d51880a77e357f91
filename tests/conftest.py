"""What all tests share: the long forms of slow tests, and the evaluation data beside the checkout."""

from __future__ import annotations

import os
from pathlib import Path

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
