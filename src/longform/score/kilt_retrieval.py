"""KILT's retrieval measures: R-precision, and recall, precision and success on evidence sets.

Petroni et al., NAACL 2021, section 5, and ``kilt/eval_retrieval.py``. Each gold output may list the pages that prove
it, its evidence set; several outputs mean several ways to prove the answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from longform.score.answers import any_within
from longform.text import normalize_answer

__all__ = [
    "EvidenceRanking",
    "context_measures",
    "evidence_ranking",
    "gold_answers",
    "page_ids",
    "r_precision",
    "retrieval_measures",
]

Row = Mapping[str, Any]


def page_ids(output: Row, key: str = "wikipedia_id") -> list[str]:
    """The distinct pages of an output's provenance, in order.

    >>> page_ids({"provenance": [{"wikipedia_id": 5}, {"wikipedia_id": "5 "}, {"title": "x"}, {"wikipedia_id": "7"}]})
    ['5', '7']
    """
    pages = (str(page[key]).strip() for page in output.get("provenance") or () if key in page)
    return list(dict.fromkeys(pages))


def gold_answers(row: Row) -> list[str]:
    """The distinct answers of a gold row, stripped; empty ones are left out.

    >>> gold_answers({"output": [{"answer": " Rome "}, {"answer": ""}, {"provenance": []}, {"answer": "Rome"}]})
    ['Rome']
    """
    answers = (str(output["answer"]).strip() for output in row["output"] if output.get("answer"))
    return list(dict.fromkeys(answer for answer in answers if answer))


def r_precision(gold_pages: Iterable[Sequence[str]], guessed: Sequence[str]) -> float:
    """The share of an output's R pages among the first R guesses, for the output where it is largest.

    An output without pages is worth 0. Both sides hold each page once (:func:`page_ids`).

    >>> r_precision([["5", "7"], ["9"]], ["5", "8", "7"]), r_precision([[]], ["5"])
    (0.5, 0.0)
    """
    return max(
        (len(set(pages) & set(guessed[: len(pages)])) / len(pages) for pages in gold_pages if pages), default=0.0
    )


class EvidenceRanking(NamedTuple):
    """A ranking seen through the evidence sets: is a set complete at each place, and how many sets are there?"""

    complete: list[bool]
    sets: int

    def recall(self, k: int) -> float:
        """Sets complete within the first k places, over all distinct sets."""
        return sum(self.complete[:k]) / self.sets if self.sets else 0.0

    def precision(self, k: int) -> float:
        """Sets complete within the first k places, over k."""
        return sum(self.complete[:k]) / k

    def success(self, k: int) -> float:
        """Whether any set is complete within the first k places."""
        return float(any(self.complete[:k]))


def evidence_ranking(evidence: Iterable[Iterable[str]], guessed: Sequence[str]) -> EvidenceRanking:
    """Each set takes one place, that of the last of its pages found so far; each other page takes one too.

    A page in two sets therefore takes two places, and a page found after its set was opened moves the set back. Equal
    sets count once. An output with an empty provenance is a set that nothing completes, as in the official scorer;
    one without the key is none.

    >>> evidence_ranking([["5", "7"], ["9"]], ["5", "1", "7", "9"])
    EvidenceRanking(complete=[False, True, True], sets=2)
    """
    wanted = list(dict.fromkeys(frozenset(pages) for pages in evidence))
    left = [set(pages) for pages in wanted]
    # A place is the index of a set still incomplete, "page" for any other page, or "complete".
    places: list[int | str] = []
    for page in guessed:
        opened = [number for number, pages in enumerate(left) if page in pages]
        for number in opened:
            if number in places:
                places.remove(number)
            left[number].remove(page)
            places.append(number if left[number] else "complete")
        if not opened:
            places.append("page")
    return EvidenceRanking([place == "complete" for place in places], len(wanted))


def retrieval_measures(gold: Row, guess: Row, ks: Iterable[int], key: str = "wikipedia_id") -> dict[str, float]:
    """R-precision, precision@k, and for k > 1 recall@k and success_rate@k, of one item."""
    guessed = page_ids(guess["output"][0], key)
    ranking = evidence_ranking((page_ids(output, key) for output in gold["output"] if "provenance" in output), guessed)
    values = {"Rprec": r_precision((page_ids(output, key) for output in gold["output"]), guessed)}
    for k in ks:
        values[f"precision@{k}"] = ranking.precision(k)
        if k > 1:
            values[f"recall@{k}"] = ranking.recall(k)
            values[f"success_rate@{k}"] = ranking.success(k)
    return values


def context_measures(gold: Row, guess: Row, ks: Iterable[int]) -> dict[str, float]:
    """Whether an answer, a gold page's title, or both stand in the text of one of the first k guessed passages.

    ``entity_in_input`` says whether a gold title stands in the question itself. A passage counts by its ``text``;
    guesses that give page ids only score 0.
    """
    titles = [
        str(page["title"]) for output in gold["output"] for page in output.get("provenance") or () if "title" in page
    ]
    answers = gold_answers(gold)
    found = []
    for page in guess["output"][0].get("provenance") or ():
        text = normalize_answer(page["text"]) if "text" in page else None
        found.append((text is not None and any_within(answers, text), text is not None and any_within(titles, text)))
    values = {"entity_in_input": float(any_within(titles, normalize_answer(gold["input"])))}
    for k in ks:
        values[f"answer_in_context@{k}"] = float(any(answer for answer, _ in found[:k]))
        values[f"answer_and_ent_in_context@{k}"] = float(any(answer and title for answer, title in found[:k]))
        values[f"entity_in_context@{k}"] = float(any(title for _, title in found[:k]))
    return values
