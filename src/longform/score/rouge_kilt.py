"""ROUGE-L as KILT reports it: the PyPI package ``rouge``, version 1.0.1, which is not ``rouge-score``.

F. Petroni et al., "KILT", NAACL 2021; the scorer is ``kilt/eval_downstream.py``. The package's versions disagree: on
KILT's own fixtures 0.3.2 gives 0.638 and 0.428, 1.0.0 gives 0.722 and 0.513, and 1.0.1 gives 0.722 and 0.447, which
are the values that KILT's tests expect and that this module reproduces.
"""

from __future__ import annotations

from longform.score.lcs import STOP, SentenceBits
from longform.score.rouge import RougeScore

__all__ = ["rouge_l_kilt"]

# Added to the denominator of F, so that a text scores 0.999999995 against itself.
_EPSILON = 1e-8


def rouge_l_kilt(reference: str, prediction: str) -> RougeScore:
    """ROUGE-L over *distinct* words: no lower-casing, no stemming, a sentence ends at every full stop.

    The words of the longest common subsequences of each reference sentence with each predicted sentence form one set;
    recall and precision divide its size by the number of distinct words on either side. A text without a sentence
    scores 0, as KILT has it.

    >>> rouge_l_kilt("The U.S. won. It won twice.", "The U.S. won twice.")
    RougeScore(precision=1.0, recall=0.8333333333333334, f=0.9090909041322315)
    """
    target, answer = _tokens(reference), _tokens(prediction)
    if not target or not answer:
        return RougeScore(0.0, 0.0, 0.0)
    # Ties move along the prediction here, which is what the walk does when the two change places.
    bits = SentenceBits(answer)
    common = len(set(bits.words_at(bits.union(target, once=True))))
    precision, recall = common / len(set(answer) - {STOP}), common / len(set(target) - {STOP})
    return RougeScore(precision, recall, 2.0 * ((precision * recall) / (precision + recall + _EPSILON)))


def _tokens(text: str) -> list[str]:
    """The words, with a stop between sentences; where only white space stands between two stops, the empty word."""
    tokens: list[str] = []
    for piece in text.split("."):
        if piece:
            tokens += piece.split() or [""]
            tokens.append(STOP)
    return tokens[:-1]
