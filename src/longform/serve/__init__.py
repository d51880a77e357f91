"""The server: the page in the browser, and the same over HTTP (extra ``serve``)."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from longform.serve.settings import NamedIndex, Settings

if TYPE_CHECKING:
    from longform.serve.app import create_app

__all__ = ["NamedIndex", "Settings", "create_app"]


def __getattr__(name: str) -> Any:
    # Exporting feedback needs the settings alone, and not the web framework.
    if name == "create_app":
        return import_module("longform.serve.app").create_app
    raise AttributeError(f"module 'longform.serve' has no attribute {name!r}")
