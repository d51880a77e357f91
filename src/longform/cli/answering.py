"""What ``ask`` and ``chat`` share: the options that choose how to answer, and how an answer is shown."""

from __future__ import annotations

import re
import shutil
import sys
import textwrap
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import click
import orjson

from longform.cli.options import SEED, Function
from longform.cli.plain import plain
from longform.errors import InputError

if TYPE_CHECKING:
    from longform import Index
    from longform.answer.pipeline import Pipeline
    from longform.records import Answer

__all__ = [
    "answering_options",
    "check_options",
    "open_from",
    "show_json",
    "show_passages",
    "show_stream",
    "show_summary",
]

_MARK = re.compile(r"(\[\d+\])")
_CONTROL = re.compile(r"[\x7f-\x9f]")
# Behind a line's end, or between a space and the next word; a citation is none.
_BREAK = re.compile(r"(?<=\n)|(?<=\s)(?=[^\s\[])")


def answering_options(function: Function) -> Function:
    """How an answer is made."""
    for option in (
        click.option("--threads", type=int, metavar="N", help="Cores to use. [default: all]"),
        click.option("--seed", type=SEED, default=0, show_default=True, help="With --temperature."),
        click.option("--temperature", default=0.0, show_default=True, help="Of a language model."),
        click.option("--max-tokens", type=int, metavar="N", help="Most tokens that a language model writes."),
        click.option("--context", type=int, metavar="N", help="Tokens that a language model reads and writes in all."),
        click.option("--nli", metavar="MODEL", help="Judge the support of a language model's sentences by entailment."),
        click.option("--strict", is_flag=True, help="Drop a language model's sentences that nothing supports."),
        click.option("--best-last", is_flag=True, help="Put the best passage next to the question in the prompt."),
        click.option(
            "--prompt",
            type=click.Choice(["instruct", "asqa"]),
            default="instruct",
            show_default=True,
            help="Form of the prompt.",
        ),
        click.option("--always", is_flag=True, help="Answer even where nothing seems to answer the question."),
        click.option("--reader", default="reader", metavar="MODEL", help="The span reader. [default: shipped]"),
        click.option("--budget-ms", type=float, metavar="MS", help="Re-rank fewer candidates to stay within MS."),
        click.option("--pool", default=100, show_default=True, metavar="N", help="Candidates to re-rank."),
        click.option(
            "--rerank",
            metavar="MODEL",
            help="A re-ranker, similarity, or none. [default: shipped; with --list none]",
        ),
        click.option(
            "--mode",
            type=click.Choice(["bm25", "dense", "hybrid"]),
            help="How to search. [default: hybrid where the index has vectors, else bm25]",
        ),
        click.option("-k", "passages", type=int, metavar="N", help="Passages to answer from. [default: the model's]"),
        click.option("--words", type=int, metavar="N", help="About the most words of an answer. [default: 100]"),
        click.option(
            "--model",
            default="extractive",
            metavar="MODEL",
            help="extractive, gguf:FILE, openai:NAME@URL, hf:FOLDER, or a name of `longform models`. "
            "[default: extractive]",
        ),
    ):
        function = option(function)
    return function


def check_options(options: Mapping[str, Any]) -> None:
    """Refuse numbers that cannot be meant."""
    for name in ("passages", "pool", "words", "threads", "max_tokens", "context"):
        if options[name] is not None and options[name] < 1:
            shown = "-k" if name == "passages" else f"--{name.replace('_', '-')}"
            raise InputError(f"{shown} must be at least 1, and {options[name]} is not.")
    if options["budget_ms"] is not None and not options["budget_ms"] > 0:
        raise InputError(f"--budget-ms must be above 0, and {options['budget_ms']:g} is not.")
    if options["budget_ms"] is not None and options["rerank"] in ("similarity", "none"):
        raise InputError("--budget-ms goes with a cross-encoder: name one with --rerank, or leave both out.")
    if not options["temperature"] >= 0:
        raise InputError(f"--temperature must be at least 0, and {options['temperature']:g} is not.")


def open_from(index: Index, options: Mapping[str, Any], *, as_list: bool = False) -> Pipeline:
    """The pipeline that the options ask for."""
    from longform.answer.extractive import DEFAULT_WORDS
    from longform.answer.opening import open_pipeline

    check_options(options)
    settings = {name: value for name, value in options.items() if name not in ("model", "nli", "words")}
    return open_pipeline(
        index,
        options["model"],
        **settings,
        words=options["words"] or DEFAULT_WORDS,
        entailment=options["nli"],
        as_list=as_list,
    )


