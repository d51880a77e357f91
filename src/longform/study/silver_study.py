"""Table 1 of the SILVER paper, on any index: what each kind of weak supervision does for a re-ranker.

Christmann et al., 2024, section 3: silver passages by each method, a re-ranker trained on each, the same budget for
all, and the recall of direct answers and of pages among the first five passages of questions that no re-ranker saw.
Every stage keeps what it made in the work folder; the same study started again makes only what is missing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from longform.corpus.training_questions import TrainingQuestion
from longform.errors import FailureError, InputError
from longform.files import sha256_of
from longform.progress import Progress, no_progress
from longform.records import Hit
from longform.retrieve import Index
from longform.score.report import Report
from longform.score.silver import SilverItem, score_silver
from longform.silver import LanguageModel, SilverSettings, read_silver, silver_rows, write_silver
from longform.study.rankings import rank_all

__all__ = ["TRAINED", "SilverStudy", "StudyRow", "run_silver_study"]

TRAINED = ("direct", "lexical", "semantic", "perplexity", "silver")

Ranker = Callable[[str, str], Sequence[Hit]]


@dataclass(frozen=True)
class SilverStudy:
    """What is compared: an index, questions to learn from, others to test on, and how much each method may learn.

    ``also`` names re-rankers that are there already, each a row of its own; ``layers`` are those of the base that the
    methods' re-rankers keep; ``pairs`` is how many pairs of a question and a passage each of them learns from.
    """

    index: Path
    train: Sequence[TrainingQuestion]
    test: Sequence[TrainingQuestion]
    work: Path
    base: str = "encoder"
    methods: Sequence[str] = TRAINED
    pairs: int = 4000
    layers: tuple[int, ...] = (0, 1, 4, 5)
    max_length: int = 128
    k: int = 5
    pool: int = 100
    seed: int = 0
    language_model: str | None = None
    perplexity_questions: int = 40
    perplexity_pool: int = 20
    also: Mapping[str, str] = field(default_factory=dict)
    diverse: str | None = None
    """Of ``also``, the re-ranker whose passages are then chosen for the most answers; needs a reader."""
    reader: str = "reader"


class StudyRow(NamedTuple):
    """A line of the table: what the system is, how it was trained, and its scores on the test questions."""

    name: str
    description: str
    report: Report


def run_silver_study(study: SilverStudy, progress: Progress = no_progress) -> list[StudyRow]:
    """Make everything that is missing and score every system, in the order of the paper's table."""
    overlap = {question.id for question in study.train} & {question.id for question in study.test}
    if overlap:
        raise InputError(
            f"The question {sorted(overlap)[0]} is both to be trained on and tested on: leave it out of one."
        )
    index = Index.open(study.index)
    questions = {question.id: question.question for question in study.test}
    state = {"index": sha256_of(index.folder / "longform.json"), "questions": sorted(questions), "pool": study.pool}
    rows = []
    for name, description, made_with, ranker in _systems(study, index, progress):
        path = study.work / "rankings" / f"{name}.jsonl"
        rankings = rank_all(path, {**state, **made_with}, questions, ranker, progress)
        rows.append(StudyRow(name, description, _score(study, index, rankings)))
    return rows


def _systems(
    study: SilverStudy, index: Index, progress: Progress
) -> Iterator[tuple[str, str, dict[str, object], Ranker]]:
    first: dict[str, list[Hit]] = {}

    def pool(identifier: str, question: str) -> list[Hit]:
        if identifier not in first:
            first[identifier] = index.search(question, min(study.pool, len(index)), "bm25")
        return first[identifier]

    yield "bm25", "first stage, no re-ranking", {}, pool
    if index.manifest.dense is not None:
        for mode in ("dense", "hybrid"):
            yield mode, "first stage, no re-ranking", {}, _searcher(index, mode, min(study.pool, len(index)))
        from longform.rerank import SimilarityReranker

        similarity = SimilarityReranker(index.encoder, index)
        yield (
            "similarity",
            "BM25's pool by the encoder's similarity, off the shelf",
            {"encoder": index.manifest.dense.fingerprint},
            lambda identifier, question: similarity.rerank(question, pool(identifier, question)),
        )
    from longform.models.cross_encoder import CrossEncoder
    from longform.rerank import open_reranker

    ranked: dict[tuple[str, str], list[Hit]] = {}

    def reranked(folder: str) -> tuple[dict[str, object], Ranker]:
        model = CrossEncoder.load(folder)
        reranker = open_reranker(model, index)

        def rank(identifier: str, question: str) -> list[Hit]:
            key = folder, identifier
            if key not in ranked:
                ranked[key] = reranker.rerank(question, pool(identifier, question))
            return ranked[key]

        return {"model": model.fingerprint, **({"mix": dict(model.mix)} if model.mix else {})}, rank

    for method in study.methods:
        description = _trained(study, index, method, progress)
        yield (method, description, *reranked(str(study.work / f"reranker-{method}")))
    for name, folder in study.also.items():
        yield (name, f"the re-ranker {folder}", *reranked(folder))
    if study.diverse is not None:
        yield _diverse(study, *reranked(study.also.get(study.diverse, study.diverse)))
    chosen = dict(_oracle(study, index))
    yield (
        "oracle",
        "the silver passages of the test questions' own answers: a ceiling, not a system",
        {"oracle": 1},
        lambda identifier, _: chosen[identifier],
    )


