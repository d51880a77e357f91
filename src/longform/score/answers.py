"""A short answer against the gold ones: exact match, token F1, and whether it stands in a longer text.

All of SQuAD's descent (ASQA, KILT, QAMPARI, ALCE) compares answers after the same normalisation,
:func:`longform.text.normalize_answer`, and differs only in what two empty answers are worth.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from longform.text import normalize_answer

__all__ = ["any_within", "best", "exact_match", "harmonic", "token_f1", "within"]


def harmonic(precision: float, recall: float) -> float:
    """The harmonic mean of two shares, 0 when both are 0.

    >>> harmonic(0.5, 1.0), harmonic(0.0, 0.0)
    (0.6666666666666666, 0.0)
    """
    return 2 * precision * recall / (precision + recall) if precision + recall > 0 else 0.0


def exact_match(prediction: str, gold: str) -> float:
    """1 if both are the same after normalisation, else 0 (Rajpurkar et al., EMNLP 2016, section 6.1).

    >>> exact_match("The Beatles!", "beatles"), exact_match("Beatles", "Wings")
    (1.0, 0.0)
    """
    return float(normalize_answer(prediction) == normalize_answer(gold))


def token_f1(prediction: str, gold: str, *, empty_agree: bool = True) -> float:
    """F1 of the two bags of normalised words (Rajpurkar et al., EMNLP 2016, section 6.1).

    ``empty_agree`` says what two answers without any word are worth: 1, since both say "no answer" (SQuAD 2.0, and so
    ASQA, ALCE and SILVER's C-F1), or 0, since they share no word (KILT, SQuAD 1.1).

    >>> token_f1("in the city of Rome", "Rome, Italy")
    0.3333333333333333
    >>> token_f1("", "the"), token_f1("", "the", empty_agree=False)
    (1.0, 0.0)
    """
    predicted, wanted = normalize_answer(prediction).split(), normalize_answer(gold).split()
    if not predicted or not wanted:
        return float(empty_agree and predicted == wanted)
    common = (Counter(predicted) & Counter(wanted)).total()
    return harmonic(common / len(predicted), common / len(wanted))


def best(measure: Callable[[str, str], float], predictions: str | Sequence[str], golds: Iterable[str]) -> float:
    """The largest value of a measure over every prediction and every gold answer; 0 where there is no pair.

    >>> best(exact_match, "NYC", ["New York", "nyc"]), best(token_f1, ["a", "York"], ["New York"])
    (1.0, 0.6666666666666666)
    """
    given = [predictions] if isinstance(predictions, str) else predictions
    return max((measure(prediction, gold) for gold in golds for prediction in given), default=0.0)


def within(answer: str, text: str) -> bool:
    """Whether the normalised answer is a substring of the normalised text: letters, not words, as in ASQA's STR-EM.

    An answer that normalises to nothing ("A", "The") stands in every text, as it does in the official scorers.

    >>> within("1", "in 2016"), within("O'Neil", "the o’neil band"), within("A", "anything")
    (True, False, True)
    """
    return normalize_answer(answer) in normalize_answer(text)


def any_within(answers: Iterable[str], normalized_text: str) -> bool:
    """Whether any answer stands in a text that is normalised already (normalising is most of the work).

    >>> any_within(["Wings", "The Beatles"], normalize_answer("It was the Beatles."))
    True
    """
    return any(normalize_answer(answer) in normalized_text for answer in answers)
