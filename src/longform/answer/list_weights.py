"""How much a passage counts for a list: by its retrieval score, by the names it shares with the question, by its kind.

A span reader knows well what a film is called and less well who directed it, and is sure of itself either way: of all
that it gives over 200 passages, 4 in 100 are answers. What the question names tells more. On 38 development questions
of ``bench/lists.py`` the best F1 is

    0.504   root of the score · focus
    0.532   root of the score · focus · kind

and the first is 0.460 with the shipped cross-encoder's score in place of BM25's, which orders by how well a passage
explains and not by whether it holds one more answer. Chosen on few questions, the gain is not proven: docs/lists.md has
what is left of it on others. So where hits carry BM25's score, it is taken, whoever ordered them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from longform.models.spans import scaled
from longform.records import Hit
from longform.text import sentence_spans

__all__ = ["passage_weights"]

# What a passage of another kind than the question asks for counts: 0.5 and 0.8 are as good.
OTHER_KIND = 0.7

_WORDS = re.compile(r"\w+")
_KIND = re.compile(
    r"\b(?:which|what)\s+(?!(?:is|are|was|were|do|does|did|has|have|had|will|can)\b)([^\W\d_]+)", re.IGNORECASE
)


def passage_weights(question: str, hits: Sequence[Hit]) -> list[float]:
    """A weight from 0 to 1 for each hit, 1 for the best.

    >>> from longform.records import Passage
    >>> said = ["Ay is a film by Jo Ham.", "Jo Ham is a man.", "Bee is a film by Al Fox."]
    >>> hits = [Hit(Passage(text, "", "", text, 0, len(text)), 1, 1.0) for text in said]
    >>> [round(weight, 2) for weight in passage_weights("Which films did Jo Ham direct?", hits)]
    [1.0, 0.7, 0.0]
    """
    bm25 = [hit.scores["bm25"] for hit in hits if "bm25" in hit.scores]
    scores = scaled(bm25 if len(bm25) == len(hits) else [hit.score for hit in hits])
    parts = zip(scores, _focus(question, hits), _kinds(question, hits), strict=True)
    weights = [math.sqrt(score) * focus * kind for score, focus, kind in parts]
    highest = max(weights, default=0.0)
    return [weight / highest for weight in weights] if highest else weights


def _focus(question: str, hits: Sequence[Hit]) -> list[float]:
    """The share of the question's names and numbers that each passage holds; 1 where it has none.

    >>> from longform.records import Passage
    >>> hits = [Hit(Passage(text, "", "", text, 0, 9), 1, 1.0) for text in ("By Jo Ham", "By Jo", "By Al")]
    >>> _focus("Which films did Jo Ham direct?", hits)
    [1.0, 0.5, 0.0]
    """
    named = {
        word.lower()
        for place, word in enumerate(_WORDS.findall(question))
        if (place and word[0].isupper()) or any(letter.isdigit() for letter in word)
    }
    if not named:
        return [1.0] * len(hits)
    texts = (f"{hit.passage.title} {hit.passage.text}".lower() for hit in hits)
    return [len(named.intersection(_WORDS.findall(text))) / len(named) for text in texts]


def _kinds(question: str, hits: Sequence[Hit]) -> list[float]:
    """1 where title or first sentence has the noun after "which" or "what", in singular or plural."""
    asked = _KIND.search(question)
    if asked is None:
        return [1.0] * len(hits)
    kind = _singular(asked[1])
    return [1.0 if kind in map(_singular, _WORDS.findall(_opening(hit))) else OTHER_KIND for hit in hits]


def _opening(hit: Hit) -> str:
    first = next(iter(sentence_spans(hit.passage.text)), None)
    return f"{hit.passage.title} {hit.passage.text[: first.end] if first else ''}"


def _singular(word: str) -> str:
    """A word without the ending of a plural, as far as two forms of it must be the same.

    >>> _singular("Films"), _singular("cities"), _singular("city")
    ('film', 'citi', 'citi')
    """
    word = word.lower()
    if word.endswith("ies"):
        return word[:-2]
    return word[:-1] + "i" if word.endswith("y") else word.removesuffix("s")
