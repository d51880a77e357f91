"""The command line: one file per command, each of which parses, calls the library, and prints."""

from __future__ import annotations

from longform.cli.app import main

__all__ = ["main"]