def show_json(value: Mapping[str, Any]) -> None:
    """Print JSON; the control characters that JSON lets stand as they are, a terminal would obey."""
    text = orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()
    click.echo(_CONTROL.sub(lambda found: f"\\u{ord(found.group()):04x}", text))


def show_stream(parts: Iterator[str | Answer]) -> Answer:
    """Print the pieces of an answer as they come, citations coloured; return the answer.

    Where writing breaks off, the line that was begun is ended, so that what went wrong stands on one of its own.
    """
    from longform.records import Answer

    line = _Line(_width())
    answer = None
    try:
        for part in parts:
            if isinstance(part, Answer):
                answer = part
            else:
                line.put(part)
    finally:
        line.end()
    assert answer is not None
    return answer


class _Line:
    """Prints words as they come, in lines of a width; a citation stays with the word before it."""

    def __init__(self, width: int) -> None:
        self._width, self._column, self._held, self._space = width, 0, "", False

    def put(self, piece: str) -> None:
        *whole, self._held = _BREAK.split(self._held + piece)
        for word in whole:
            self._print(word)
        sys.stdout.flush()

    def end(self) -> None:
        self._print(self._held)
        self._held = ""
        if self._column:
            click.echo()
            self._column = 0

    def _print(self, word: str) -> None:
        bare = plain(word)
        if self._column and self._column + self._space + len(bare) > self._width:
            click.echo()
            self._column, self._space = 0, False
        shown = (click.style(piece, fg="cyan") if _MARK.fullmatch(piece) else piece for piece in _MARK.split(bare))
        click.echo(f"{' ' * self._space}{''.join(shown)}", nl=False)
        self._column += self._space + len(bare)
        self._space = bool(word) and word[-1].isspace()
        for _ in range(word[len(word.rstrip()) :].count("\n")):
            click.echo()
            self._column, self._space = 0, False


def show_passages(answer: Answer) -> None:
    """The passages that an answer cites, the supporting sentences highlighted."""
    width = _width()
    places: dict[int, list[tuple[int, int]]] = {}
    for evidence in (
        *(place for sentence in answer.sentences for place in sentence.evidence),
        *(place for item in answer.items for place in item.evidence),
    ):
        places.setdefault(evidence.passage, []).append((evidence.start, evidence.end))
    if not answer.answered:
        return
    click.echo()
    for number, hit in enumerate(answer.passages, 1):
        if number not in places and not any(number in sentence.citations for sentence in answer.sentences):
            continue
        passage = hit.passage
        heading = plain(passage.title + (f" › {passage.section}" if passage.section else "")) or plain(passage.id)
        click.echo(f"{click.style(f'[{number}]', fg='cyan', bold=True)} {click.style(heading, bold=True)}")
        for line in _highlighted(passage.text, places.get(number, []), width - 4):
            click.echo(f"    {line}")
        click.echo(click.style(f"    {plain(passage.id)}", dim=True))


def _highlighted(text: str, places: list[tuple[int, int]], width: int) -> list[str]:
    """The text in lines, with what lies in the places bold and the rest dim; headings keep a line of their own."""
    lines: list[str] = []
    line: list[str] = []
    column = end = 0
    for word in re.finditer(r"\S+", text):
        bare = plain(word.group())
        new_paragraph = text.count("\n", end, word.start()) > 1
        if line and (new_paragraph or column + len(bare) > width):
            lines.append(" ".join(line))
            line, column = [], 0
        inside = any(first <= word.start() < last for first, last in places)
        line.append(click.style(bare, bold=True) if inside else click.style(bare, dim=True))
        column += len(bare) + 1
        end = word.end()
    return [*lines, " ".join(line)] if line else lines


def show_summary(answer: Answer) -> None:
    """One line: how grounded, how long each stage took; and what went wrong."""
    for warning in answer.warnings:
        for line in textwrap.wrap(f"Note: {plain(warning)}", _width()):
            click.echo(click.style(line, fg="yellow"))
    stages = " · ".join(f"{stage} {seconds:.2f} s" for stage, seconds in answer.seconds.items())
    grounded = f"groundedness {answer.groundedness:.2f} · " if answer.answered and not answer.items else ""
    click.echo(click.style(f"{grounded}{stages} · {plain(answer.model)}", dim=True))


def _width() -> int:
    return min(shutil.get_terminal_size().columns, 100) if sys.stdout.isatty() else 100
