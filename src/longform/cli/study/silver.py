"""``longform study silver``: every kind of weak supervision for a re-ranker, side by side."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import click

from longform.cli.options import SEED, counted
from longform.cli.progress import progress_bar
from longform.errors import InputError

__all__ = ["command"]

METHODS = ("direct", "lexical", "semantic", "perplexity", "silver")


@click.command("silver")
@click.argument("index", type=click.Path())
@click.option("--train", required=True, metavar="FILE", help="Questions with long and direct answers to learn from.")
@click.option("--test", required=True, metavar="FILE", help="Questions with direct answers and pages to test on.")
@click.option("--test-ids", metavar="FILE", help="Of these only the ids in this file.")
@click.option("--work", required=True, type=click.Path(), metavar="FOLDER", help="Where everything made is kept.")
@click.option("-o", "--output", required=True, type=click.Path(), metavar="FILE", help="The page to write (Markdown).")
@click.option("--base", default="encoder", show_default=True, metavar="MODEL", help="What re-rankers start from.")
@click.option("--pairs", default=4000, show_default=True, help="Pairs that each re-ranker learns from.")
@click.option("--layers", default="0,1,4,5", show_default=True, help="Layers of the base that they keep.")
@click.option(
    "--method", "methods", multiple=True, type=click.Choice(METHODS), help="Only these methods. [default: all]"
)
@click.option("--model", metavar="MODEL", help="The language model of perplexity: a folder or a GGUF file.")
@click.option("--perplexity-questions", default=40, show_default=True, help="Training questions of perplexity.")
@click.option("--perplexity-pool", default=20, show_default=True, help="Its candidates for each question.")
@click.option("--also", multiple=True, metavar="NAME=MODEL", help="A row for a re-ranker that is there already.")
@click.option("--diverse", metavar="NAME", help="A row that chooses the passages of this one for distinct answers.")
@click.option("--reader", default="reader", show_default=True, metavar="MODEL", help="The reader for --diverse.")
@click.option("--note", "notes", multiple=True, metavar="TEXT", help="A remark to put below the table.")
@click.option("--seed", type=SEED, default=0, show_default=True)
def command(
    index: str,
    train: str,
    test: str,
    test_ids: str | None,
    work: str,
    output: str,
    base: str,
    pairs: int,
    layers: str,
    methods: tuple[str, ...],
    model: str | None,
    perplexity_questions: int,
    perplexity_pool: int,
    also: tuple[str, ...],
    diverse: str | None,
    reader: str,
    notes: tuple[str, ...],
    seed: int,
) -> None:
    """Choose silver passages by each method, train a re-ranker on each, test all on other questions.

    Table 1 of Christmann et al., 2024, on INDEX. Started again it makes only what is missing.
    """
    from longform.cli.train.reranker import layer_numbers
    from longform.corpus.training_questions import read_ids, read_training_questions
    from longform.files import atomic_write, sha256_of
    from longform.study import SilverStudy, run_silver_study, silver_page

    ids = read_ids(test_ids) if test_ids else None
    tested = [question for question in read_training_questions(test) if ids is None or question.id in ids]
    missing = (ids or frozenset()) - {question.id for question in tested}
    if missing:
        raise InputError(f"{test} has no question {sorted(missing)[0]}, which {test_ids} names.")
    unnamed = [given for given in also if not all(given.partition("="))]
    if unnamed:
        raise InputError(f"--also takes NAME=MODEL, such as mine=my-reranker/, not {unnamed[0]!r}.")
    if pairs < 1:
        raise InputError(f"--pairs must be at least 1, not {pairs}.")
    study = SilverStudy(
        index=Path(index),
        train=read_training_questions(train),
        test=tested,
        work=Path(work),
        base=base,
        methods=methods or tuple(name for name in METHODS if name != "perplexity" or model is not None),
        pairs=pairs,
        layers=layer_numbers(layers),
        language_model=model,
        perplexity_questions=perplexity_questions,
        perplexity_pool=perplexity_pool,
        also=dict(given.split("=", 1) for given in also),
        diverse=diverse,
        reader=reader,
        seed=seed,
    )
    with progress_bar() as progress:
        rows = run_silver_study(study, progress)
    files = [Path(path) for path in (train, test, test_ids) if path]
    page = silver_page(
        rows,
        command=shlex.join(["longform", *sys.argv[1:]]),
        hashes={path.name: sha256_of(path) for path in files},
        k=study.k,
        pool=study.pool,
        seed=seed,
        notes=notes,
    )
    Path(output).parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(Path(output)) as file:
        file.write(page.encode())
    click.echo(f"Wrote {counted(len(rows), 'row')} over {counted(len(tested), 'question')} to {output}.")
