"""From names to a pipeline, with the models that ship."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from longform import Document, Index
from longform.answer.extractive import DEFAULT_WORDS, ExtractiveAnswerer
from longform.answer.opening import LIST_PASSAGES, Models, open_pipeline
from longform.errors import InputError
from longform.models import CrossEncoder, Reader
from longform.rerank.reranker import SimilarityReranker
from longform.score.silver import groundedness


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    pages = [
        Document("nero", "Nero", "Nero ruled Rome until June 68. He was a poor poet."),
        Document("galba", "Galba", "Galba ruled Rome after Nero died. He was murdered in January 69."),
        Document("tea", "Tea", "Tea is a hot drink. It is brewed from leaves."),
    ]
    return Index.create(tmp_path_factory.mktemp("o") / "my.index", pages)


def test_the_shipped_models_answer(index: Index) -> None:
    pipeline = open_pipeline(index, threads=1, always=True, words=20)
    answer = pipeline.answer("Who ruled Rome in 68?")
    assert "Nero ruled Rome until June 68 [" in answer.text
    assert groundedness(answer.text, [hit.passage for hit in answer.passages]) == 1.0
    assert all("rerank" in hit.scores for hit in answer.passages)


def test_what_the_names_open(index: Index) -> None:
    models = Models()
    plain = open_pipeline(index, models=models)
    assert isinstance(plain.answerer, ExtractiveAnswerer) and plain.reranker is not None
    assert (plain.answerer.words, plain.answerer.wants, plain.pool) == (DEFAULT_WORDS, 10, 100)
    other = open_pipeline(index, models=models, rerank="none", reader=None, words=30, passages=3, always=True, pool=2)
    assert isinstance(other.answerer, ExtractiveAnswerer)
    assert other.reranker is None and other.answerer.reader is None and other.answerer.always
    assert (other.answerer.words, other.answerer.wants, other.pool) == (30, 3, 3)
    # One that is asked for twice is loaded once.
    assert other.answerer.scorer is plain.answerer.scorer
    assert isinstance(open_pipeline(index, models=models, rerank="similarity").reranker, SimilarityReranker)
    listing = open_pipeline(index, models=models, as_list=True)
    assert listing.answerer.wants == LIST_PASSAGES


def test_models_load_in_the_background(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    may_load = threading.Event()
    threads: list[str] = []

    def later(load: Any) -> Any:
        def loaded(*arguments: Any) -> Any:
            threads.append(threading.current_thread().name)
            assert may_load.wait(60)
            return load(*arguments)

        return loaded

    monkeypatch.setattr(CrossEncoder, "load", later(CrossEncoder.load))
    monkeypatch.setattr(Reader, "load", later(Reader.load))
    pipeline = open_pipeline(index, threads=1)
    assert index.search("Who ruled Rome?", 2)
    may_load.set()
    assert pipeline.answer("Who ruled Rome?").passages
    assert len(threads) == 2 and threading.current_thread().name not in threads


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rerank": "x y"}, "There is no re-ranker x y:"),
        ({"rerank": "encoder"}, "encoder is of kind encoder, where a model of kind reranker is needed."),
        ({"reader": "nowhere"}, "There is no reader nowhere:"),
        ({"rerank": ""}, "The name of the reranker model is empty: give a name or a folder."),
        ({"as_list": True, "reader": None}, "A list of answers needs a reader: name one with --reader."),
        ({"words": 0}, "An answer has at least 1 word, not 0."),
    ],
)
def test_names_that_are_wrong_are_said_at_once(index: Index, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as caught:
        open_pipeline(index, **options)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("model", ["nonsense", "gguf:nowhere.gguf", "hf:nowhere", "openai:", "gguf:"])
def test_a_language_model_that_is_not_there(index: Index, model: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        open_pipeline(index, model)
    assert "\n" not in str(caught.value) and str(caught.value).endswith(".")
