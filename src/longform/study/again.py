"""How a page of results ends: the command that makes it again, and the files that it read."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["make_again"]


def make_again(command: str, hashes: Mapping[str, str], seed: int) -> list[str]:
    """The last paragraphs of a page.

    >>> make_again("longform x", {"a.json": "0f"}, 0)[1].splitlines()[-1]
    '| a.json | 0f |'
    """
    return [
        f"## Make it again\n\n```\n{command}\n```\n\nSeed {seed}. The files that it read:",
        "\n".join(["| file | sha256 |", "|---|---|", *(f"| {name} | {value} |" for name, value in hashes.items())]),
    ]
