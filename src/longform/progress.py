"""How long work tells how far it is: one callable, so that the library never prints."""

from __future__ import annotations

from typing import Protocol

__all__ = ["Progress", "no_progress"]


class Progress(Protocol):
    """Called as work goes on: ``stage`` names it, ``done`` of ``total`` (``None`` where it is not known)."""

    def __call__(self, stage: str, done: int, total: int | None = None) -> None: ...


def no_progress(stage: str, done: int, total: int | None = None) -> None:
    """Ignore it: the default."""
