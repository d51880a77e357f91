"""Long answers to ambiguous questions, our own beside those of others, all scored alike.

The measures are ASQA's (Stelmakh et al., EMNLP 2022, section 4) and SILVER's groundedness (Christmann et al., 2024).
Besides answerers there are rows that tell what the numbers mean: the question itself as its answer, the first passage
of a search, and an answer made of the passages that the gold answers themselves choose.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from longform.answer.extractive import DEFAULT_WORDS, ExtractiveAnswerer
from longform.answer.protocol import Answerer
from longform.corpus.training_questions import TrainingQuestion
from longform.files import sha256_of
from longform.models import CrossEncoder, Reader
from longform.models.language import language_fingerprint
from longform.progress import Progress, no_progress
from longform.records import Hit, Passage
from longform.rerank import open_reranker
from longform.retrieve import Index
from longform.score.asqa import score_asqa
from longform.score.citations import remove_citations
from longform.score.reading import read_answers
from longform.score.report import Report, mean_of
from longform.score.silver import groundedness
from longform.silver import SilverSettings, silver_rows
from longform.study.code import code_sha
from longform.study.kept import keep_all

__all__ = ["AnsweredRow", "AsqaStudy", "StoredAnswer", "run_asqa_study"]

# The modules that decide what an extractive answer says.
_EXTRACTIVE = tuple(
    f"answer/{module}" for module in ("candidates", "extractive", "fragments", "leaning", "relevance", "selection")
)


class StoredAnswer(NamedTuple):
    """Another system's answer, and the passages it was given."""

    answer: str
    passages: tuple[Passage, ...]


@dataclass(frozen=True)
class AsqaStudy:
    """What to run: ``gold`` is ASQA's own, for the questions asked; ``stored`` are answers by system and question.

    ``given`` names the stored systems whose passages our answerer is to answer from too; ``writers`` are language
    models by the name of their row, for which ``open_writer`` makes the answerer.
    """

    index: Path
    gold: Mapping[str, Mapping[str, Any]]
    questions: Sequence[TrainingQuestion]
    work: Path
    stored: Mapping[str, Mapping[str, StoredAnswer]] = field(default_factory=dict)
    given: Sequence[str] = ()
    writers: Mapping[str, str] = field(default_factory=dict)
    open_writer: Callable[[str], Answerer] | None = None
    reader: str = "reader"
    reranker: str = "reranker"
    words: int = DEFAULT_WORDS
    pool: int = 100
    sentences: Literal["own", "punkt"] = "own"


class AnsweredRow(NamedTuple):
    """A line of the table."""

    name: str
    description: str
    report: Report


Given = tuple[str, list[dict[str, str]]]


def run_asqa_study(study: AsqaStudy, progress: Progress = no_progress) -> list[AnsweredRow]:
    """Answer what is not answered yet, and score every system."""
    reader = Reader.load(study.reader)
    index = Index.open(study.index)
    state = {"index": sha256_of(index.folder / "longform.json")}
    questions = {question.id: question.question for question in study.questions}
    rows = []
    for name, description, made_with, make in _systems(study, index, reader):
        path = study.work / "answers" / f"{name.replace('/', '-').replace(' ', '-')}.jsonl"
        kept = keep_all(path, {**state, **made_with}, questions, make, progress, f"answering by {name}")
        answers = {identifier: remove_citations(value[0]) for identifier, value in kept.items()}
        found = keep_all(
            path.with_name(f"{path.stem}.read.jsonl"),
            {"reader": reader.fingerprint, "answers": answers},
            answers,
            lambda identifier, answer: read_answers({identifier: study.gold[identifier]}, {identifier: answer}, reader),
            progress,
            f"reading {name}",
        )
        qa = {key: text for by_pair in found.values() for key, text in by_pair.items()}
        report = score_asqa({key: study.gold[key] for key in questions}, answers, qa, sentences=study.sentences)
        grounded = [
            groundedness(answers[key], [Passage("", "", row["title"], row["text"], 0, 0) for row in kept[key][1]])
            for key in report.ids
        ]
        rows.append(AnsweredRow(name, description, _with(report, "groundedness", grounded)))
    return rows


def _with(report: Report, name: str, values: Sequence[float]) -> Report:
    metric = mean_of(name, "share of the answer's words in its passages", "Christmann et al., 2024, section 3")
    return replace(report, columns={**report.columns, name: np.asarray(values)}, metrics=[*report.metrics, metric])


