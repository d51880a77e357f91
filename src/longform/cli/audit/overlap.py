"""``longform audit overlap``: which test questions stand among the training questions, in other words."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from longform.cli.audit.present import finding_options, present_findings
from longform.cli.options import Whole, counted
from longform.cli.progress import progress_bar
from longform.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from longform.audit.overlap_pairs import QuestionPair
    from longform.data import Dataset, Example
    from longform.progress import Progress

__all__ = ["command"]

TITLE = "Train and test overlap"
_NEAR, _MANY = Whole(1, 1_000), Whole(0, 1_000_000)


@click.command("overlap")
@click.option("--train", required=True, metavar="FILE|NAME", help="Training questions: a file, or a dataset's name.")
@click.option("--test", required=True, metavar="FILE|NAME", help="Test questions: a file, or a dataset's name.")
@click.option("--train-split", metavar="NAME", help="Its split. [default: train, of a named dataset]")
@click.option("--test-split", metavar="NAME", help="Its split. [default: dev, or the only one]")
@click.option("--ids", type=click.Path(), metavar="FILE", help="Of the test questions only the ids in this file.")
@click.option(
    "--nearest", type=_NEAR, default=7, show_default=True, help="Training questions looked at, by meaning and by words."
)
@click.option("--model", metavar="MODEL", help="A cross-encoder that reads both questions and decides instead.")
@click.option("--threshold", type=float, help="The model's score from which two questions are the same. [default: 0]")
@click.option("--run", "runs", multiple=True, type=click.Path(), metavar="FOLDER", help="Split this run's scores.")
@click.option("--show", type=_MANY, default=25, show_default=True, metavar="N", help="Pairs of each kind on the page.")
@click.option("--csv", "csv_path", type=click.Path(), metavar="FILE", help="Write all pairs, to be labelled.")
@click.option("--labels", type=click.Path(), metavar="FILE", help="Labels that stand above the decision (CSV).")
@click.option("--label", "label_path", type=click.Path(), metavar="FILE", help="Label pairs here and now; goes on.")
@click.option("--resplit", "resplit_to", type=click.Path(), metavar="FOLDER", help="Split all questions anew.")
@click.option("--shares", default="0.8,0.1,0.1", show_default=True, help="Of train, dev and test in the new split.")
@click.option("--cache", type=click.Path(), metavar="FOLDER", help="Where vectors are kept. [default: ~/.cache]")
@finding_options
def command(
    train: str,
    test: str,
    train_split: str | None,
    test_split: str | None,
    ids: str | None,
    nearest: int,
    model: str | None,
    threshold: float | None,
    runs: tuple[str, ...],
    show: int,
    csv_path: str | None,
    labels: str | None,
    label_path: str | None,
    resplit_to: str | None,
    shares: str,
    cache: str | None,
    seed: int,
    resamples: int,
    output: str | None,
    as_json: bool,
) -> None:
    """Find the test questions that are asked, in other words, among the training questions.

    Each test question is compared with its nearest training questions, by meaning and by words. Said are the shares of
    test questions with a paraphrase and with the same topic, and for each --run its scores with and without one.
    --resplit makes a split of all questions in which no paraphrase and no page stands on two sides.

    \b
    longform audit overlap --train train.jsonl --test asqa --ids test.ids.json
    longform audit overlap --train train.jsonl --test test.jsonl --label labels.csv
    """
    from longform.audit.labelling import read_labels, write_pairs
    from longform.audit.nearest_questions import default_cache
    from longform.audit.overlap import Overlap, audit_overlap
    from longform.audit.overlap_pairs import find_pairs, with_labels
    from longform.audit.overlap_scores import audit_scores_by_overlap
    from longform.audit.shown import run_hashes
    from longform.models import CrossEncoder, Encoder
    from longform.study.runs import Run

    if threshold is not None and model is None:
        raise InputError("--threshold is the --model's: name a model, or leave it out.")
    if threshold is not None and not math.isfinite(threshold):
        raise InputError(f"--threshold is a number from which on two questions are the same, not {threshold}.")
    if label_path is not None and as_json:
        raise InputError("--label asks in the terminal, so --json cannot go with it.")
    opened = [Run.open(folder) for folder in runs]
    kept_shares = _shares(shares)
    known, wanted, notes = _read(train, train_split, test, test_split, ids)
    given = read_labels(Path(labels)) if labels else {}
    place = Path(cache) if cache else default_cache()
    encoder = Encoder.load()
    reader = None if model is None else CrossEncoder.load(model)
    with progress_bar() as progress:
        pairs = find_pairs(
            known.examples,
            wanted.examples,
            encoder,
            place,
            model=reader,
            model_threshold=threshold or 0.0,
            nearest=nearest,
            progress=progress,
        )
    if label_path is not None:
        given |= _label(Path(label_path), pairs)
    pairs = with_labels(pairs, given)
    unused = len(given) - sum(pair.label is not None for pair in pairs)
    if unused:
        notes.append(f"{counted(unused, 'label')} of pairs that are not among the nearest say nothing here.")
    written = []
    if csv_path is not None:
        write_pairs(Path(csv_path), pairs)
        written.append(f"Wrote {counted(len(pairs), 'pair')} to {csv_path}.")
    overlap = Overlap(wanted.examples, len(known), pairs)
    decided_by = "" if reader is None else f"The model {reader.name}"
    finding = audit_overlap(overlap, decided_by=decided_by, nearest=nearest, shown=show)
    findings = [replace(finding, notes=[*finding.notes, *notes])]
    groups = {"a paraphrase": overlap.paraphrased, "the same topic": overlap.topical}
    findings += [audit_scores_by_overlap(run, groups, resamples=resamples, seed=seed) for run in opened]
    if resplit_to is not None:
        with progress_bar() as progress:
            written.append(
                _resplit(Path(resplit_to), known, wanted, encoder, place, given, kept_shares, seed, progress)
            )
    hashes = {**_hashes(known), **_hashes(wanted)}
    for path in filter(None, (ids, labels, label_path)):
        hashes |= _hash(path)
    for run in opened:
        hashes |= run_hashes(run)
    present_findings(TITLE, findings, hashes=hashes, seed=seed, as_json=as_json, output=output, kept="\n".join(written))


def _read(
    train: str, train_split: str | None, test: str, test_split: str | None, ids: str | None
) -> tuple[Dataset, Dataset, list[str]]:
    """The training and the test questions; of one and the same split, those are for training that are not for test."""
    from longform.corpus.training_questions import read_ids
    from longform.data import CATALOGUE, load_dataset

    known = load_dataset(train, split=train_split or ("train" if train in CATALOGUE else None))
    wanted = load_dataset(test, split=test_split, ids=read_ids(ids) if ids else None)
    if known.files != wanted.files or known.split != wanted.split:
        return known, wanted, []
    tested = {example.id for example in wanted}
    rest = tuple(example for example in known if example.id not in tested)
    if not rest:
        raise InputError(
            f"{train} is both the training and the test set, so that every question is its own paraphrase: say with "
            "--ids which of them are for test, and the rest is for training."
        )
    return replace(known, examples=rest), wanted, [f"Training questions are the {len(rest):,} of {train} not tested."]


def _shares(text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise InputError(f"--shares takes three numbers such as 0.8,0.1,0.1, not {text!r}.") from None


def _resplit(
    folder: Path,
    known: Dataset,
    wanted: Dataset,
    encoder: Any,
    cache: Path,
    labels: dict[tuple[str, str], bool],
    shares: Sequence[float],
    seed: int,
    progress: Progress,
) -> str:
    from longform.audit.resplit import paraphrase_links, resplit, write_resplit

    pool: dict[str, Example] = {}
    for example in (*known, *wanted):
        if pool.setdefault(example.id, example).question != example.question:
            raise InputError(
                f"The id {example.id!r} is that of two different questions, one for training and one for test: "
                "a new split needs ids of their own."
            )
    examples = list(pool.values())
    links = paraphrase_links(examples, encoder, cache, labels=labels, progress=progress)
    made = resplit(examples, links, shares, seed=seed)
    settings = {"shares": list(shares), "seed": seed, "files": {**known.files, **wanted.files}}
    write_resplit(folder, made, settings)
    sizes = ", ".join(f"{len(part):,} {side}" for side, part in made.sides.items())
    return (
        f"Wrote a split of {len(examples):,} questions to {folder} ({sizes}): {len(made.clusters):,} clusters, the "
        f"largest of {len(made.clusters[0]):,}, and none of {len(links):,} paraphrases on two sides."
    )


def _label(path: Path, pairs: list[QuestionPair]) -> dict[tuple[str, str], bool]:
    """Ask for labels until there are no more pairs, or the person has had enough."""
    from longform.audit.labelling import LabelFile, read_labels, to_label

    with LabelFile(path) as labels:
        left = to_label(pairs, labels.done)
        click.echo(
            f"{counted(len(left), 'pair')} to label, the least certain first. Would an answer to the one do as "
            "one to the other?\ny yes   n no   s skip   q stop (what you said is kept)"
        )
        for number, pair in enumerate(left, 1):
            click.echo(f"\n{number:,} of {len(left):,}\n  test   {pair.test.question}\n  train  {pair.train.question}")
            said = _asked()
            if said == "q":
                break
            labels.add(pair.test.id, pair.train.id, said)
    return read_labels(path)


def _asked() -> str:
    while True:
        try:
            said: str = click.prompt("y/n/s/q", prompt_suffix=" > ", show_default=False).strip().lower()
        except click.Abort:
            # Ctrl-C and the end of input stop the labelling, not the audit.
            click.echo()
            return "q"
        if said[:1] in ("y", "n", "s", "q"):
            return said[:1]


def _hashes(dataset: Dataset) -> dict[str, str]:
    return dict(dataset.files)


def _hash(path: str) -> dict[str, str]:
    from longform.files import sha256_of

    return {path: sha256_of(Path(path))}
