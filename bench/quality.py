"""Retrieval quality on real data: SciFact nDCG@10, and the answers and pages of the ASQA test questions.

    python bench/quality.py --data ../shared/data [--dense] [--rerank MODEL] [--only scifact|asqa] [--work FOLDER]

The data are not part of the repository. Prints a table, and the sha256 of every file that it read.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path

import ir_measures
from ir_measures import nDCG

from longform import Hit, Index, Question, ReadOptions, read, read_questions
from longform.files import sha256_of
from longform.rerank import open_reranker
from longform.text.normalize import normalize_answer


def scifact(data: Path, work: Path, dense: bool, rerank: str | None) -> None:
    """nDCG@10 on the 300 test queries of BEIR SciFact; documents are kept whole."""
    folder = data / "scifact"
    index = indexed(work / "scifact.index", folder / "corpus.jsonl.gz", dense)
    lines = (folder / "qrels" / "test.tsv").read_text().splitlines()[1:]
    qrels = [ir_measures.Qrel(q, d, int(s)) for q, d, s in (line.split("\t") for line in lines)]
    wanted = {qrel.query_id for qrel in qrels}
    questions = [q for q in read_questions(str(folder / "queries.jsonl")) if q.id in wanted]
    for mode, fusion in modes(dense):
        results = index.search([q.question for q in questions], 100, mode, fusion=fusion)
        print(
            f"SciFact   {mode:7} {fusion:9} nDCG@10 {ndcg(questions, results, qrels):.4f}   ({len(questions)} queries)"
        )
    if rerank:
        for name, vectors in [("BM25 alone", None), *([("vectors", index)] if dense else [])]:
            reranker = open_reranker(rerank, vectors)
            results = [reranker.rerank(q.question, index.search(q.question, 100, "bm25")) for q in questions]
            print(f"SciFact   bm25, top 100 by {rerank}, with {name}: nDCG@10 {ndcg(questions, results, qrels):.4f}")


def ndcg(questions: list[Question], results: list[list[Hit]], qrels: list[ir_measures.Qrel]) -> float:
    """nDCG@10 of rankings."""
    run = [
        ir_measures.ScoredDoc(question.id, hit.passage.id, -hit.rank)
        for question, hits in zip(questions, results, strict=True)
        for hit in hits
    ]
    return ir_measures.calc_aggregate([nDCG @ 10], qrels, run)[nDCG @ 10]


def indexed(path: Path, passages: Path, dense: bool) -> Index:
    """The index of a file of passages; made where it is not there."""
    if path.exists():
        return Index.open(path)
    return Index.create(path, read(str(passages), options=ReadOptions(passages=True)), dense=dense)


def asqa(data: Path, work: Path, dense: bool) -> None:
    """Share of the direct answers, and of the gold pages, in the top 5 and top 100 for the 300 ASQA test questions."""
    index = indexed(work / "wiki.index", data / "wiki" / "passages.jsonl.gz", dense)
    dev = json.loads((data / "asqa" / "ASQA.json").read_text())["dev"]
    examples = [dev[key] for key in json.loads((data / "asqa" / "test300.ids.json").read_text())]
    for mode, fusion in modes(dense):
        results = index.search([e["ambiguous_question"] for e in examples], 100, mode, fusion=fusion)
        cells = []
        for k in (5, 100):
            pairs = list(zip(examples, results, strict=True))
            answers = sum(answer_recall(e, hits[:k]) for e, hits in pairs) / len(pairs)
            pages = sum(page_recall(e, hits[:k]) for e, hits in pairs) / len(pairs)
            cells.append(f"top {k}: answers {answers:.4f} pages {pages:.4f}")
        print(f"ASQA      {mode:7} {fusion:9} {'   '.join(cells)}   ({len(examples)} questions)")


def answer_recall(example: dict, hits: list[Hit]) -> float:
    """The share of a question's readings with an answer that occurs, normalised, in one of the passages.

    A passage is its title and its text, as whoever answers from it sees it. (In the text alone BM25 has 0.368 of the
    answers in the top 5 instead of 0.372, and 0.675 in the top 100 instead of 0.677.)
    """
    texts = [normalize_answer(f"{hit.passage.title} {hit.passage.text}") for hit in hits]
    found = [
        any(normalize_answer(alias) in text for alias in pair["short_answers"] for text in texts)
        for pair in example["qa_pairs"]
    ]
    return sum(found) / len(found)


def page_recall(example: dict, hits: list[Hit]) -> float:
    """The share of a question's gold pages with a passage among the hits, by title."""
    gold = {page["title"] for page in example["wikipages"]}
    return len(gold & {hit.passage.title for hit in hits}) / len(gold) if gold else 0.0


def modes(dense: bool) -> list[tuple[str, str]]:
    """The modes to measure, each with its fusion."""
    return [("bm25", "rrf")] + ([("dense", "rrf"), ("hybrid", "rrf"), ("hybrid", "weighted")] if dense else [])


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--dense", action="store_true", help="encode the passages too (a few minutes)")
    parser.add_argument("--work", type=Path, help="where the indexes are, or go; else a temporary folder")
    parser.add_argument("--rerank", metavar="MODEL", help="re-rank BM25's top 100 on SciFact too (ten minutes)")
    parser.add_argument("--only", choices=["scifact", "asqa"])
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        work = arguments.work or Path(temporary)
        if arguments.only != "asqa":
            scifact(arguments.data, work, arguments.dense, arguments.rerank)
        if arguments.only != "scifact":
            asqa(arguments.data, work, arguments.dense)
    for name in ("scifact/corpus.jsonl.gz", "scifact/qrels/test.tsv", "wiki/passages.jsonl.gz", "asqa/ASQA.json"):
        print(f"sha256 {sha256_of(arguments.data / name)}  {name}")


if __name__ == "__main__":
    main()
