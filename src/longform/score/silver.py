"""SILVER's measures: is the context there, is the answer drawn from it, does it foresee the next questions?

Christmann, Vakulenko, Sorodoc, Byrne and de Gispert, 2024, section 3, on ASQA and on ConvMix conversations. No scorer
was released; what the paper leaves open is settled here: answers are looked for in title and text (normalised
substrings), pages by title, and tokens are sets of lower-case words without stop words, as in the paper's section 2.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from longform.errors import InputError
from longform.score.answers import best, token_f1
from longform.score.citations import remove_citations
from longform.score.recall import TitledText, answer_ranks, page_ranks, recall_at
from longform.score.report import Report, mean_of
from longform.text import content_tokens

__all__ = ["SilverItem", "c_f1", "content_tokens", "conversation_item", "groundedness", "score_silver"]

_CITATION = "Christmann et al., 2024, section 3"


class SilverItem(NamedTuple):
    """A question with its direct answers (lists of names), its pages, and the answers of each follow-up question."""

    id: str
    answers: Sequence[Sequence[str]]
    pages: Sequence[str] = ()
    follow_ups: Sequence[Sequence[Sequence[str]]] = ()


def conversation_item(row: Mapping[str, Any], *, follow_ups: int = 4) -> SilverItem:
    """A ConvMix conversation as SILVER uses it: the first question asks, the next four follow up.

    The label of every gold answer is an answer of its own. The id is that of the conversation.

    >>> turns = [{"answers": [{"id": "Q1", "label": "Rome"}]}, {"answers": [{"id": "Q2", "label": "Nero"}]}]
    >>> conversation_item({"conv_id": 7, "questions": turns})
    SilverItem(id='7', answers=[['Rome']], pages=(), follow_ups=[[['Nero']]])
    """
    identifier = row.get("conv_id", row.get("conversation_id"))
    if identifier is None:
        raise InputError("A conversation has no conv_id.")
    if not row.get("questions"):
        raise InputError(f"Item {identifier} has no questions.")
    turns = [[[str(answer["label"])] for answer in turn["answers"]] for turn in row["questions"]]
    return SilverItem(str(identifier), turns[0], (), turns[1 : 1 + follow_ups])


def groundedness(answer: str, passages: Iterable[TitledText]) -> float:
    """The share of the answer's words, stop words aside, that stand in the passages; 0 for an answer without any.

    Citation marks such as ``[1]`` are no words of the answer.

    >>> from longform.score.recall import PassageText
    >>> groundedness("Ringo drummed in Rome [1].", [PassageText("Ringo Starr", "He drummed.")])
    0.6666666666666666
    """
    words = content_tokens(remove_citations(answer))
    held = set().union(*(content_tokens(f"{passage.title} {passage.text}") for passage in passages))
    return len(words & held) / len(words) if words else 0.0


def c_f1(turns: Sequence[Sequence[str]], predictions: Sequence[str | Sequence[str]]) -> float:
    """C-F1 of one conversation: the mean over its questions of the best token F1 of what a reader found in the answer.

    ASQA's Disambig-F1 with the conversation's questions in place of the readings. ``turns`` holds the gold names of
    each question, ``predictions`` what the reader says, "" where it finds nothing. 0 to 1.

    >>> c_f1([["Rome"], ["Nero", "Emperor Nero"]], ["in Rome", "Nero"])
    0.8333333333333333
    """
    values = [best(token_f1, prediction, golds) for golds, prediction in zip(turns, predictions, strict=True)]
    return sum(values) / len(values)


def score_silver(
    items: Sequence[SilverItem],
    passages: Mapping[str, Sequence[TitledText]],
    *,
    answers: Mapping[str, str] | None = None,
    qa: Mapping[str, str | Sequence[str]] | None = None,
    k: int = 5,
) -> Report:
    """Recall and groundedness (0 to 1) over the top ``k`` passages, and C-F1 (0 to 100), as in the paper's Table 1.

    Page recall needs pages on every item, follow-up recall follow-ups; groundedness needs ``answers``; C-F1 needs
    ``qa``, the reader's predictions by ``<id>_<turn>``, where turn 0 is the first question.

    >>> from longform.score.recall import PassageText
    >>> item = SilverItem("1", [["Ringo"], ["Paul"]], pages=["The Beatles"])
    >>> score_silver([item], {"1": [PassageText("The Beatles", "Ringo drummed.")]}).scores
    {'direct_answer_recall@5': 0.5, 'page_recall@5': 1.0}
    """
    if k < 1:
        raise InputError(f"k must be at least 1, not {k}.")
    wanted = {
        f"direct_answer_recall@{k}": ("share of direct answers in the top passages", 1.0, True),
        f"page_recall@{k}": ("share of gold pages in the top passages", 1.0, any(item.pages for item in items)),
        f"follow_up_recall@{k}": (
            "share of follow-up answers in the top passages",
            1.0,
            any(item.follow_ups for item in items),
        ),
        "groundedness": ("share of the answer's words in the top passages", 1.0, answers is not None),
        "C-F1": ("token F1 on the conversation's questions", 100.0, qa is not None),
    }
    kept = [name for name, (_, _, present) in wanted.items() if present]
    rows = []
    for item in items:
        if item.id not in passages:
            raise InputError(f"Item {item.id} has no passages: give an empty list if nothing was found.")
        top = passages[item.id][:k]
        follow_ups = [aliases for turn in item.follow_ups for aliases in turn]
        row: dict[str, float] = {}
        for name in kept:
            if name.startswith("direct"):
                row[name] = recall_at(answer_ranks(_some(item.answers, item.id, "answers"), top), k)
            elif name.startswith("page"):
                row[name] = recall_at(page_ranks(_some(item.pages, item.id, "pages"), top), k)
            elif name.startswith("follow"):
                row[name] = recall_at(answer_ranks(_some(follow_ups, item.id, "follow-up answers"), top), k)
            elif name == "groundedness":
                row[name] = groundedness(_given(answers, item.id, "answer"), top)
            else:
                row[name] = _conversation_f1(item, qa)
        rows.append(row)
    columns = {name: np.array([row[name] for row in rows]) for name in kept}
    metrics = [mean_of(name, wanted[name][0], _CITATION, scale=wanted[name][1]) for name in kept]
    return Report("silver", [item.id for item in items], columns, metrics, {"k": k})


def _some(values: Sequence[Any], item: str, what: str) -> Sequence[Any]:
    if not values:
        raise InputError(f"Item {item} has no gold {what}.")
    return values


def _given(predictions: Mapping[str, Any] | None, key: str, what: str) -> Any:
    if predictions is None or key not in predictions:
        raise InputError(f"Item {key} has no {what}.")
    return predictions[key]


def _conversation_f1(item: SilverItem, qa: Mapping[str, str | Sequence[str]] | None) -> float:
    turns = [[name for aliases in turn for name in aliases] for turn in (item.answers, *item.follow_ups)]
    given = [_given(qa, f"{item.id}_{turn}", "reader's prediction") for turn in range(len(turns))]
    return c_f1(turns, given)
