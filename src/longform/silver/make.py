"""Make a silver file: search, choose, explain, write; after a kill, go on where it was."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from longform.corpus.training_questions import TrainingQuestion
from longform.errors import FailureError, InputError, reason_of
from longform.files import checked_target, sync_folder, writing_alone
from longform.progress import Progress, no_progress
from longform.retrieve import MODES, Index
from longform.retrieve.vectors import PassageEncoder
from longform.silver.match import LexicalMatch, Match, SemanticMatch
from longform.silver.perplexity import LanguageModel, PerplexityMatch
from longform.silver.pool import Pools
from longform.silver.reading import parse_row
from longform.silver.records import FORMAT, SilverRow
from longform.silver.select import METHODS, Selector

__all__ = ["SilverSettings", "SilverSummary", "silver_rows", "write_silver"]

# Questions are searched this many at a time: enough to batch the encoder, few enough to keep memory flat.
_CHUNK = 64


@dataclass(frozen=True)
class SilverSettings:
    """How silver passages are chosen; the defaults are those of Christmann et al., 2024, section 2 and appendix A."""

    method: str = "silver"
    k: int = 5
    pool: int = 100
    mode: str = "bm25"
    seed: int = 0

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise InputError(f"There is no method {self.method!r}: choose one of {', '.join(METHODS)}.")
        if self.mode not in MODES:
            raise InputError(f"There is no mode {self.mode!r}: choose one of {', '.join(MODES)}.")
        if self.k < 1:
            raise InputError(f"k must be at least 1, and {self.k} is not.")
        if self.pool < self.k:
            raise InputError(f"A pool of {self.pool} is too small to choose {self.k} passages from: raise --pool.")


@dataclass
class SilverSummary:
    """What came out: of ``questions``, ``with_silver`` have silver passages, which hold ``answers_found`` of
    ``answers`` direct answers; ``match`` is the mean score of the ``passages`` chosen; ``resumed`` questions were
    already there."""

    questions: int = 0
    with_silver: int = 0
    passages: int = 0
    answers: int = 0
    answers_found: int = 0
    resumed: int = 0
    _scores: float = 0.0

    @property
    def match(self) -> float:
        """The mean score of the chosen passages; 0 where there are none."""
        return self._scores / self.passages if self.passages else 0.0

    @property
    def coverage(self) -> float | None:
        """The share of direct answers that silver passages hold; None where there are no direct answers."""
        return self.answers_found / self.answers if self.answers else None

    def add(self, row: SilverRow) -> None:
        """Count a row."""
        self.questions += 1
        self.with_silver += bool(row.silver)
        self.passages += len(row.silver)
        self.answers += row.answers
        self.answers_found += row.answers_found
        self._scores += sum(passage.score for passage in row.silver)


def silver_rows(
    index: Index,
    questions: Sequence[TrainingQuestion],
    settings: SilverSettings | None = None,
    *,
    encoder: PassageEncoder | None = None,
    language_model: LanguageModel | None = None,
    progress: Progress = no_progress,
) -> Iterator[SilverRow]:
    """The silver passages of every question, one row each, in order.

    ``encoder`` is for ``semantic`` (without it the index's own, or else the shipped one), ``language_model`` for
    ``perplexity``. An index that holds fewer passages than the pool is searched whole.

    >>> import tempfile
    >>> from longform import Document
    >>> pages = [Document("a", "Help!", "Ringo sang and drummed."), Document("b", "Wings", "Paul sang.")]
    >>> index = Index.create(tempfile.mkdtemp() + "/my.index", pages)
    >>> asked = TrainingQuestion("1", "Who sang?", ("Ringo drummed and sang.",), (("Ringo",),))
    >>> row = next(silver_rows(index, [asked], SilverSettings(k=1)))
    >>> row.silver[0].why
    'Holds the direct answer “Ringo”; no other candidate has “Ringo”. It shares 3 of the 3 words of the long answer.'
    """
    settings = settings or SilverSettings()
    selector = Selector(settings.method, settings.k, _match(index, settings, encoder, language_model))
    pools = Pools(index)
    depth = min(settings.pool, len(index))
    for start in range(0, len(questions), _CHUNK):
        chunk = questions[start : start + _CHUNK]
        ranked = index.rank([question.question for question in chunk], max(depth, 1), settings.mode)
        for done, (question, rankings) in enumerate(zip(chunk, ranked, strict=True), start):
            progress("choosing", done, len(questions))
            yield selector(question, pools.pool([item.row for item in rankings[settings.mode]]))
    progress("choosing", len(questions), len(questions))


def _match(
    index: Index, settings: SilverSettings, encoder: PassageEncoder | None, model: LanguageModel | None
) -> Match | None:
    if settings.method == "direct":
        return None
    if settings.method == "semantic":
        return SemanticMatch(index, encoder or _default_encoder(index))
    if settings.method == "perplexity":
        if model is None:
            raise InputError("The method perplexity needs a language model: name one with --model.")
        return PerplexityMatch(model, settings.k, settings.seed)
    return LexicalMatch()


def _default_encoder(index: Index) -> PassageEncoder:
    from longform.models import Encoder

    return Encoder.load() if index.manifest.dense is None else index.encoder


def write_silver(
    index: Index,
    questions: Sequence[TrainingQuestion],
    path: str | Path,
    settings: SilverSettings | None = None,
    *,
    origin: Mapping[str, Any] | None = None,
    encoder: PassageEncoder | None = None,
    language_model: LanguageModel | None = None,
    progress: Progress = no_progress,
) -> SilverSummary:
    """Write the silver passages of every question to a file that :func:`longform.silver.read_silver` reads.

    The file grows as ``<path>.part`` and takes its name when it is whole. When the same call finds a part with the
    same header it goes on behind its last whole line; any other part is begun anew. ``origin`` goes into the header:
    the file of the questions, its sha256, whatever else tells where they came from.
    """
    settings = settings or SilverSettings()
    if settings.method == "semantic":
        encoder = encoder or _default_encoder(index)
    header = _header(index, questions, settings, origin or {}, encoder, language_model)
    target = checked_target(path)
    part = target.with_name(f"{target.name}.part")
    summary = SilverSummary()
    try:
        with writing_alone(part.with_name(f"{part.name}.lock"), path):
            end = _resume(part, header, questions, summary)
            with part.open("r+b" if end else "wb") as file:
                file.truncate(end)
                file.seek(end)
                if not end:
                    _put(file, header)
                _write_rest(file, index, questions, settings, summary, encoder, language_model, progress)
                os.fsync(file.fileno())
            part.replace(target)
            sync_folder(target.resolve().parent)
    except OSError as error:
        sentence = f"{path} cannot be written: {reason_of(error)}."
        kind = FailureError if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EIO) else InputError
        raise kind(sentence) from error
    return summary


def _write_rest(
    file: BinaryIO,
    index: Index,
    questions: Sequence[TrainingQuestion],
    settings: SilverSettings,
    summary: SilverSummary,
    encoder: PassageEncoder | None,
    language_model: LanguageModel | None,
    progress: Progress,
) -> None:
    before = summary.resumed

    def onwards(stage: str, done: int, total: int | None = None) -> None:
        progress(stage, before + done, None if total is None else before + total)

    rest = questions[before:]
    for row in silver_rows(index, rest, settings, encoder=encoder, language_model=language_model, progress=onwards):
        # Whole lines reach the system one by one: a killed process loses none of them.
        _put(file, row.to_json())
        summary.add(row)


def _put(file: BinaryIO, value: Mapping[str, Any]) -> None:
    file.write(orjson.dumps(value, option=orjson.OPT_APPEND_NEWLINE))
    file.flush()


def _resume(
    part: Path, header: Mapping[str, Any], questions: Sequence[TrainingQuestion], summary: SilverSummary
) -> int:
    """Count the rows that an interrupted run has written; returns the byte behind the last of them."""
    if not part.is_file():
        return 0
    with part.open("rb") as file:
        first = file.readline()
        try:
            if not first.endswith(b"\n") or orjson.loads(first) != header:
                return 0
        except orjson.JSONDecodeError:
            return 0
        end = len(first)
        for question, line in zip(questions, file, strict=False):
            try:
                row = parse_row(orjson.loads(line), str(part))
            except (orjson.JSONDecodeError, InputError):
                break
            if not line.endswith(b"\n") or row.id != question.id:
                break
            summary.add(row)
            end += len(line)
    summary.resumed = summary.questions
    return end


def _header(
    index: Index,
    questions: Sequence[TrainingQuestion],
    settings: SilverSettings,
    origin: Mapping[str, Any],
    encoder: PassageEncoder | None,
    model: LanguageModel | None,
) -> dict[str, Any]:
    header = {
        "format": FORMAT,
        "index": str(index.folder),
        "index_fingerprint": index.manifest.contents(),
        "index_passages": len(index),
        **origin,
        "count": len(questions),
        "method": settings.method,
        "k": settings.k,
        "pool": settings.pool,
        "mode": settings.mode,
        "seed": settings.seed,
    }
    if settings.method == "semantic" and encoder is not None:
        header |= {"encoder": encoder.name, "encoder_fingerprint": encoder.fingerprint}
    if settings.method == "perplexity" and model is not None:
        header |= {"language_model": model.name}
    return header
