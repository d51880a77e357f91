"""Small models train fastest on one thread: several would wait for each other longer than they compute."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True, scope="session")
def _one_thread() -> None:
    patch = pytest.MonkeyPatch()
    patch.setenv("OMP_NUM_THREADS", "1")
