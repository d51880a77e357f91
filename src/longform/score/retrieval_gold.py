"""What passages should hold, from the files that people have; and the passages, from an index."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from longform.errors import InputError
from longform.score.recall import PassageText
from longform.score.retrieval import RetrievalGold
from longform.score.rows import json_rows

__all__ = ["IndexPassages", "is_qrels", "load_gold"]


def is_qrels(path: str) -> bool:
    """Whether a gold file is one of judgments, by its name.

    >>> is_qrels("qrels/test.tsv"), is_qrels("ASQA.json")
    (True, False)
    """
    return not path.removesuffix(".gz").endswith((".json", ".jsonl"))


def load_gold(path: str, split: str = "dev") -> dict[str, RetrievalGold]:
    """The answers, pages and evidence of every question of ASQA.json, of a QAMPARI file, or of our own JSONL.

    Rows of JSONL have ``id`` (or ``qid``), and ``short_answers`` (lists of names) and ``pages``, or ``answer_list``.
    """
    if path.removesuffix(".gz").endswith(".json"):
        from longform.score.asqa import load_asqa

        return {key: _asqa(item) for key, item in load_asqa(path, split).items()}
    gold: dict[str, RetrievalGold] = {}
    for number, row in enumerate(json_rows(path), 1):
        identifier = row.get("id", row.get("qid"))
        if identifier is None:
            raise InputError(f"{path}:{number}: the row has no id.")
        if str(identifier) in gold:
            raise InputError(f"{path}:{number}: the id {identifier!r} occurs twice.")
        gold[str(identifier)] = _qampari(row) if "answer_list" in row else _plain(row, f"{path}:{number}")
    return gold


def _asqa(item: Mapping[str, Any]) -> RetrievalGold:
    pages = dict.fromkeys(page["title"] for page in item.get("wikipages") or ())
    return RetrievalGold([pair["short_answers"] for pair in item["qa_pairs"]], list(pages))


def _plain(row: Mapping[str, Any], where: str) -> RetrievalGold:
    answers, pages = row.get("short_answers") or [], row.get("pages") or []
    if not answers and not pages:
        raise InputError(f"{where}: the row has neither short_answers nor pages.")
    return RetrievalGold([[one] if isinstance(one, str) else one for one in answers], pages)


def _qampari(row: Mapping[str, Any]) -> RetrievalGold:
    answers = row["answer_list"]
    evidence = [
        [PassageText(proof.get("found_in_title") or "", proof["proof_text"]) for proof in answer.get("proof") or ()]
        for answer in answers
    ]
    return RetrievalGold([answer["aliases"] for answer in answers], (), evidence if any(evidence) else ())


class IndexPassages(Mapping[str, PassageText]):
    """The passages of an index by id, read as they are asked for."""

    def __init__(self, folder: str) -> None:
        from longform.retrieve import Index

        self._index = Index.open(folder)

    def __getitem__(self, identifier: str) -> PassageText:
        if identifier not in self._index:
            raise KeyError(identifier)
        passage = self._index.passage(identifier)
        return PassageText(passage.title, passage.text)

    def __iter__(self) -> Iterator[str]:
        return (passage.id for passage in self._index)

    def __len__(self) -> int:
        return len(self._index)
