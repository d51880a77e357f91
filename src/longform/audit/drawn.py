"""How much of what an answer says stands in passages: n-grams, and the names, numbers and nouns behind the question.

The measures of *Hurdles* (Krishna et al., 2021, section 3.1, Tables 2 and 4), of which no code was released. All are
shares from 0 to 1 of the answer's own words, each occurrence counted; an answer without any has 0.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from longform.audit.telling import stems_of, telling_words, tokens_of, word_stem
from longform.data.example import Example
from longform.score.report import Report, mean_of

__all__ = ["DRAWN", "Texts", "drawn_report", "ngram_overlap", "others_passages", "passages_of", "telling_overlap"]

Texts = Sequence[str]
_PAPER = "Krishna et al., NAACL 2021, section 3.1"
DRAWN = {
    "1-gram": "share of the answer's words that stand in the passages",
    "2-gram": "share of the answer's pairs of words that stand in a passage",
    "telling": "share of the answer's names, numbers and nouns that stand in the passages and not in the question",
    "in question": "share of the answer's names, numbers and nouns that stand in the question",
}


def ngram_overlap(text: str, passages: Texts, n: int) -> float:
    """The share of the n-grams of a text that stand in one of the passages.

    Words are in lower case, without punctuation, stop words included; an n-gram does not run from one passage into the
    next.

    >>> ngram_overlap("Ringo drummed in Rome.", ["He drummed in Rome", "Ringo Starr"], 1)
    1.0
    >>> round(ngram_overlap("Ringo drummed in Rome.", ["He drummed in Rome", "Ringo Starr"], 2), 2)
    0.67
    """
    mine = _ngrams(tokens_of(text), n)
    held = set().union(*(_ngrams(tokens_of(passage), n) for passage in passages))
    return sum(ngram in held for ngram in mine) / len(mine) if mine else 0.0


def _ngrams(words: Sequence[str], n: int) -> list[tuple[str, ...]]:
    return [tuple(words[start : start + n]) for start in range(len(words) - n + 1)]


def telling_overlap(text: str, passages: Texts, question: str) -> tuple[float, float]:
    """Of the names, numbers and nouns of a text: the share in the passages but not the question, and in the question.

    >>> telling_overlap("Ringo played drums in 1964.", ["Ringo had drums."], "Who was Ringo?")
    (0.3333333333333333, 0.3333333333333333)
    """
    mine = [word_stem(word) for word in telling_words(text)]
    if not mine:
        return 0.0, 0.0
    asked = stems_of(question)
    held = frozenset().union(*map(stems_of, passages))
    found = sum(word in held and word not in asked for word in mine)
    return found / len(mine), sum(word in asked for word in mine) / len(mine)


def passages_of(row: Mapping[str, Any]) -> list[str]:
    """What an item of a run was made from: title and text of each passage."""
    return [f"{one['title']}\n{one['text']}" if one["title"] else one["text"] for one in row.get("passages", ())]


def drawn_report(
    examples: Sequence[Example], texts: Mapping[str, Sequence[str]], passages: Mapping[str, Texts]
) -> Report:
    """The measures of :data:`DRAWN`, in per cent, for the answers ``texts`` to each question against ``passages``.

    A question with several answers has the mean over them.
    """
    columns: dict[str, list[float]] = {name: [] for name in DRAWN}
    for example in examples:
        held, rows = passages[example.id], []
        for text in texts[example.id]:
            new, asked = telling_overlap(text, held, example.question)
            rows.append((ngram_overlap(text, held, 1), ngram_overlap(text, held, 2), new, asked))
        for name, value in zip(DRAWN, np.mean(rows, axis=0), strict=True):
            columns[name].append(float(value))
    arrays = {name: np.asarray(values) for name, values in columns.items()}
    metrics = [mean_of(name, text, _PAPER, scale=100.0) for name, text in DRAWN.items()]
    return Report("drawn", [example.id for example in examples], arrays, metrics)


def others_passages(rows: Mapping[str, Mapping[str, Any]], seed: int = 0) -> dict[str, list[str]]:
    """For each item as many passages as it has, drawn from those of the other items and not its own: a floor.

    The draw depends on the seed and on the item's id. Where the others have too few, there are fewer.
    """
    pool = {one["id"]: one for identifier in sorted(rows) for one in rows[identifier].get("passages", ())}
    found = {}
    for identifier, row in rows.items():
        own = {one["id"] for one in row.get("passages", ())}
        rest = [one for key, one in pool.items() if key not in own]
        chance = random.Random(f"{seed}\x1fothers-passages\x1f{identifier}")
        drawn = chance.sample(rest, min(len(own), len(rest)))
        found[identifier] = passages_of({"passages": drawn})
    return found
