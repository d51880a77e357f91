"""The datasets that Longform knows by name: who owns each, what its files are called, and where they are looked for."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path

from longform.data.ambignq import read_ambignq
from longform.data.asqa import is_asqa, read_asqa
from longform.data.convmix import read_convmix
from longform.data.eli5 import read_eli5_alce, read_eli5_kilt
from longform.data.example import Example
from longform.data.nq import read_nq, read_nq_open
from longform.data.qampari import read_qampari_file
from longform.data.values import whole_value
from longform.errors import InputError

__all__ = ["CATALOGUE", "Source", "data_folders", "files_of", "source_named", "splits_here"]

Reader = Callable[[str, str | None], Iterator[Example]]


@dataclass(frozen=True)
class Source:
    """A dataset: ``files`` are, for every split, the paths below the data folder, official names first.

    ``task`` says which scores its answers get (:mod:`longform.study.scores`); ``official`` is how many questions a
    split has as published. A path may hold ``*`` where a split comes in several files.
    """

    name: str
    title: str
    task: str
    owner: str
    licence: str
    files: Mapping[str, tuple[str, ...]]
    read: Reader = field(repr=False)
    official: Mapping[str, int] = field(default_factory=dict)
    default: str = "dev"


_NQ = "https://ai.google.com/research/NaturalQuestions/download"

CATALOGUE: Mapping[str, Source] = {
    source.name: source
    for source in (
        Source(
            "asqa",
            "ASQA: ambiguous questions with long answers",
            "asqa",
            "https://github.com/google-research/language/tree/master/language/asqa",
            "Apache-2.0",
            {"dev": ("asqa/ASQA.json", "ASQA.json"), "train": ("asqa/ASQA.json", "ASQA.json")},
            read_asqa,
            {"train": 4353, "dev": 948},
        ),
        Source(
            "ambignq",
            "AmbigNQ (light): the readings of Natural Questions' questions",
            "text",
            "https://nlp.cs.washington.edu/ambigqa/",
            "CC BY-SA 3.0",
            {
                split: (f"ambignq/{split}_light.json", f"ambignq_light/{split}_light.json", f"ambignq/{split}.json")
                for split in ("dev", "train")
            },
            read_ambignq,
            {"train": 10_036, "dev": 2_002},
        ),
        Source(
            "nq",
            "Natural Questions, original: whole pages, annotated",
            "text",
            _NQ,
            "CC BY-SA 3.0",
            {
                split: (
                    f"nq/v1.0/{split}/nq-{split}-*.jsonl",
                    f"nq/{split}/nq-{split}-*.jsonl",
                    f"nq/nq-{split}-*.jsonl",
                )
                for split in ("dev", "train")
            },
            read_nq,
            {"train": 307_373, "dev": 7_830},
        ),
        Source(
            "nq-simplified",
            "Natural Questions, simplified: pages as tokens",
            "text",
            _NQ,
            "CC BY-SA 3.0",
            {
                "dev": ("nq/v1.0-simplified_nq-dev-all.jsonl", "nq/simplified-nq-dev.jsonl"),
                "train": ("nq/v1.0-simplified_simplified-nq-train.jsonl", "nq/simplified-nq-train.jsonl"),
            },
            read_nq,
            {"train": 307_373, "dev": 7_830},
        ),
        Source(
            "nq-open",
            "Natural Questions, open: questions with short answers",
            "text",
            "https://github.com/google-research-datasets/natural-questions/tree/master/nq_open",
            "CC BY-SA 3.0",
            {split: (f"nq_open/NQ-open.{split}.jsonl", f"nq/NQ-open.{split}.jsonl") for split in ("dev", "train")},
            read_nq_open,
            {"train": 87_925, "dev": 3_610},
        ),
        Source(
            "eli5-kilt",
            "ELI5 in KILT: Reddit's questions, answers and pages",
            "kilt",
            "https://github.com/facebookresearch/KILT",
            "Reddit's text: for evaluation, not to be passed on",
            {
                split: (f"kilt/eli5-{split}-kilt.jsonl", f"eli5/eli5-{split}-kilt.jsonl", f"eli5-{split}-kilt.jsonl")
                for split in ("dev", "train")
            },
            read_eli5_kilt,
            {"train": 272_634, "dev": 1_507},
        ),
        Source(
            "eli5-alce",
            "ELI5 in ALCE: 1,000 questions with an answer and three claims",
            "eli5",
            "https://huggingface.co/datasets/princeton-nlp/ALCE-data",
            "Reddit's text: for evaluation, not to be passed on",
            {
                "eval": (
                    "ALCE-data/eli5_eval_bm25_top100.json",
                    "alce/eli5_eval_bm25_top100.json",
                    "eli5/eli5_eval_bm25_top100.json",
                    "eli5/alce_eval.jsonl",
                )
            },
            read_eli5_alce,
            {"eval": 1_000},
            "eval",
        ),
        Source(
            "qampari",
            "QAMPARI: questions with many answers",
            "qampari",
            "https://samsam3232.github.io/qampari/",
            "CC0",
            {split: (f"qampari/{split}_data.jsonl", f"qampari/{split}.jsonl") for split in ("dev", "test", "train")},
            read_qampari_file,
            {"train": 61_911, "dev": 1_000, "test": 1_000},
        ),
        Source(
            "convmix",
            "ConvMix: conversations of five or ten questions",
            "text",
            "https://convinse.mpi-inf.mpg.de/",
            "CC BY 4.0",
            {
                split: (
                    f"_benchmarks/convmix/{split}_set/{split}_set_ALL.json",
                    f"convmix/{split}_set/{split}_set_ALL.json",
                    f"convmix/{split}_set_ALL.json",
                )
                for split in ("dev", "test", "train")
            },
            read_convmix,
            {"train": 1_680, "dev": 560, "test": 760},
        ),
    )
}


def source_named(name: str) -> Source:
    """The dataset of a name."""
    if name in CATALOGUE:
        return CATALOGUE[name]
    close = get_close_matches(name.lower(), CATALOGUE, 1, 0.5)
    meant = f"did you mean {close[0]}?" if close else f"there are {', '.join(CATALOGUE)}."
    raise InputError(f"{name} is neither a file nor a dataset that Longform knows: {meant}")


def data_folders() -> list[Path]:
    """Where datasets are looked for: ``$LONGFORM_DATA``, then ``./data``."""
    named = os.environ.get("LONGFORM_DATA")
    return [*([Path(named).expanduser()] if named else []), Path("data")]


def files_of(source: Source, split: str) -> list[Path]:
    """The files of a split in the first place that has them, plain or compressed."""
    if split not in source.files:
        raise InputError(f"{source.name} has no split {split}: it has {', '.join(source.files)}.")
    if found := _here(source, split):
        return found
    pattern = source.files[split][0]
    places = " and ".join(str(folder / pattern) for folder in data_folders())
    raise InputError(
        f"The {split} split of {source.name} is not here: its owners publish it at {source.owner}; Longform looks for "
        f"{places} (set LONGFORM_DATA to another folder, or name the file with --file)."
    )


def _here(source: Source, split: str) -> list[Path]:
    for folder in data_folders():
        for pattern in source.files[split]:
            for suffix in ("", ".gz", ".bz2", ".xz"):
                if found := sorted(folder.glob(pattern + suffix)):
                    return found
    return []


def splits_here(source: Source) -> dict[str, list[Path]]:
    """The splits whose files are here, without an error for those that are not."""
    found = {split: _here(source, split) for split in source.files}
    if source.name == "asqa" and any(found.values()):
        # One file holds them all, or those that somebody left in it.
        value = whole_value(str(next(filter(None, found.values()))[0]))
        return {split: files for split, files in found.items() if is_asqa(value) and split in value}
    return {split: files for split, files in found.items() if files}
