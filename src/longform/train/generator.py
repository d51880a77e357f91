"""Fine-tune the writer: a causal language model learns to write long answers from the passages it will be given.

Christmann et al., 2024, Algorithm 1, lines 20 to 28: for each question the first stage's pool is re-ranked, the best
passages make the prompt, and the long answer is what is to be written.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from longform.corpus.training_questions import TrainingQuestion
from longform.errors import InputError
from longform.files import atomic_write, sha256_of
from longform.progress import Progress, no_progress
from longform.retrieve.index import Index
from longform.train.base import weights_sha256
from longform.train.generator_data import NamedReranker, examples_of, find_hits, open_reranker, read_answered
from longform.train.generator_settings import PRECISIONS, GeneratorSettings
from longform.train.running import Checkpoints, Report, all_cores, needs, no_report, quiet_training

__all__ = ["GeneratorResult", "GeneratorSettings", "train_generator"]

# Where nothing is held out, what is written is compared with what was trained on so many answers of the training.
COMPARED = 8


@dataclass(frozen=True, slots=True)
class GeneratorResult:
    """A fine-tuned writer, and the losses of held-out answers: mean negative log-likelihood of a token, in nats."""

    folder: Path
    gguf: Path | None
    before: float | None
    after: float | None
    exported: float | None
    """As the folder that was written gives it."""
    exported_gguf: float | None
    looks: tuple[tuple[int, float], ...]
    """Steps, and the held-out loss behind each."""
    examples: int
    held_out: int
    cut: int
    """Examples with shortened passages."""
    left_out: int
    """Examples whose answer left no room for passages."""
    seconds: float


def train_generator(
    index: str | Path,
    questions: str | Path,
    base: str,
    out: str | Path,
    settings: GeneratorSettings | None = None,
    *,
    rerank: str | None = None,
    mode: str | None = None,
    split: str | None = None,
    exclude: str | None = None,
    limit: int | None = None,
    precision: str = "fp32",
    gguf: str = "q8_0",
    report: Report = no_report,
    progress: Progress = no_progress,
) -> GeneratorResult:
    """Fine-tune a causal model on questions and long answers, and write a folder that transformers opens.

    ``base`` is a transformers folder, a GGUF file, or ``owner/name`` of the hub. ``rerank`` is ``none``,
    ``similarity`` or a cross-encoder, without it the shipped one or else similarity. ``exclude`` names a file of ids
    to leave out. Beside the folder's safetensors a base that is a GGUF file of the Llama family gives ``model.gguf``,
    unless ``gguf`` is ``none``. Killed and started again with the same arguments, it goes on where it was.
    """
    settings, out, questions = settings or GeneratorSettings(), Path(out), str(questions)
    settings.check()
    _check(out, questions, precision, gguf, limit)
    needs("Fine-tuning a writer")
    _needs_peft()
    from longform.train.generator_prompt import prompter_of
    from longform.train.likelihood import CausalModel

    asked = read_answered(questions, split=split, exclude=exclude, limit=limit)
    opened = Index.open(index)
    reranker = open_reranker(rerank, opened)
    with quiet_training(), all_cores():
        writer = CausalModel.load(base)
        if settings.max_length > writer.window:
            raise InputError(f"{base} reads {writer.window:,} tokens at once: set --max-length to that or less.")
        prompter = prompter_of(settings, writer)
        record = _record(settings, writer, opened, reranker, mode, questions, split, exclude, limit)
        checkpoints = Checkpoints(out / "training")
        checkpoint = checkpoints.last(record)
        hits = find_hits(
            opened,
            asked,
            reranker.model,
            settings.k,
            settings.pool,
            checkpoints.folder / "passages.jsonl",
            mode=mode,
            progress=progress,
        )
        data = _Data.of(asked, hits, prompter, writer, settings, progress)
        return _Run(writer, data, settings, checkpoints, record, out, report).finish(
            checkpoint, Path(questions), precision, gguf
        )


def _check(out: Path, questions: str, precision: str, gguf: str, limit: int | None) -> None:
    from longform.train.generator_gguf import GGUF_KINDS

    if out.is_file():
        raise InputError(f"{out} is a file: name a folder.")
    if (out / "config.json").exists() and not (out / "training").exists():
        raise InputError(f"{out} holds a model already: choose another --out, or remove it.")
    if questions == "-":
        raise InputError("--questions must name a file, which a run that was killed reads again.")
    if precision not in PRECISIONS:
        raise InputError(f"There is no precision {precision}: choose one of {', '.join(PRECISIONS)}.")
    if gguf not in (*GGUF_KINDS, "none"):
        raise InputError(f"There is no kind of GGUF {gguf}: choose one of {', '.join(GGUF_KINDS)}, none.")
    if limit is not None and limit < 2:
        raise InputError(f"limit must be at least 2, not {limit}.")


def _needs_peft() -> None:
    try:
        import peft  # noqa: F401
    except ImportError as error:
        raise InputError("Fine-tuning a writer needs peft: `pip install 'longform[train]'` installs it.") from error


def _record(
    settings: GeneratorSettings,
    writer: Any,
    index: Index,
    reranker: NamedReranker,
    mode: str | None,
    questions: str,
    split: str | None,
    exclude: str | None,
    limit: int | None,
) -> dict[str, Any]:
    """Everything that the trained weights depend on."""
    return {
        **asdict(settings),
        "base": _base_sha256(writer),
        "questions": sha256_of(Path(questions)),
        "split": split,
        "exclude": None if exclude is None else sha256_of(Path(exclude)),
        "limit": limit,
        "index": index.manifest.contents(),
        "mode": mode or index.default_mode,
        "rerank": f"{reranker.name} {reranker.fingerprint}".strip(),
        "transformers": version("transformers"),
        "peft": version("peft"),
    }


def _base_sha256(writer: Any) -> dict[str, str]:
    place = Path(writer.name).expanduser()
    if place.is_dir():
        return weights_sha256(place)
    if place.is_file():
        return {place.name: sha256_of(place)}
    return {writer.name: str(getattr(writer._model.config, "_commit_hash", None))}


@dataclass(frozen=True, slots=True)
class _Data:
    """Rows to learn from, and rows that are held out."""

    rows: list[Any]
    held: list[Any]
    cut: int
    left_out: int
    questions: int

    @classmethod
    def of(
        cls,
        asked: Sequence[TrainingQuestion],
        hits: Sequence[Any],
        prompter: Any,
        writer: Any,
        settings: GeneratorSettings,
        progress: Progress,
    ) -> _Data:
        from longform.train.generator_tokens import rows_of

        training, held = examples_of(asked, hits, settings.validation, settings.split_seed)
        looked_at = set(list(dict.fromkeys(row.id for row in held))[: settings.validation_questions])
        held = [row for row in held if row.id in looked_at]
        learnt = rows_of(training, prompter, writer._tokenizer, settings.max_length, progress)
        looked = rows_of(held, prompter, writer._tokenizer, settings.max_length, progress)
        if not learnt.rows or (held and not looked.rows):
            raise InputError(
                f"With --max-length {settings.max_length} no answer leaves room for passages beside it: raise it, "
                "or lower -k."
            )
        return cls(
            learnt.rows,
            looked.rows,
            learnt.cut + looked.cut,
            learnt.left_out + looked.left_out,
            len(asked),
        )


@dataclass(frozen=True, slots=True)
class _Run:
    """A training with everything that it needs, from its first step to its card."""

    writer: Any
    data: _Data
    settings: GeneratorSettings
    checkpoints: Checkpoints
    record: dict[str, Any]
    out: Path
    report: Report

    def finish(self, checkpoint: str | None, questions: Path, precision: str, gguf: str) -> GeneratorResult:
        """Train, write, compare what was written with what was trained, and put it in its place."""
        from longform.train.generator_card import write_generator_card
        from longform.train.generator_export import check_export, merged, write_folder
        from longform.train.generator_fit import add_lora, fit, held_out_loss
        from longform.train.generator_gguf import as_dense, can_write_gguf, write_gguf

        data, held = self.data, self.data.held
        model = add_lora(as_dense(self.writer._model, self.writer.name), self.settings, self.writer.name)
        before = self._before(model)
        looks = fit(model, data.rows, held, self.settings, self.checkpoints, checkpoint, self.report)
        plain = merged(model)
        compared = held or data.rows[:COMPARED]
        after = held_out_loss(plain, compared, self.report)
        folder = self.checkpoints.folder / "export"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        found: float | None = None
        base = Path(self.writer.name).expanduser()
        if gguf != "none" and can_write_gguf(base):
            write_gguf(plain, base, folder / "model.gguf", gguf, self.out.resolve().name)
            found = check_export(folder / "model.gguf", compared, after, gguf, self.report)
        write_folder(plain, self.writer._tokenizer, folder, precision)
        exported = check_export(folder, compared, after, precision, self.report)
        result = GeneratorResult(
            folder=self.out,
            gguf=None if found is None else self.out / "model.gguf",
            before=before,
            after=after if held else None,
            exported=exported if held else None,
            exported_gguf=found if held else None,
            looks=tuple(looks),
            examples=len(data.rows),
            held_out=len(held),
            cut=data.cut,
            left_out=data.left_out,
            seconds=self.checkpoints.seconds(),
        )
        write_generator_card(folder, result, self.writer.name, questions, self.settings, self.record)
        # The settings come last, and make the folder a model.
        for path in sorted(folder.iterdir(), key=lambda path: (path.name == "config.json", path.name)):
            path.replace(self.out / path.name)
        self.checkpoints.clear()
        return result

    def _before(self, model: Any) -> float | None:
        """The held-out loss of the base; the additions are zero before the first step."""
        from longform.train.generator_fit import held_out_loss

        if not self.data.held:
            return None
        known = self.checkpoints.folder / "before.json"
        if not known.is_file():
            loss = held_out_loss(model, self.data.held, self.report)
            with atomic_write(known) as file:
                file.write(json.dumps(loss).encode())
        return float(json.loads(known.read_text(encoding="utf-8")))
