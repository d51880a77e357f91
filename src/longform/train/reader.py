"""Train a reader: a small transformer that finds the answer to a question in a text, or says that there is none.

J. Devlin et al., "BERT", NAACL 2019, section 4.3: two numbers for every token, the first token for "no answer". The
articles are split three ways: one part is learnt from, one chooses the epoch and the null threshold, and one is only
reported. The model that is scored is the one that is written, in 8-bit ONNX, through :class:`longform.models.Reader`.
"""

from __future__ import annotations

import json
import random
import shutil
import time
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from longform.corpus.training_questions import read_training_questions
from longform.errors import InputError
from longform.files import atomic_write, sha256_of
from longform.models.reader import Reader
from longform.retrieve import Index
from longform.score.statistics import Interval, intervals
from longform.train.base import base_folder, weights_sha256
from longform.train.reader_card import write_reader_card
from longform.train.reader_check import BATCH_TOKENS, agreement, check_agreement, read_examples, torch_reader
from longform.train.reader_passages import passages_to_read
from longform.train.reader_readings import readings_to_read
from longform.train.reader_settings import ReaderSettings
from longform.train.running import Checkpoints, Report, TrainingStep, all_cores, needs, no_report, quiet_training
from longform.train.squad import Extra, Split, SquadExample, read_extra, read_squad, split_articles

__all__ = ["ReaderSettings", "TrainedReader", "train_reader"]


@dataclass(frozen=True, slots=True)
class TrainedReader:
    """A reader that was trained: where it is, and how good it is on articles that it never saw."""

    folder: Path
    scores: dict[str, Interval]
    """On the test articles, in percent, with 95 % intervals."""
    before: dict[str, float]
    """The same before training, at threshold 0."""
    null_threshold: float
    validation_f1: dict[str, float]
    """Best F1 on the validation articles after each epoch."""
    agreement: float
    """Share of test questions that the written model answers as the one in torch does."""
    span_agreement: float
    """The same over the answerable ones when both must answer."""
    seconds: float
    counts: dict[str, int]


def train_reader(
    squad: Sequence[str | Path],
    out: str | Path,
    *,
    base: str | Path = "encoder",
    dev: str | Path | None = None,
    extra: Sequence[str | Path] = (),
    asked: Sequence[str | Path] = (),
    index: Index | None = None,
    asqa: Sequence[str | Path] = (),
    exclude_ids: Collection[str] = (),
    settings: ReaderSettings | None = None,
    int8: bool = True,
    keep: bool = False,
    report: Report = no_report,
) -> TrainedReader:
    """Train a reader on SQuAD files and write it to ``out``: model, tokenizer, settings and card.

    ``train_reader(["train-v2.0.json"], "my-reader")`` writes a folder that ``Reader.load("my-reader")`` opens. A run
    that was killed goes on from its last checkpoint, in ``out/training``, when it is started again; the folder goes
    when the reader is written, unless ``keep``.
    """
    needs("Training a reader")
    settings, out = settings or ReaderSettings(), Path(out)
    if (out / "model.onnx").exists():
        raise InputError(f"{out} holds a model already: choose another --out, or remove it.")
    if bool(asked) != (index is not None):
        raise InputError("Questions to find passages for (--asked) and an index to find them in (--index) go together.")
    learnt = [readings_to_read(path, exclude_ids=exclude_ids, seed=settings.seed) for path in asqa]
    if index is not None:
        learnt += _read_passages(asked, index, settings, exclude_ids, report)
    split, extras = _data(squad, dev, extra, settings, learnt)
    folder = base_folder(base)
    files = [Path(path) for path in (*squad, *([dev] if dev else []), *extra, *asked, *asqa)]
    started, checkpoints = time.monotonic(), Checkpoints(out / "training")
    checkpoint = checkpoints.last(
        {
            **{name: value for name, value in asdict(settings).items() if name != "save_steps"},
            "base": weights_sha256(folder),
            "data": [sha256_of(path) for path in files],
            **({"index": index.manifest.contents()} if index is not None else {}),
            **({"excluded": sorted(exclude_ids)} if exclude_ids else {}),
            "transformers": version("transformers"),
        }
    )
    spent = checkpoints.seconds()
    with quiet_training(), all_cores():
        before, best = _trained(folder, split, extras.examples, settings, checkpoints, checkpoint, report)
        found = _finished(best, split, settings, int8, out, report)
    result = TrainedReader(
        folder=out,
        scores=found.scores,
        before=before,
        null_threshold=found.threshold,
        validation_f1=json.loads((best.parent / "best.json").read_text(encoding="utf-8"))["scores"],
        agreement=found.agreement,
        span_agreement=found.span_agreement,
        seconds=spent + time.monotonic() - started,
        counts={
            "train": len(split.train),
            "extra": len(extras.examples),
            "extra_skipped": extras.skipped,
            "validation": len(split.validation),
            "test": len(split.test),
        },
    )
    write_reader_card(found.exported, result, settings, split, files, base=str(base), weights=weights_sha256(folder))
    # The model comes last, and makes the folder one.
    for name in ("README.md", "tokenizer.json", "config.json", "model.onnx"):
        (found.exported / name).replace(out / name)
    if not keep:
        checkpoints.clear()
    return result


@dataclass(frozen=True, slots=True)
class _Extras:
    examples: list[SquadExample]
    skipped: int


