"""The command line: one file per command, each of which parses, calls the library, and prints."""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line; what takes time to load is loaded here, where Ctrl-C already has its own exit code."""
    try:
        from longform.cli.app import main as run
    except KeyboardInterrupt:
        sys.exit(130)
    run()
