"""A real study, made once for all tests, and a browser; where there is none its tests are skipped."""

from __future__ import annotations

import shutil
from pathlib import Path

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
