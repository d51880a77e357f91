"""Silence for the libraries that train and export: their remarks are not for the person who waits."""

from __future__ import annotations

import contextlib
import logging
import warnings
from collections.abc import Iterator
from typing import Any

__all__ = ["quiet_libraries"]


@contextlib.contextmanager
def quiet_libraries(transformers: Any) -> Iterator[None]:
    """Silence what they print and log: what matters is checked by numbers afterwards."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    transformers.utils.logging.disable_progress_bar()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        transformers.utils.logging.enable_progress_bar()
        logging.disable(before)
