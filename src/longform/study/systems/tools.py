"""What systems work with: indexes, models and training questions, each opened once for a whole study."""

from __future__ import annotations

import random
from collections.abc import Callable, Hashable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from longform.data.dataset import Dataset
from longform.errors import InputError
from longform.files import sha256_of
from longform.study.dataset_spec import DatasetSpec

if TYPE_CHECKING:
    from longform.models import CrossEncoder, Encoder, Reader
    from longform.models.language.protocol import LanguageModel
    from longform.retrieve import Index
    from longform.study.systems.nearest import NearestQuestions

__all__ = ["Tools"]

Thing = TypeVar("Thing")
_ONNX = {"rerank": "reranker", "reader": "reader", "encoder": "encoder"}


class Tools:
    """Opens what is asked for, when it is first asked for, and keeps it open.

    ``base`` is where relative paths start, ``cache`` a folder for what is costly to make again (none: memory only).
    """

    def __init__(self, seed: int = 0, base: Path = Path(), cache: Path | None = None, sentences: str = "own") -> None:
        self.seed, self.base, self.cache, self.sentences = seed, base, cache, sentences
        self._kept: dict[Hashable, Any] = {}

    def chance(self, *what: str) -> random.Random:
        """Chance that depends on the seed and on ``what`` alone: a run that goes on draws as one that never stopped."""
        return random.Random("\x1f".join([str(self.seed), *what]))

    def index(self, path: str) -> Index:
        """The index in a folder."""
        from longform.retrieve import Index

        return self.once(("index", path), lambda: Index.open(self.place(path)))

    def cross_encoder(self, name: str) -> CrossEncoder:
        """A re-ranker's model."""
        from longform.models import CrossEncoder

        return self.once(("reranker", name), lambda: CrossEncoder.load(self.model_name(name)))

    def reader(self, name: str) -> Reader:
        """A span reader."""
        from longform.models import Reader

        return self.once(("reader", name), lambda: Reader.load(self.model_name(name)))

    def encoder(self, name: str) -> Encoder:
        """An encoder."""
        from longform.models import Encoder

        return self.once(("encoder", name), lambda: Encoder.load(self.model_name(name)))

    def language_model(self, name: str, context: int | None = None) -> LanguageModel:
        """A language model, wherever it runs."""
        from longform.models.language import open_language_model

        return self.once(("model", name, context), lambda: open_language_model(self.model_name(name), context=context))

    def training(self, spec: DatasetSpec) -> Dataset:
        """Training questions with long answers."""
        return self.once(("train", repr(spec)), lambda: _with_answers(spec.load()))

    def nearest(self, spec: DatasetSpec, by: str) -> NearestQuestions:
        """The training questions, to be found by their likeness to another."""
        from longform.study.systems.nearest import open_nearest

        def make() -> NearestQuestions:
            return open_nearest(self.training(spec), by, self)

        return self.once(("nearest", repr(spec), by), make)

    def place(self, path: str) -> Path:
        """A path of the study's, which starts at its file."""
        place = Path(path).expanduser()
        return place if place.is_absolute() else self.base / place

    def model_name(self, name: str) -> str:
        """A model's name, a path in it made to start at the study's file."""
        kind, colon, rest = name.partition(":")
        if colon and kind.lower() in ("gguf", "hf"):
            return f"{kind}:{self.place(rest)}"
        return str(self.place(name)) if not colon and self.place(name).is_dir() else name

    def fingerprint(self, field: str, value: Any) -> str | None:
        """What tells whether a setting still means the same: a hash of its files, ``None`` where it has none."""
        if value is None or value in ("none", "similarity", "extractive"):
            return None
        return self.once(("fingerprint", field, repr(value)), lambda: self._fingerprint(field, value))

    def _fingerprint(self, field: str, value: Any) -> str | None:
        if field == "index":
            manifest = self.place(value) / "longform.json"
            if not manifest.is_file():
                self.index(value)  # says what is wrong with it
            return sha256_of(manifest)
        if field in _ONNX:
            from longform.models.registry import find_model, onnx_file

            files = find_model(self.model_name(value), _ONNX[field])
            if files.entry is not None:
                return files.entry.sha256["model.onnx"]
            # A folder without one has weights that are converted when they are loaded, which tells it too.
            path = onnx_file(files.folder)
            return sha256_of(path) if path is not None else self._loaded(field, value)
        if field == "train":
            return self.training(value).sha256
        if field == "model":
            from longform.models.language import language_fingerprint

            named = self.model_name(value)
            return language_fingerprint(named) or self.language_model(named).name
        if field == "file":
            return sha256_of(self.place(value)) if self.place(value).is_file() else _missing(value)
        return None

    def _loaded(self, field: str, name: str) -> str:
        if field == "rerank":
            return self.cross_encoder(name).fingerprint
        return self.reader(name).fingerprint if field == "reader" else self.encoder(name).fingerprint

    def once(self, key: Hashable, make: Callable[[], Thing]) -> Thing:
        """What was made under a key before, else what ``make`` gives."""
        if key not in self._kept:
            self._kept[key] = make()
        found: Thing = self._kept[key]
        return found


def _with_answers(dataset: Dataset) -> Dataset:
    if not any(example.long_answers for example in dataset):
        raise InputError(f"{dataset.name} has no long answers, so it cannot be trained or drawn from: name another.")
    return dataset


def _missing(path: str) -> str:
    raise InputError(f"{path} does not exist.")
