"""What a process loads once and all its requests share: the models, the collections, the database, the threads."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from longform.answer.opening import Models, open_pipeline
from longform.answer.pipeline import Pipeline
from longform.errors import LongformError
from longform.models.language import LanguageModel, open_language_model
from longform.records import Hit
from longform.retrieve.index import Index
from longform.serve.collections import Collections
from longform.serve.database import Database
from longform.serve.errors import ApiError, NotFoundError
from longform.serve.history import History
from longform.serve.jobs import Jobs
from longform.serve.metrics import Metrics
from longform.serve.settings import Settings
from longform.serve.shapes import AskRequest, SearchRequest
from longform.serve.workers import Check, Workers

__all__ = ["Engine"]


class Engine:
    """The server without HTTP."""

    def __init__(self, settings: Settings, models: Models | None = None) -> None:
        self.settings = settings
        self.models = models or Models()
        self.database = Database(settings.home)
        self.history = History(self.database)
        self.collections = Collections(settings, self.database, self.models)
        self.jobs = Jobs(settings, self.database, self.collections)
        self.workers = Workers(settings.running, settings.queue, settings.time_limit)
        self.metrics = Metrics(self.workers)

    def warm(self) -> None:
        """Load everything now, so that the first question waits no longer than the second."""
        for model in self.settings.models:
            self.writer(AskRequest(question="?", model=model))
        for name in self.collections.folders():
            try:
                index = self.collections.get(name)[1]
            except LongformError:
                continue  # It is being made; or each request for it will say what is wrong.
            for model in self.settings.models:
                answerer: Any = self.pipeline(index, AskRequest(question="?", model=model), lambda: None).answerer
                if model == "extractive":
                    answerer.scorer.lengths("?", [])
                    answerer.reader.read([])

    def close(self) -> None:
        """Finish what runs, and let go."""
        self.jobs.close()
        self.workers.close()
        self.database.close()

    def hidden(self) -> dict[str, str]:
        """The paths that clients are not told, and what they are told instead."""
        return {
            **{str(folder): name for name, folder in self.collections.folders().items()},
            str(self.settings.home): "the server's home",
        }

    def model(self, asked: AskRequest) -> str:
        """The model that a request asks for: one of those that the server was started with."""
        model = asked.model or self.settings.models[0]
        if model not in self.settings.models:
            raise ApiError(f"There is no model {model!r}; there are: {', '.join(self.settings.models)}.")
        return model

    def writer(self, asked: AskRequest) -> LanguageModel | None:
        """The language model of a request, the one that its pipeline has; none for extractive answers."""
        model, threads = self.model(asked), self.settings.threads
        if model == "extractive":
            return None
        return self.models.get(("writer", model, None, threads), lambda: open_language_model(model, threads=threads))

    def pipeline(self, index: Index, asked: AskRequest, check: Check) -> Pipeline:
        """The pipeline for a request."""
        settings = self.settings
        model = self.model(asked)
        passages = asked.k
        if passages is None and not asked.as_list and model == "extractive":
            passages = settings.passages
        pipeline = open_pipeline(
            index,
            model,
            rerank="none" if asked.as_list or not asked.rerank else settings.rerank,
            reader=settings.reader,
            words=asked.words or settings.words,
            passages=passages,
            pool=settings.pool,
            as_list=asked.as_list,
            threads=settings.threads,
            models=self.models,
        )
        answerer: Any = pipeline.answerer
        if hasattr(answerer, "progress"):
            # A list takes long before its first piece: it is left between two batches of passages, too.
            pipeline = replace(pipeline, answerer=replace(answerer, progress=lambda *_: check()))
        return pipeline

    def search(self, name: str, index: Index, asked: SearchRequest, check: Check) -> list[Hit]:
        """The passages for a request."""
        if asked.mode in ("dense", "hybrid") and index.manifest.dense is None:
            raise ApiError(f"The collection {name!r} has no vectors: search it with bm25.")
        if not len(index):
            raise NotFoundError(f"The collection {name!r} is empty.")
        k = min(asked.k or self.settings.passages, len(index))
        pool = min(max(k, self.settings.pool), len(index)) if asked.rerank else k
        hits = index.search(asked.question, pool, asked.mode)
        if not asked.rerank or not hits:
            return hits[:k]
        check()
        reranker = self.pipeline(index, AskRequest(question="?"), check).reranker
        return reranker.rerank(asked.question, hits, k) if reranker is not None else hits[:k]
