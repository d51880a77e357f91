"""``longform ask``: a question to an index, or to a folder, and a long answer with citations."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import click

from longform.cli.answering import (
    answering_options,
    check_options,
    open_from,
    show_json,
    show_passages,
    show_stream,
    show_summary,
)
from longform.cli.options import BadRows, counted, index_argument, json_option, say_skipped
from longform.cli.progress import progress_bar
from longform.cli.waiting import ask_aloud
from longform.errors import InputError

if TYPE_CHECKING:
    from longform import Index
    from longform.answer.pipeline import Pipeline
    from longform.records import Question

__all__ = ["command"]


@click.command("ask")
@index_argument
@click.argument("question", required=False)
@answering_options
@click.option("--list", "as_list", is_flag=True, help="A list, for a question with many answers.")
@click.option("--questions", metavar="FILE", help='Many questions: lines of {"id": …, "question": …}, - for stdin.')
@click.option("-o", "--output", metavar="FILE", help="With --questions: where to write; goes on after a kill.")
@json_option
def command(
    index: str,
    question: str | None,
    as_list: bool,
    questions: str | None,
    output: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Answer a QUESTION from INDEX, or from a folder of documents, citing the passage behind every sentence.

    \b
    longform ask my.index "Who was the ruler of France in 1830?"
    longform ask docs/ "How is the key changed?" --model gguf:model.gguf
    longform ask my.index "Which rivers cross Vienna?" --list
    longform ask my.index --questions q.jsonl -o predictions.jsonl
    """
    if (question is None) == (questions is None):
        raise InputError("Give one question, or a file of them with --questions.")
    if questions is not None and output is None:
        raise InputError("--questions needs -o FILE, where the answers are kept as they come.")
    if questions is None and output is not None:
        raise InputError("-o goes with --questions; for one question, --json prints all there is.")
    if output == "-":
        raise InputError("-o needs the name of a file, in which a batch that was killed can go on.")
    from longform.answer.pipeline import checked_question

    # What is wrong is said before anything is indexed or loaded.
    check_options(options)
    if output is not None:
        from longform.files import checked_target

        checked_target(output, [questions])
    if question is not None:
        question = checked_question(question)
    asked = _read(questions) if questions is not None else []
    pipeline = open_from(_index(index), options, as_list=as_list)
    if output is not None:
        _batch(pipeline, asked, output, {**options, "list": as_list}, as_json)
    elif as_json:
        assert question is not None
        show_json(pipeline.answer(question).to_json())
    else:
        assert question is not None
        answer = show_stream(ask_aloud(pipeline, question))
        show_passages(answer)
        click.echo()
        show_summary(answer)


def _index(path: str) -> Index:
    from longform.answer.folders import index_of

    bad = BadRows()
    with progress_bar() as progress:
        found = index_of(path, on_bad=bad, progress=progress)
    say_skipped(bad, Counter())
    return found


def _read(path: str) -> list[Question]:
    from longform import read_questions

    asked = read_questions(path)
    for one in asked:
        _check(one, path)
    return asked


def _check(question: Question, path: str) -> None:
    from longform.answer.pipeline import checked_question

    try:
        checked_question(question.question)
    except InputError as error:
        raise InputError(f"{path}, question {question.id}: {error}") from None


def _batch(pipeline: Pipeline, asked: list[Question], output: str, options: dict[str, Any], as_json: bool) -> None:
    from longform.answer.batch import write_answers

    # How many cores were used changes no answer.
    kept = {name: options[name] for name in options if name != "threads"}
    settings = {"index": pipeline.index.manifest.contents(), **kept}
    with progress_bar() as progress:
        before = write_answers(
            lambda one: pipeline.answer(one.question, one.id), asked, output, settings, progress=progress
        )
    if as_json:
        show_json({"questions": len(asked), "resumed": before, "output": output})
    else:
        resumed = f" (went on after {before:,})" if before else ""
        click.echo(f"Wrote the answers to {counted(len(asked), 'question')} to {output}{resumed}.")
