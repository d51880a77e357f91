"""One line on standard error, in a terminal, that says what an answer waits for; it goes when the answer comes."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from longform.cli.plain import plain

if TYPE_CHECKING:
    from longform.answer.pipeline import Pipeline
    from longform.records import Answer, Hit

__all__ = ["ask_aloud"]

_ERASE = "\r\x1b[2K"


def ask_aloud(pipeline: Pipeline, question: str) -> Iterator[str | Answer]:
    """The pieces of the answer, then the answer; until the first, a line names the pages that were found."""
    if not sys.stderr.isatty():
        yield from pipeline.stream(question)
        return
    waiting = _Waiting()
    try:
        waiting.say(f"Searching {len(pipeline.index):,} passages …")
        searched = pipeline.search(question, lambda hits: waiting.say(_pages("Found", hits)))
        waiting.say(_pages("Reading", searched.hits))
        for part in pipeline.stream(question, searched=searched):
            waiting.end()
            yield part
    finally:
        waiting.end()


class _Waiting:
    """The line, while there is one: what the answer prints stands in its place."""

    def __init__(self) -> None:
        self._there = False

    def say(self, text: str) -> None:
        room = shutil.get_terminal_size().columns - 1
        shown = text if len(text) <= room else f"{text[: room - 1]}…"
        click.echo(_ERASE + click.style(shown, dim=True), nl=False, err=True)
        self._there = True

    def end(self) -> None:
        if self._there:
            click.echo(_ERASE, nl=False, err=True)
        self._there = False


def _pages(doing: str, hits: Sequence[Hit]) -> str:
    """What is being done, and the pages it is done with.

    >>> from longform.records import Hit, Passage
    >>> tea, jam = (Hit(Passage(title, "d", title, "text", 0, 4), 1, 1.0) for title in ("Tea", "Jam"))
    >>> _pages("Reading", [tea, jam, tea])
    'Reading Tea · Jam …'
    """
    titles = dict.fromkeys(plain(hit.passage.title or hit.passage.document) for hit in hits[:20])
    return f"{doing} {' · '.join(titles)} …" if titles else ""
