"""``longform chat``: questions one after another, each understood with those before it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import partial
from typing import IO, TYPE_CHECKING, Any

import click
import orjson

from longform.cli.answering import answering_options, open_from, show_passages, show_stream, show_summary
from longform.cli.options import index_argument
from longform.cli.plain import plain
from longform.cli.progress import progress_bar
from longform.cli.waiting import ask_aloud
from longform.errors import InputError, LongformError, reason_of

if TYPE_CHECKING:
    from longform.answer.history import Resolved, Rewrite, Turn
    from longform.answer.pipeline import Pipeline
    from longform.records import Answer

__all__ = ["command"]

_PROMPT = "> "
_HELP = """\
Ask anything; a question may lean on those before it: "And in 1848?", "Where did he die?".
  1, 2, 3     ask one of the questions offered
  /passages   the passages behind the last answer
  /sources    the documents that it cites
  /why        how the question was understood, and what each sentence rests on
  /new        forget the conversation
  /help       this
  /quit       end, as Ctrl-D does; Ctrl-C stops an answer"""


@click.command("chat")
@index_argument
@answering_options
@click.option("--show", is_flag=True, help="Show the passages behind every answer.")
@click.option("--save", metavar="FILE", help="Append every question and answer to FILE, as a line of JSON.")
def command(index: str, show: bool, save: str | None, **options: Any) -> None:
    """Ask INDEX, or a folder of documents, one question after another.

    A question is understood with those before it: after "Who was the king of France in 1830?" it may be "And in
    1848?" or "Where did he die?". Questions come from the terminal, or a line each from stdin.

    \b
    longform chat my.index
    longform chat my.index --model gguf:model.gguf --save talk.jsonl
    longform chat my.index < questions.txt
    """
    from longform.answer.folders import index_of

    with ExitStack() as stack:
        file = None if save is None else stack.enter_context(_opened(save))
        with progress_bar() as progress:
            target = index_of(index, progress=progress)
        chat = _Chat(open_from(target, options), show, file)
        if sys.stdin.isatty():
            click.echo(f"{len(target):,} passages. /help says what can be typed; Ctrl-D ends.")
            with suppress(ImportError):
                import readline  # noqa: F401 - `input` edits lines and remembers them with it
            while _typed(chat):
                pass
        else:
            _piped(chat)


def _opened(path: str) -> IO[bytes]:
    try:
        return open(path, "ab")  # noqa: PTH123 - "~" was the shell's to expand, and the caller closes it
    except OSError as error:
        raise InputError(f"{path} cannot be written: {reason_of(error)}.") from error


def _typed(chat: _Chat) -> bool:
    """Take one line from the terminal; false at the end. Ctrl-C never ends the chat, whenever it comes."""
    try:
        try:
            line = input(_PROMPT).strip()
        except EOFError:
            click.echo()
            return False
        return chat.take(line)
    except KeyboardInterrupt:
        with suppress(KeyboardInterrupt):
            click.echo("\n(Ctrl-D or /quit ends.)")
        return True


def _piped(chat: _Chat) -> None:
    """Take the lines of stdin, shown as if they were typed."""
    for row in sys.stdin.buffer:
        line = row.decode("utf-8", "replace").strip()
        if line:
            click.echo(f"{_PROMPT}{plain(line)}")
        if not chat.take(line):
            return


class _Chat:
    """A conversation: what was said, what was offered, and the pipeline that answers."""

    def __init__(self, pipeline: Pipeline, show: bool, file: IO[bytes] | None) -> None:
        self.pipeline, self.show, self.file = pipeline, show, file
        self.history: list[Turn] = []
        self.asked: list[str] = []
        self.offered: tuple[str, ...] = ()
        self.understood: Resolved | None = None
        self.rewrite: Rewrite | None = None
        writer = getattr(pipeline.answerer, "model", None)
        if writer is not None:
            from longform.answer.history import rewrite_with

            self.rewrite = partial(rewrite_with, writer)

    def take(self, line: str) -> bool:
        """Do what a line asks for; false where it ends the chat."""
        word = line.lower()
        if word in ("/quit", "/exit", "/q"):
            return False
        if word.startswith("/"):
            self._command(word)
        elif line.isdecimal() and len(line) == 1:
            if line in map(str, range(1, len(self.offered) + 1)):
                self._ask(self.offered[int(line) - 1], chosen=True)
            else:
                click.echo(f"There is no question {line} on offer.")
        elif line:
            self._ask(line)
        return True

    def _command(self, word: str) -> None:
        answer = self.history[-1].answer if self.history else None
        if word == "/help":
            click.echo(_HELP)
        elif word == "/new":
            self.history, self.asked, self.offered, self.understood = [], [], (), None
            click.echo("The conversation is forgotten.")
        elif word not in ("/passages", "/sources", "/why"):
            click.echo(f"There is no command {plain(word)}: /help lists them.")
        elif answer is None:
            click.echo("There is no answer yet.")
        elif word == "/why":
            self._why(answer)
        elif not answer.answered:
            click.echo("The last answer cites nothing.")
        elif word == "/passages":
            show_passages(answer)
        else:
            _show_sources(answer)

    def _why(self, answer: Answer) -> None:
        if self.understood is not None and self.understood.reason:
            click.echo(f"Understood as: {plain(self.understood.question)} ({plain(self.understood.reason)})")
        for sentence in answer.sentences:
            marks = "".join(f"[{number}]" for number in sentence.citations) or "no passage"
            doubt = "" if sentence.supported else ", not supported"
            click.echo(f"{marks} {sentence.groundedness:.2f}{doubt}: {plain(sentence.text)}")
        show_summary(answer)

    def _ask(self, line: str, chosen: bool = False) -> None:
        from longform.answer.history import Resolved, Turn, resolve

        pieces: list[str] = []
        question = line
        answer: Answer | None = None
        try:
            # One that was offered stands alone as it is.
            self.understood = Resolved(line) if chosen else resolve(line, self.history, self.rewrite)
            question = self.understood.question
            if chosen:
                click.echo(plain(question))
            elif question != line:
                click.echo(click.style(f"Understood as: {plain(question)}", dim=True))
            answer = show_stream(_noted(ask_aloud(self.pipeline, question), pieces))
            answer = replace(answer, follow_ups=self._next(answer))
            self._show_rest(answer)
        except LongformError as error:
            click.echo(click.style("Error: ", fg="red", bold=True) + plain(str(error)), err=True)
        except KeyboardInterrupt:
            if not sys.stdin.isatty():
                raise
            click.echo("Stopped.")
        finally:
            self.offered = answer.follow_ups if answer is not None else ()
            self.history.append(Turn(question, answer))
            self.asked.append(question)
            self._save(line, question, answer, pieces)

    def _next(self, answer: Answer) -> tuple[str, ...]:
        from longform.answer.anticipate import follow_ups

        found = answer.follow_ups or follow_ups(answer, answer.passages, self.pipeline.index, asked=self.asked)
        return tuple(one for one in found if one not in self.asked)[:3]

    def _show_rest(self, answer: Answer) -> None:
        if self.show:
            show_passages(answer)
            click.echo()
        show_summary(answer)
        for number, question in enumerate(answer.follow_ups, 1):
            click.echo(f"  {click.style(str(number), fg='cyan')} {plain(question)}")

    def _save(self, line: str, question: str, answer: Answer | None, pieces: list[str]) -> None:
        if self.file is None:
            return
        row: dict[str, Any] = {"asked": line}
        if answer is None:
            row |= {"question": question, "answer": "".join(pieces), "complete": False}
        else:
            row |= answer.to_json()
        self.file.write(orjson.dumps(row) + b"\n")
        self.file.flush()


def _noted(parts: Iterator[str | Answer], pieces: list[str]) -> Iterator[str | Answer]:
    """The parts as they come, their text kept: what was written is not lost where the writing breaks off."""
    for part in parts:
        if isinstance(part, str):
            pieces.append(part)
        yield part


def _show_sources(answer: Answer) -> None:
    for number, hit in enumerate(answer.passages, 1):
        if any(number in sentence.citations for sentence in answer.sentences):
            title = f"{plain(hit.passage.title)} · " if hit.passage.title else ""
            click.echo(f"{click.style(f'[{number}]', fg='cyan', bold=True)} {title}{plain(hit.passage.document)}")
