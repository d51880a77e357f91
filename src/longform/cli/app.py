"""The ``longform`` command: finds the subcommand, and turns every error into one line and an exit code."""

from __future__ import annotations

import os
import sys

import click

from longform._version import __version__
from longform.cli.lazy import LazyGroup
from longform.errors import LongformError, reason_of

__all__ = ["COMMANDS", "app", "main"]

# Name, and the line that `longform --help` shows for it: no command's module is loaded before it is called.
COMMANDS = {
    "index": "Make an index of documents.",
    "add": "Add documents to an index, or replace them.",
    "remove": "Remove documents from an index.",
    "search": "Search an index.",
    "ask": "Answer a question from an index or a folder, with citations.",
    "chat": "Ask one question after another, each understood with those before it.",
    "serve": "Ask in the browser, and over HTTP.",
    "feedback": "Make training questions of what people said of answers.",
    "silver": "Choose passages that support known answers, to learn from.",
    "models": "List the models that are here, and fetch more.",
    "info": "Say what an index holds, and check it.",
    "compact": "Rewrite an index without what was deleted.",
    "train": "Train a re-ranker, an encoder or a reader.",
    "score": "Score answers or rankings as a benchmark does.",
    "data": "List datasets, and say what each holds.",
    "study": "Run an experiment and write its table.",
    "audit": "Check that scores mean what they seem to.",
    "compare": "Compare two scored systems, item by item.",
}

INTERRUPTED = 130


class _ReaderGoneError(Exception):
    """The reader of our output has gone; not an OSError, of which click would make exit code 1."""


class _App(LazyGroup):
    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except BrokenPipeError as error:
            raise _ReaderGoneError from error


@click.group(
    cls=_App,
    package="longform.cli",
    summaries=COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="longform")
@click.option("--debug", is_flag=True, help="Show the stack trace of an error.")
def app(debug: bool) -> None:
    """Search your own documents, train the search, and score long answers as the benchmarks do."""
    if debug:
        os.environ["LONGFORM_DEBUG"] = "1"


def main() -> None:
    """Run the command line and exit: 0 done, 2 a mistake in the request, 1 a failure, 130 interrupted."""
    try:
        code = app.main(prog_name="longform", standalone_mode=False)
        sys.stdout.flush()
    except click.exceptions.Abort:
        code = _interrupted()
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except LongformError as error:
        _reraise_in_debug()
        _complain(str(error))
        code = error.exit_code
    except KeyboardInterrupt:
        code = _interrupted()
    except (BrokenPipeError, _ReaderGoneError):
        # `| head` has had enough: nothing is left to say, and nobody to say it to.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    except OSError as error:
        _reraise_in_debug()
        what = f" ({error.filename})" if error.filename else ""
        _complain(f"The system does not let Longform go on: {reason_of(error)}{what}.")
        code = 1
    except Exception as error:
        _reraise_in_debug()
        _complain(
            f"Longform failed in a way that it should not ({type(error).__name__}: {error}). "
            "Run `longform --debug …` for the details."
        )
        code = 1
    sys.exit(code if isinstance(code, int) else 0)


def _interrupted() -> int:
    click.echo("Interrupted.", err=True)
    return INTERRUPTED


def _complain(sentence: str) -> None:
    click.echo(click.style("Error: ", fg="red", bold=True) + sentence, err=True)


def _reraise_in_debug() -> None:
    if os.environ.get("LONGFORM_DEBUG"):
        raise