def _read_passages(
    asked: Sequence[str | Path],
    index: Index,
    settings: ReaderSettings,
    exclude_ids: Collection[str],
    report: Report,
) -> list[Extra]:
    """What the files of questions and short answers teach over the passages of an index."""
    files = [read_training_questions(str(path), exclude_ids=exclude_ids) for path in asked]
    return [passages_to_read(index, questions, seed=settings.seed, report=report) for questions in files]


def _data(
    squad: Sequence[str | Path],
    dev: str | Path | None,
    extra: Sequence[str | Path],
    settings: ReaderSettings,
    learnt: Sequence[Extra] = (),
) -> tuple[Split, _Extras]:
    """The three parts, and what else is trained on: nothing whose text is held out."""
    if not squad:
        raise InputError("Name at least one SQuAD file to train on.")
    split = split_articles(read_squad(squad), settings.held_out, settings.seed, read_squad([dev]) if dev else None)
    held = {_words(example.context) for part in (split.validation, split.test) for example in part}
    found = [*(read_extra(path) for path in extra), *learnt]
    examples = [example for file in found for example in file.examples]
    kept = [example for example in examples if _words(example.context) not in held]
    if settings.limit is not None:
        rng = random.Random(settings.seed)
        split = Split(*(rng.sample(part, min(settings.limit, len(part))) for part in split))
        kept = rng.sample(kept, min(settings.limit, len(kept)))
    skipped = sum(file.skipped for file in found) + sum(_words(example.context) in held for example in examples)
    return split, _Extras(kept, skipped)


def _words(text: str) -> str:
    return " ".join(text.split())


def _stage(report: Report, stage: str, total: int) -> Any:
    return lambda done: report(TrainingStep(stage, done, total, None, None))


def _trained(
    folder: Path,
    split: Split,
    extras: Sequence[SquadExample],
    settings: ReaderSettings,
    checkpoints: Checkpoints,
    checkpoint: str | None,
    report: Report,
) -> tuple[dict[str, float], Path]:
    """The test scores before training, and the folder of the best weights after it."""
    import transformers
    from tokenizers import Tokenizer

    from longform.train.export import _tokenizer_json
    from longform.train.reader_fit import Fit, fit, open_body
    from longform.train.reader_windows import windows_of

    training = checkpoints.folder
    tokens = json.dumps(_tokenizer_json(folder, transformers), ensure_ascii=False)
    (training / "tokenizer.json").write_text(tokens, encoding="utf-8")
    windows = windows_of(
        [*split.train, *extras],
        Tokenizer.from_str(tokens),
        max_length=settings.max_length,
        stride=settings.stride,
        question_length=settings.question_length,
    )
    body = open_body(folder, layers=settings.layers, train_embeddings=settings.train_embeddings, seed=settings.seed)
    positions = getattr(body.model.config, "max_position_embeddings", settings.max_length)
    if settings.max_length > positions:
        raise InputError(f"{folder} has {positions} positions: set --max-length to {positions} or less.")
    reader = torch_reader(body.model, training, settings.max_length, body.inputs, body.padding)

    def validate(_: Any) -> float:
        tell = _stage(report, "validating", len(split.validation))
        return read_examples(reader, split.validation, BATCH_TOKENS, tell).best().score

    known = training / "before.json"
    if not known.is_file():
        tell = _stage(report, "reading untrained", len(split.test))
        scores = read_examples(reader, split.test, BATCH_TOKENS, tell).score(0.0).scores
        with atomic_write(known) as file:
            file.write(json.dumps(scores).encode())
    how = Fit(
        epochs=settings.epochs,
        batch=settings.batch,
        learning_rate=settings.learning_rate,
        warmup=settings.warmup,
        weight_decay=settings.weight_decay,
        seed=settings.seed,
        save_steps=settings.save_steps,
    )
    best = fit(body, windows, how, checkpoints, checkpoint, validate, tokens.encode(), report)
    return json.loads(known.read_text(encoding="utf-8")), best


@dataclass(frozen=True, slots=True)
class _Finished:
    exported: Path
    threshold: float
    agreement: float
    span_agreement: float
    scores: dict[str, Interval]


def _finished(best: Path, split: Split, settings: ReaderSettings, int8: bool, out: Path, report: Report) -> _Finished:
    """Export the best weights, choose the threshold on the validation part, and score on the test part."""
    from longform.train.export_heads import export_head
    from longform.train.reader_fit import open_body

    # Before the export, which turns the libraries' bars on again when it ends.
    body = open_body(best)
    exported = best.parent / "export"
    shutil.rmtree(exported, ignore_errors=True)
    export_head(best, exported, "reader", int8=int8, max_length=settings.max_length, name=out.resolve().name)
    reader = Reader.load(exported)
    validated = read_examples(
        reader, split.validation, progress=_stage(report, "choosing the threshold", len(split.validation))
    )
    threshold = validated.best().threshold
    config = {**json.loads((exported / "config.json").read_text(encoding="utf-8")), "null_threshold": threshold}
    with atomic_write(exported / "config.json") as file:
        file.write((json.dumps(config, indent=2, ensure_ascii=False) + "\n").encode())
    plain = torch_reader(body.model, best, settings.max_length, body.inputs, body.padding)
    in_torch = read_examples(plain, split.test, BATCH_TOKENS, _stage(report, "testing in torch", len(split.test)))
    tested = read_examples(reader, split.test, progress=_stage(report, "testing", len(split.test)))
    share = agreement(in_torch.final(threshold), tested.final(threshold))
    check_agreement(share, out, int8)
    answerable = {example.id: in_torch.answers[example.id] for example in split.test if example.answers}
    spans = agreement(answerable, tested.answers)
    return _Finished(exported, threshold, share, spans, intervals(tested.score(threshold)))