def _searcher(index: Index, mode: str, depth: int) -> Ranker:
    return lambda _, question: index.search(question, depth, mode)


def _trained(study: SilverStudy, index: Index, method: str, progress: Progress) -> str:
    """Make the silver file and the re-ranker of a method where they are not there; says how it was trained."""
    from longform.train.reranker import RerankerSettings, train_reranker

    questions, depth = study.train, study.pool
    model: LanguageModel | None = None
    if method == "perplexity":
        questions, depth = questions[: study.perplexity_questions], study.perplexity_pool
    path, folder = study.work / f"silver-{method}.jsonl", study.work / f"reranker-{method}"
    if not path.is_file():
        study.work.mkdir(parents=True, exist_ok=True)
        if method == "perplexity":
            if study.language_model is None:
                raise InputError("The row perplexity needs a language model: name one with --model, or leave it out.")
            from longform.train.likelihood import CausalModel

            model = CausalModel.load(study.language_model)
        settings = SilverSettings(method, study.k, depth, "bm25", study.seed)
        write_silver(index, questions, path, settings, language_model=model, progress=progress)
    learned = [row for row in read_silver(str(path)).rows if row.silver and len(row.pool) > len(row.silver)]
    each = 8
    training = RerankerSettings(
        loss="list",
        graded=True,
        hard=0.5,
        positives=2,
        negatives=each - 2,
        epochs=study.pairs / each / max(len(learned) * 0.95, 1),
        batch=4,
        learning_rate=1e-4,
        layers=study.layers,
        max_length=study.max_length,
        validation_questions=40,
        looks=1,
        seed=study.seed,
    )
    if not (folder / "README.md").is_file():
        try:
            train_reranker([path], study.base, folder, training, index=study.index, progress=progress)
        except FailureError:
            # Eight bits were too few for this one: a comparison of methods must not turn on that.
            train_reranker([path], study.base, folder, training, index=study.index, int8=False, progress=progress)
    pool = f", the first {depth} candidates" if depth != study.pool else ""
    return f"re-ranker trained on {study.pairs:,} pairs of {len(learned):,} questions{pool}"


def _diverse(
    study: SilverStudy, made_with: dict[str, object], ranker: Ranker
) -> tuple[str, str, dict[str, object], Ranker]:
    from longform.models import Reader
    from longform.rerank import select_diverse

    reader = Reader.load(study.reader)

    def rank(identifier: str, question: str) -> Sequence[Hit]:
        return select_diverse(question, ranker(identifier, question), study.k, reader)

    return (
        f"{study.diverse}+diverse",
        f"{study.diverse}, then the {study.k} of its first 20 that hold the most distinct answers",
        {**made_with, "reader": reader.fingerprint},
        rank,
    )


def _oracle(study: SilverStudy, index: Index) -> Iterator[tuple[str, list[Hit]]]:
    settings = SilverSettings("silver", study.k, study.pool, "bm25", study.seed)
    for row in silver_rows(index, study.test, settings):
        passages = [index.passage(passage.id) for passage in row.silver]
        yield row.id, [Hit(passage, rank, -float(rank)) for rank, passage in enumerate(passages, 1)]


def _score(study: SilverStudy, index: Index, rankings: Mapping[str, Sequence[str]]) -> Report:
    items = [SilverItem(question.id, question.short_answers, question.pages) for question in study.test]
    passages = {
        identifier: [index.passage(passage_id) for passage_id in ranking[: study.k]]
        for identifier, ranking in rankings.items()
    }
    return score_silver(items, passages, k=study.k)
