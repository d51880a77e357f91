"""``longform study asqa``: long answers to ambiguous questions, ours beside those of others."""

from __future__ import annotations

import gzip
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

import click
import orjson

from longform.cli.options import SEED, counted, sentences_option
from longform.cli.progress import progress_bar
from longform.errors import InputError, reason_of

if TYPE_CHECKING:
    from longform.study.asqa_study import StoredAnswer

__all__ = ["command"]


@click.command("asqa")
@click.argument("index", type=click.Path())
@click.option("--gold", required=True, metavar="FILE", help="ASQA.json.")
@click.option("--split", default="dev", show_default=True)
@click.option("--ids", metavar="FILE", help="Of its questions only the ids in this file.")
@click.option("--stored", multiple=True, metavar="NAME=FILE", help="Another system's answers with their passages.")
@click.option("--given", multiple=True, metavar="NAME", help="Answer from the passages of this one too.")
@click.option("--writer", multiple=True, metavar="NAME=MODEL", help="A row for a language model.")
@click.option("--work", required=True, type=click.Path(), metavar="FOLDER", help="Where every answer is kept.")
@click.option("-o", "--output", required=True, type=click.Path(), metavar="FILE", help="The page to write (Markdown).")
@click.option("--words", type=int, help="About how long our answers are. [default: 100]")
@click.option("--reader", default="reader", show_default=True, metavar="MODEL")
@click.option("--reranker", default="reranker", show_default=True, metavar="MODEL")
@sentences_option
@click.option("--note", "notes", multiple=True, metavar="TEXT", help="A remark to put below the table.")
@click.option("--limit", type=int, metavar="N", help="Only the first N questions: to try a command out.")
@click.option("--seed", type=SEED, default=0, show_default=True)
def command(
    index: str,
    gold: str,
    split: str,
    ids: str | None,
    stored: tuple[str, ...],
    given: tuple[str, ...],
    writer: tuple[str, ...],
    work: str,
    output: str,
    words: int | None,
    reader: str,
    reranker: str,
    sentences: str,
    notes: tuple[str, ...],
    limit: int | None,
    seed: int,
) -> None:
    """Answer ASQA's questions from INDEX in several ways and score all of them, with other systems' answers.

    Started again it answers only what is missing.
    """
    from longform.answer.extractive import DEFAULT_WORDS
    from longform.corpus.training_questions import read_ids, read_training_questions
    from longform.files import atomic_write, sha256_of
    from longform.retrieve import Index
    from longform.score.asqa import load_asqa
    from longform.study.asqa_page import asqa_page
    from longform.study.asqa_study import AsqaStudy, run_asqa_study

    wanted = read_ids(ids) if ids else None
    asked = [one for one in read_training_questions(gold, split=split) if wanted is None or one.id in wanted][:limit]
    if not asked:
        raise InputError(f"{gold} has none of the questions that {ids} names.")
    files, models = _named(stored, "--stored", "gpt=answers.jsonl"), _named(writer, "--writer", "small=gguf:FILE")
    unknown = [name for name in given if name not in files]
    if unknown:
        raise InputError(f"--given {unknown[0]} is no name that --stored gave.")
    keys = {question.id for question in asked}
    study = AsqaStudy(
        Path(index),
        load_asqa(gold, split),
        asked,
        Path(work),
        stored={name: _read_stored(path, keys) for name, path in files.items()},
        given=given,
        writers=models,
        open_writer=lambda model: _writer(model, words or DEFAULT_WORDS),
        reader=reader,
        reranker=reranker,
        words=words or DEFAULT_WORDS,
        sentences=cast(Literal["own", "punkt"], sentences),
    )
    with progress_bar() as progress:
        rows = run_asqa_study(study, progress)
    read = [gold, *([ids] if ids else []), *files.values()]
    page = asqa_page(
        rows,
        command=shlex.join(["longform", *sys.argv[1:]]),
        hashes={Path(path).name: sha256_of(Path(path)) for path in read},
        passages=len(Index.open(index)),
        seed=seed,
        notes=notes,
        sentences=sentences,
    )
    with atomic_write(Path(output)) as file:
        file.write(page.encode())
    click.echo(f"Wrote {counted(len(rows), 'row')} for {counted(len(asked), 'question')} to {output}.")


def _named(given: tuple[str, ...], option: str, example: str) -> dict[str, str]:
    wrong = [one for one in given if not all(one.partition("="))]
    if wrong:
        raise InputError(f"{option} takes NAME=…, such as {example}, not {wrong[0]!r}.")
    return {one.partition("=")[0]: one.partition("=")[2] for one in given}


def _writer(model: str, words: int) -> Any:
    from longform.answer.written import LanguageModelAnswerer
    from longform.models.language import open_language_model

    return LanguageModelAnswerer(open_language_model(model), words=words)


def _read_stored(path: str, keys: set[str]) -> dict[str, StoredAnswer]:
    from longform.records import Passage
    from longform.study.asqa_study import StoredAnswer

    found: dict[str, StoredAnswer] = {}
    number = 0
    try:
        with gzip.open(path) if path.endswith(".gz") else Path(path).open("rb") as file:
            for number, line in enumerate(file, 1):  # noqa: B007
                row = orjson.loads(line)
                passages = tuple(
                    Passage(f"{row['id']}-{place}", row["id"], one.get("title", ""), one["text"], 0, len(one["text"]))
                    for place, one in enumerate(row.get("passages", []), 1)
                )
                found[str(row["id"])] = StoredAnswer(str(row["answer"]), passages)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {reason_of(error)}.") from error
    except (orjson.JSONDecodeError, KeyError, TypeError) as error:
        raise InputError(
            f"{path}, line {number}, is no stored answer: it needs id, answer, and passages with title and text."
        ) from error
    missing = sorted(keys - found.keys())
    if missing:
        raise InputError(f"{path} has no answer to the question {missing[0]}.")
    return found
