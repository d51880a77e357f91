"""``longform score retrieval``."""

from __future__ import annotations

import click

from longform.cli.score.output import output_options, present
from longform.errors import InputError

__all__ = ["command"]


@click.command("retrieval")
@click.option(
    "--gold",
    required=True,
    metavar="FILE",
    help="ASQA.json, QAMPARI JSONL, JSONL with short_answers and pages, or TREC/BEIR qrels.",
)
@click.option("--split", default="dev", show_default=True, help="Of ASQA.json.")
@click.option("--run", "run_file", required=True, metavar="FILE", help="TREC run, as `longform search` writes.")
@click.option("--index", metavar="INDEX", help="Where the passages are; not needed with qrels.")
@click.option("-k", "ks", type=int, multiple=True, default=(5, 20, 100), show_default=True, help="May be given often.")
@click.option(
    "--measure",
    "measures",
    multiple=True,
    metavar="NAME",
    help="With qrels: as ir_measures names them.",
)
@click.option("--subset", is_flag=True, help="Score only the questions that the run has.")
@output_options
def command(
    gold: str,
    split: str,
    run_file: str,
    index: str | None,
    ks: tuple[int, ...],
    measures: tuple[str, ...],
    subset: bool,
    as_json: bool,
    output: str | None,
    resamples: int,
    seed: int,
) -> None:
    """Score rankings by the answers, pages and evidence that they hold, or by qrels.

    \b
    longform score retrieval --gold ASQA.json --run run.trec --index my.index -k 5 -k 100
    longform score retrieval --gold qrels/test.tsv --run run.trec --measure nDCG@10
    """
    from longform.score.retrieval import score_qrels, score_run
    from longform.score.retrieval_gold import IndexPassages, is_qrels, load_gold
    from longform.score.trec import read_qrels, read_run
    from longform.trec import trec_id

    run = read_run(run_file)
    if is_qrels(gold):
        qrels = read_qrels(gold)
        if subset:
            qrels = {question: judged for question, judged in qrels.items() if question in run}
        report = score_qrels(run, qrels, **({"measures": measures} if measures else {}))
    else:
        if index is None:
            raise InputError("Name the index that the run was made from with --index: its passages are looked into.")
        wanted = load_gold(gold, split)
        missing = [question for question in wanted if question not in run and trec_id(question) not in run]
        if subset:
            wanted = {question: item for question, item in wanted.items() if question not in set(missing)}
        elif missing:
            # A question for which nothing was found has no line in a run, so this is no mistake by itself.
            click.echo(
                f"{len(missing)} of {len(wanted)} questions are not in {run_file}, such as {missing[0]}: "
                "they count as having found nothing (--subset leaves them out).",
                err=True,
            )
        report = score_run(run, wanted, IndexPassages(index), ks=ks)
    present(report, as_json=as_json, output=output, resamples=resamples, seed=seed)
