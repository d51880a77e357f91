"""From names to a pipeline that answers: what a command, a chat or a server opens once and asks many times."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from threading import RLock
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from longform.answer.extractive import DEFAULT_WORDS, ExtractiveAnswerer
from longform.answer.pipeline import Pipeline
from longform.answer.protocol import Answerer
from longform.errors import InputError
from longform.models.cross_encoder import TitledText
from longform.models.reader import ReaderAnswer
from longform.records import Hit
from longform.rerank.opening import open_reranker
from longform.rerank.reranker import Reranker, SimilarityReranker
from longform.retrieve.index import Index

__all__ = ["Models", "open_pipeline"]

Loaded = TypeVar("Loaded")
LIST_PASSAGES = 200


class _Soon(Generic[Loaded]):
    """Something that is loaded by another thread while this one goes on."""

    def __init__(self, load: Callable[[], Loaded]) -> None:
        self._pool = ThreadPoolExecutor(1)
        self._future: Future[Loaded] = self._pool.submit(load)
        self._pool.shutdown(wait=False)

    @property
    def value(self) -> Loaded:
        return self._future.result()


class _SoonReader(_Soon[Any]):
    """A reader that may still be loading."""

    def read(self, pairs: Sequence[tuple[str, str]]) -> list[ReaderAnswer]:
        found: list[ReaderAnswer] = self.value.read(pairs)
        return found


class _SoonReranker(_Soon[Any]):
    """A re-ranker whose model may still be loading."""

    def rerank(self, question: str, hits: Sequence[Hit], k: int | None = None) -> list[Hit]:
        found: list[Hit] = self.value.rerank(question, hits, k)
        return found


class _SoonScorer(_Soon[Any]):
    """A cross-encoder that may still be loading."""

    @property
    def keep(self) -> int | None:
        kept: int | None = self.value.keep
        return kept

    def score(self, question: str, passages: Sequence[TitledText], *, early: bool = False) -> NDArray[np.float32]:
        scores: NDArray[np.float32] = self.value.score(question, passages, early=early)
        return scores

    def lengths(self, question: str, passages: Sequence[TitledText]) -> list[int]:
        lengths: list[int] = self.value.lengths(question, passages)
        return lengths

    def share_read(self, question: str, passages: Sequence[TitledText]) -> float:
        share: float = self.value.share_read(question, passages)
        return share


class Models:
    """Models that pipelines share: each is loaded once, when it is first asked for, by whichever thread asks.

    One that failed to load when it was asked for is tried anew the next time.
    """

    def __init__(self) -> None:
        self._loaded: dict[tuple[object, ...], Any] = {}
        # Held while loading, so that nothing is loaded twice; what loads may ask for what it is made of.
        self._lock = RLock()

    def get(self, key: tuple[object, ...], load: Callable[[], Loaded]) -> Loaded:
        """What is known by this key, or what ``load`` gives."""
        with self._lock:
            if key not in self._loaded:
                self._loaded[key] = load()
            found: Loaded = self._loaded[key]
            return found


def open_pipeline(
    index: Index,
    model: str = "extractive",
    *,
    rerank: str | None = None,
    reader: str | None = "reader",
    words: int = DEFAULT_WORDS,
    passages: int | None = None,
    pool: int = 100,
    mode: str | None = None,
    budget_ms: float | None = None,
    as_list: bool = False,
    always: bool = False,
    strict: bool = False,
    prompt: str = "instruct",
    best_last: bool = False,
    entailment: str | None = None,
    max_tokens: int | None = None,
    temperature: float = 0.0,
    seed: int = 0,
    context: int | None = None,
    threads: int | None = None,
    models: Models | None = None,
) -> Pipeline:
    """A pipeline over an index: the models load while the index is searched, and stay loaded.

    ``model`` is ``extractive`` or a language model (:func:`longform.models.language.open_language_model`); ``rerank``
    a re-ranker, ``similarity`` or ``none`` (without a name the shipped one, but none for a list, which it was measured
    to harm); ``reader`` a reader, or ``None`` to do without. ``as_list`` answers with a list, for questions with many
    answers. Pipelines that are given the same ``models`` share what they load.
    """
    from longform.models import CrossEncoder, Encoder, Reader
    from longform.models.registry import find_model

    models = models or Models()
    rerank = ("none" if as_list else "reranker") if rerank is None else rerank
    scorer: Any = None
    if rerank not in ("similarity", "none") or model == "extractive":
        name = "reranker" if rerank in ("similarity", "none") else rerank
        find_model(name, "reranker")  # A name that is wrong is said now, not in a thread.
        scorer = models.get(("reranker", name, threads), lambda: _SoonScorer(lambda: CrossEncoder.load(name, threads)))
    chosen: Reranker | None
    if rerank == "none":
        chosen = None
    elif rerank == "similarity":
        encoder: Any = models.get(("encoder",), Encoder.load) if index.manifest.dense is None else index.encoder
        chosen = SimilarityReranker(encoder, index)
    else:
        chosen = _SoonReranker(lambda: open_reranker(scorer.value, index, budget_ms))
    finder: Any = None
    if reader is not None and (model == "extractive"):
        find_model(reader, "reader")
        finder = models.get(("reader", reader, threads), lambda: _SoonReader(lambda: Reader.load(reader, threads)))
    answerer: Answerer
    if model == "extractive":
        if as_list:
            from longform.answer.lists import EAGER, ListAnswerer

            if finder is None:
                raise InputError("A list of answers needs a reader: name one with --reader.")
            eager = _SoonReader(lambda: found.answering(EAGER) if isinstance(found := finder.value, Reader) else found)
            answerer = ListAnswerer(eager, passages=passages or LIST_PASSAGES)
        else:
            shipped = rerank == "reranker"
            answerer = ExtractiveAnswerer(
                scorer, finder, words, passages or ExtractiveAnswerer.passages, always, shipped
            )
    else:
        from longform.models.language import open_language_model

        writer = models.get(
            ("writer", model, context, threads), lambda: open_language_model(model, context=context, threads=threads)
        )
        if as_list:
            from longform.answer.lists import LanguageModelLister

            answerer = LanguageModelLister(writer, passages=passages or LIST_PASSAGES)
        else:
            from longform.answer.written import LanguageModelAnswerer
            from longform.models import Entailment

            answerer = LanguageModelAnswerer(
                writer,
                words=words,
                passages=passages or 5,
                prompt=prompt,
                best_last=best_last,
                strict=strict,
                entailment=None if entailment is None else Entailment.load(entailment),
                max_tokens=max_tokens,
                temperature=temperature,
                seed=seed,
            )
    return Pipeline(index, answerer, chosen, mode, max(pool, answerer.wants))
