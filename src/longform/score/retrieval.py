"""Retrieval on its own: a run against judged passages, or against the answers, pages and evidence it should bring.

Rankings against judgments are measured by ``ir_measures`` (MacAvaney et al., ECIR 2022), whose names are kept:
``nDCG@10``, ``R@100``, ``RR@10``, ``P@5``, ``AP`` and all others that it knows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from longform.errors import InputError
from longform.score.recall import TitledText, answer_ranks, evidence_recall, page_ranks, recall_at
from longform.score.report import Report, mean_of
from longform.score.trec import Qrels, Run, Scored
from longform.trec import trec_id

__all__ = ["RetrievalGold", "score_qrels", "score_run"]

_ABOUT = {
    "answer": ("share of the question's answers in the top k passages", "Amouyal et al., 2022, section 5.1"),
    "page": ("share of the question's pages with a passage in the top k", "Christmann et al., 2024, section 3"),
    "evidence": ("share of the answers' evidence in the top k passages", "Amouyal et al., 2022, section 5.1"),
}


class RetrievalGold(NamedTuple):
    """What the passages of a question should hold; what is empty for every question is not measured.

    ``answers`` are lists of names, ``pages`` titles, ``evidence`` the gold passages of each answer.
    """

    answers: Sequence[Sequence[str]] = ()
    pages: Sequence[str] = ()
    evidence: Sequence[Sequence[TitledText]] = ()


def score_run(
    run: Run,
    gold: Mapping[str, RetrievalGold],
    passages: Mapping[str, TitledText],
    *,
    ks: Sequence[int] = (5, 20, 100),
) -> Report:
    """answer_recall@k, page_recall@k and evidence_recall@k of a run, whose passages are looked up by id.

    A question without a ranking counts as one that found nothing; rankings of other questions are left out.

    >>> from longform.score.recall import PassageText
    >>> from longform.score.trec import Scored
    >>> run = {"q": [Scored("b", 2.0), Scored("a", 1.0)]}
    >>> texts = {"a": PassageText("Beatles", "Ringo."), "b": PassageText("Wings", "Paul.")}
    >>> score_run(run, {"q": RetrievalGold([["Ringo"], ["Paul"]], ["Wings"])}, texts, ks=(1, 2)).scores
    {'answer_recall@1': 0.5, 'answer_recall@2': 1.0, 'page_recall@1': 1.0, 'page_recall@2': 1.0}
    """
    if not ks or min(ks) < 1:
        raise InputError("k must be at least 1.")
    read = _Passages(passages)
    found = {question: [read.get(scored.passage) for scored in _ranking(run, question)[: max(ks)]] for question in gold}
    columns: dict[str, NDArray[np.float64]] = {}
    kinds: dict[str, Callable[[str], list[float]]] = {
        "answer": lambda question: _recalls(answer_ranks(gold[question].answers, found[question]), ks),
        "page": lambda question: _recalls(page_ranks(gold[question].pages, found[question]), ks),
        "evidence": lambda question: [evidence_recall(gold[question].evidence, found[question], k) for k in ks],
    }
    for kind, field in (("answer", "answers"), ("page", "pages"), ("evidence", "evidence")):
        given = {question: bool(getattr(wanted, field)) for question, wanted in gold.items()}
        if not any(given.values()):
            continue
        for question, present in given.items():
            if not present:
                raise InputError(f"Item {question} has no gold {field}, which others have.")
        table = np.array([kinds[kind](question) for question in gold])
        columns |= {f"{kind}_recall@{k}": table[:, place] for place, k in enumerate(ks)}
    metrics = [mean_of(name, *_ABOUT[name.split("_")[0]]) for name in columns]
    return Report("retrieval", list(gold), columns, metrics, {"ks": list(ks)})


def score_qrels(run: Run, qrels: Qrels, *, measures: Sequence[str] = ("nDCG@10", "R@100", "RR@10")) -> Report:
    """Ranking measures of a run against judgments, by ``ir_measures``; one value per judged question.

    A judged question without a ranking counts 0 and rankings without judgments are left out, as ``trec_eval -c`` has
    it. Passages of equal score are measured in the order of the run, where ``trec_eval`` sorts them by id.

    >>> from longform.score.trec import Scored
    >>> score_qrels({"q": [Scored("b", 2.0), Scored("a", 1.0)]}, {"q": {"a": 1}}, measures=["RR@10", "R@5"]).scores
    {'RR@10': 0.5, 'R@5': 1.0}
    """
    import ir_measures

    name = ""
    try:
        parsed = [ir_measures.parse_measure(name := wanted) for wanted in measures]
    except (ValueError, NameError, SyntaxError, KeyError) as error:
        raise InputError(f"There is no measure {name!r}: see https://ir-measur.es for the names.") from error
    ids = list(qrels)
    places = {trec_id(question): place for place, question in enumerate(ids)}
    judgments = [
        ir_measures.Qrel(trec_id(question), trec_id(passage), relevance)
        for question, judged in qrels.items()
        for passage, relevance in judged.items()
    ]
    # Ranks in place of scores: then ties cannot be broken in another way than they were here.
    ranked = [
        ir_measures.ScoredDoc(trec_id(question), trec_id(scored.passage), float(-rank))
        for question in qrels
        for rank, scored in enumerate(_ranking(run, question))
    ]
    columns = {str(measure): np.zeros(len(ids)) for measure in parsed}
    for value in ir_measures.iter_calc(parsed, judgments, ranked):
        columns[str(value.measure)][places[value.query_id]] = value.value
    metrics = [mean_of(name, "as ir_measures defines it", "MacAvaney et al., ECIR 2022") for name in columns]
    return Report("ranking", ids, columns, metrics, {"measures": list(columns)})


def _recalls(ranks: Sequence[float], ks: Sequence[int]) -> list[float]:
    return [recall_at(ranks, k) for k in ks]


def _ranking(run: Run, question: str) -> Sequence[Scored]:
    return run.get(question) or run.get(trec_id(question)) or ()


class _Passages:
    """Passages by the id that a run has for them: the id itself, or the form that TREC files hold."""

    def __init__(self, passages: Mapping[str, TitledText]) -> None:
        self._passages = passages
        self._encoded: dict[str, str] | None = None

    def get(self, identifier: str) -> TitledText:
        if identifier in self._passages:
            return self._passages[identifier]
        if self._encoded is None:
            self._encoded = {trec_id(known): known for known in self._passages}
        if identifier not in self._encoded:
            raise InputError(f"Passage {identifier} of the run is not among the passages given.")
        return self._passages[self._encoded[identifier]]
