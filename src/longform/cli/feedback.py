"""``longform feedback``: what people said of answers, made into questions to learn from."""

from __future__ import annotations

import click
import orjson

from longform.cli.options import counted, json_option
from longform.errors import InputError

__all__ = ["command"]


@click.group("feedback")
def command() -> None:
    """What people said of the answers of `longform serve`."""


@command.command("export")
@click.option(
    "-o", "--output", required=True, metavar="FILE", help="JSONL to write, for `longform silver --questions`."
)
@click.option("--home", metavar="FOLDER", help="The server's. [default: ~/.local/share/longform/serve]")
@json_option
def export(output: str, home: str | None, as_json: bool) -> None:
    """Write the questions whose answers were liked or corrected, with those answers.

    \b
    longform feedback export -o qa.jsonl
    longform silver my.index --questions qa.jsonl -o silver.jsonl
    """
    from pathlib import Path

    from longform.files import atomic_write
    from longform.serve.settings import default_home

    try:
        from longform.serve.database import DATABASE, Database
    except ImportError as error:
        raise InputError(
            f"Reading feedback needs {error.name}: `pip install 'longform[serve]'` installs it."
        ) from error
    from longform.serve.history import History
    from longform.serve.training import training_questions

    folder = Path(home).expanduser() if home else default_home()
    if not (folder / DATABASE).is_file():
        raise InputError(
            f"{folder} holds no feedback: `longform serve` keeps it there, or name its folder with --home."
        )
    target = Path(output)
    if target.is_dir():
        raise InputError(f"{output} is a folder: name the file to write.")
    database = Database(folder)
    try:
        exported = training_questions(History(database).rated())
    finally:
        database.close()
    if not exported.questions:
        raise InputError(
            f"No answer in {folder} was liked or corrected: rate answers in the page first, then export them."
        )
    with atomic_write(target) as file:
        for question in exported.questions:
            file.write(orjson.dumps(question.to_json(), option=orjson.OPT_APPEND_NEWLINE))
    if as_json:
        row = {"questions": len(exported.questions), "left_out": exported.left_out, "output": output}
        click.echo(orjson.dumps(row))
        return
    click.echo(f"Wrote {counted(len(exported.questions), 'question')} to {output}.")
    if exported.left_out:
        click.echo(f"Left out {counted(exported.left_out, 'rating')} of bad answers without a correction.")