def _systems(
    study: AsqaStudy, index: Index, reader: Reader
) -> Iterator[tuple[str, str, dict[str, Any], Callable[[str, str], Given]]]:
    model = CrossEncoder.load(study.reranker)
    reranker = open_reranker(model, index)
    ours = ExtractiveAnswerer(model, reader, study.words, always=True)
    ranked = {"reranker": model.fingerprint, "mix": dict(model.mix)}
    told = {"words": study.words}
    # Answers of other rules are not these rules' answers: the code is part of what they were made with.
    made = {
        **ranked,
        **told,
        "reader": reader.fingerprint,
        "extractive": repr((ours.weights, ours.settings, ours.passages)),
        "code": code_sha(*_EXTRACTIVE),
    }
    depth = min(study.pool, len(index))
    found: dict[tuple[str, str], list[Hit]] = {}

    def hits(question: str, mode: str, k: int) -> list[Hit]:
        if (question, mode) not in found:
            # Kept, as several rows answer from the same passages.
            found[question, mode] = reranker.rerank(question, index.search(question, depth, mode), 20)
        return found[question, mode][:k]

    yield "question", "the question as its own answer", {}, lambda _, question: (question, [])
    yield "BM25@1", "the first passage", {}, lambda _, question: _passage(index.search(question, 1, "bm25"))
    yield (
        "re-ranked@1",
        "the first passage after re-ranking BM25's pool",
        ranked,
        lambda _, question: _passage(hits(question, "bm25", 1)),
    )
    for mode in ["bm25", *(["hybrid"] if index.manifest.dense is not None else [])]:
        yield (
            f"extractive, {mode}",
            f"our default over the re-ranked pool of {mode} search",
            made,
            _answerer(ours, lambda question, mode=mode: hits(question, mode, ours.wants)),  # type: ignore[misc]
        )
    oracle = _oracle(study, index, depth)
    yield (
        "extractive, oracle passages",
        "our default, given the silver passages of the gold answers: a ceiling, not a system",
        made,
        _answerer(ours, lambda question: oracle[question]),
    )
    asked = {question.id: question.question for question in study.questions}
    for name in study.given:
        passages = {asked[key]: _hits(stored) for key, stored in study.stored[name].items() if key in asked}
        yield (
            f"extractive, passages of {name}",
            f"our default, given exactly the passages that {name} was given",
            made,
            _answerer(ours, lambda question, passages=passages: reranker.rerank(question, passages[question])),  # type: ignore[misc]
        )
    for row, writer in study.writers.items():
        assert study.open_writer is not None
        answerer = study.open_writer(writer)
        yield (
            row,
            f"{writer} over the re-ranked pool of BM25",
            {**ranked, **told, "writer": [writer, language_fingerprint(writer)]},
            _answerer(answerer, lambda question, answerer=answerer: hits(question, "bm25", answerer.wants)),  # type: ignore[misc]
        )
    for name, answers in study.stored.items():
        yield name, "stored answers, with the passages they were given", {"stored": name}, _stored(answers)


def _answerer(answerer: Answerer, hits: Callable[[str], list[Hit]]) -> Callable[[str, str], Given]:
    def make(_: str, question: str) -> Given:
        given = hits(question)
        answer = answerer.answer(question, given)
        text = answer.text if answer.answered else ""
        return text, [_titled(hit.passage) for hit in given]

    return make


def _stored(answers: Mapping[str, StoredAnswer]) -> Callable[[str, str], Given]:
    return lambda key, _: (answers[key].answer, [_titled(passage) for passage in answers[key].passages])


def _passage(hits: Sequence[Hit]) -> Given:
    return (hits[0].passage.text, [_titled(hits[0].passage)]) if hits else ("", [])


def _titled(passage: Passage) -> dict[str, str]:
    return {"title": passage.title, "text": passage.text}


def _hits(stored: StoredAnswer) -> list[Hit]:
    return [Hit(passage, rank, -float(rank)) for rank, passage in enumerate(stored.passages, 1)]


def _oracle(study: AsqaStudy, index: Index, depth: int) -> dict[str, list[Hit]]:
    chosen = {}
    for row in silver_rows(index, study.questions, SilverSettings("silver", 5, max(depth, 5), "bm25")):
        passages = [index.passage(passage.id) for passage in row.silver]
        chosen[row.question] = [Hit(passage, rank, -float(rank)) for rank, passage in enumerate(passages, 1)]
    return chosen
