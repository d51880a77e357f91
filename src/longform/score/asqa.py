"""ASQA as its official scorer has it: rougeLsum, str_em, length, QA-EM, QA-F1, QA-Hit and DR.

I. Stelmakh, Y. Luan, B. Dhingra and M.-W. Chang, "ASQA: Factoid Questions Meet Long-Form Answers", EMNLP 2022,
section 4; the scorer is ``language/asqa/scoring.py`` of ``google-research/language``. Names and scales are its own,
and so are its quirks, which ``docs/metrics/asqa.md`` lists.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import orjson

from longform.errors import InputError
from longform.score.answers import any_within, best, exact_match, token_f1
from longform.score.report import Metric, Report, mean_of
from longform.score.rouge import RougeText, rouge_lsum
from longform.text.normalize import normalize_answer
from longform.text.punkt import load_punkt
from longform.text.sentences import split_sentences

__all__ = ["asqa_metrics", "check_predictions", "load_asqa", "score_asqa"]

_PAPER = "Stelmakh et al., EMNLP 2022, section 4"
_BOOTSTRAPS = 1000

Split = Mapping[str, Mapping[str, Any]]


def load_asqa(path: str | Path, split: str = "dev") -> dict[str, dict[str, Any]]:
    """One split of an ``ASQA.json``: questions by key."""
    try:
        data = orjson.loads(Path(path).read_bytes())
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}.") from error
    except orjson.JSONDecodeError as error:
        raise InputError(f"{path} is not valid JSON ({error}): fetch ASQA.json again.") from error
    if not isinstance(data, dict) or not isinstance(data.get(split), dict):
        splits = ", ".join(list(data)[:5]) if isinstance(data, dict) and data else "none"
        raise InputError(f"{path} has no split '{split}'; its splits are: {splits}.")
    questions: dict[str, dict[str, Any]] = data[split]
    return questions


def score_asqa(
    gold: Split,
    predictions: Mapping[str, str],
    qa: Mapping[str, str | Sequence[str]] | None = None,
    *,
    sentences: Literal["own", "punkt"] = "own",
    subset: bool = False,
    one_reference: Literal[0, 1] | None = None,
    official_bootstrap: bool = False,
    seed: int = 0,
    punkt: str | Path | None = None,
) -> Report:
    """Score long answers to ambiguous questions.

    ``gold`` is one split (:func:`load_asqa`), ``predictions`` the long answers by key, and ``qa`` the short answers
    that a reader found in them, by ``key_index`` of the pair; without them there is no QA metric and no DR.

    ``sentences="punkt"`` splits as NLTK does, from data found in ``punkt`` or ``NLTK_DATA``, and is exact; "own" needs
    no data. ``subset`` scores only the questions that have a prediction. ``one_reference`` takes that reference alone,
    as the human and oracle rows of the paper's Table 3 do. ``official_bootstrap`` reports, as the official script does,
    the median of 1,000 bootstrap means in place of the mean of rougeLsum.

    >>> pair = {"question": "Who won in 2010?", "short_answers": ["Spain"]}
    >>> gold = {"7": {"qa_pairs": [pair], "annotations": [{"long_answer": "Spain won the Cup in 2010."}]}}
    >>> report = score_asqa(gold, {"7": "In 2010, Spain won."}, {"7_0": "the Spain"})
    >>> {name: round(report.scores[name], 1) for name in ("str_em", "rougeLsum", "QA-F1", "DR")}
    {'str_em': 100.0, 'rougeLsum': 40.0, 'QA-F1': 100.0, 'DR': 63.2}
    """
    if one_reference not in (None, 0, 1):
        raise InputError(f"one_reference is {one_reference!r}; it is 0 or 1, or None for the better of both.")
    split = _splitter(sentences, punkt)
    keys = _keys(gold, predictions, subset)
    columns: dict[str, list[float]] = {"length": [], "str_em": [], "rougeLsum": []}
    for key in keys:
        answer, pairs = predictions[key], _pairs(key, gold[key])
        columns["length"].append(len(answer.split()))
        normal = normalize_answer(answer)
        columns["str_em"].append(_mean([any_within(pair, normal) for pair in pairs]))
        ours = _prepared(answer, split)
        references = _references(key, gold[key], one_reference)
        columns["rougeLsum"].append(max(rouge_lsum(_prepared(text, split), ours).f for text in references))
    if qa is not None:
        columns |= _qa_columns(gold, qa, keys)
    arrays = {name: np.asarray(values, dtype=np.float64) for name, values in columns.items()}
    shift = _median_of_means(arrays["rougeLsum"], seed) if official_bootstrap else 0.0
    settings = {
        "rouge": "longform, equal to rouge-score 0.1.2 with stemming",
        "sentences": sentences,
        "subset": subset,
        "one_reference": one_reference,
        "official_bootstrap": official_bootstrap,
        **({"seed": seed} if official_bootstrap else {}),
    }
    return Report("asqa", keys, arrays, asqa_metrics(qa is not None, shift), settings)


def _splitter(sentences: str, punkt: str | Path | None) -> Callable[[str], list[str]]:
    """From a text to its sentences, which the caller may lower."""
    if sentences == "punkt":
        split = load_punkt(punkt).split
        # The official order: lower case first, so that Punkt sees no capitals.
        return lambda text: split(text.lower())
    if sentences == "own":
        # Our rules need the capitals. Over three systems this way differs from the official mean by 0.1, 1.2 and 0.7
        # points; splitting lower-case text, as the official order has it, by 0.1, 9.8 and 4.6.
        return split_sentences
    raise InputError(f"sentences is {sentences!r}; it is 'own' or 'punkt'.")


def _prepared(text: str, split: Callable[[str], list[str]]) -> RougeText:
    return RougeText("\n".join(split(text)), stemmer=True)


def check_predictions(gold: Split, predictions: Mapping[str, str]) -> None:
    """Raise where a prediction is not a long answer to one of the questions."""
    for key, answer in predictions.items():
        if key not in gold:
            raise InputError(
                f"Prediction {key} answers no question of the gold file: remove it, or take another split."
            )
        if not isinstance(answer, str):
            raise InputError(f"Prediction {key} is {type(answer).__name__}; it must be one string, the long answer.")


def _keys(gold: Split, predictions: Mapping[str, str], subset: bool) -> list[str]:
    """The keys to score, in the order of ``gold``."""
    if not gold:
        raise InputError("There is nothing to score: the ASQA gold file holds no questions.")
    if not predictions:
        raise InputError("There is nothing to score: there are no predictions.")
    check_predictions(gold, predictions)
    missing = [key for key in gold if key not in predictions]
    if missing and not subset:
        raise InputError(
            f"{len(missing)} of {len(gold)} questions have no prediction, {missing[0]} among them: answer them all, or "
            "score only those that have one (--subset, or subset=True)."
        )
    return [key for key in gold if key in predictions]


def _fields(item: Any, rows: str, field: str) -> list[Any]:
    """The field of every row; where there are no rows, one that is None."""
    found = item.get(rows) if isinstance(item, Mapping) else None
    kept = found if isinstance(found, list) and found else [None]
    return [row.get(field) if isinstance(row, Mapping) else None for row in kept]


def _pairs(key: str, item: Mapping[str, Any]) -> list[list[str]]:
    """The short answers of each disambiguated question."""
    pairs = _fields(item, "qa_pairs", "short_answers")
    if not all(isinstance(pair, list) and pair and all(isinstance(short, str) for short in pair) for pair in pairs):
        raise InputError(f"Question {key} has no qa_pairs, or one without short_answers: mend the gold file.")
    return pairs


def _references(key: str, item: Mapping[str, Any], one: int | None) -> list[str]:
    texts = _fields(item, "annotations", "long_answer")
    if not all(isinstance(text, str) for text in texts):
        raise InputError(f"Question {key} has no annotations, or one without a long_answer: mend the gold file.")
    if one is not None and one >= len(texts):
        raise InputError(f"Question {key} has {len(texts)} reference, so reference {one} cannot be scored: take 0.")
    return texts if one is None else [texts[one]]


def _qa_columns(gold: Split, qa: Mapping[str, str | Sequence[str]], keys: Sequence[str]) -> dict[str, list[float]]:
    wanted = [f"{key}_{place}" for key in keys for place in range(len(_pairs(key, gold[key])))]
    missing = [identifier for identifier in wanted if identifier not in qa]
    if missing:
        raise InputError(
            f"{len(missing)} of {len(wanted)} short answers are missing, {missing[0]} among them: run the reader again."
        )
    columns: dict[str, list[float]] = {"QA-EM": [], "QA-F1": [], "QA-Hit": []}
    for key in keys:
        exact, partial = [], []
        for place, shorts in enumerate(_pairs(key, gold[key])):
            guesses = _guesses(f"{key}_{place}", qa)
            exact.append(best(exact_match, guesses, shorts))
            partial.append(best(token_f1, guesses, shorts))
        columns["QA-EM"].append(_mean(exact))
        columns["QA-F1"].append(_mean(partial))
        columns["QA-Hit"].append(float(all(exact)))
    return columns


def _guesses(identifier: str, qa: Mapping[str, str | Sequence[str]]) -> Sequence[str]:
    found = qa[identifier]
    guesses = [found] if isinstance(found, str) else found
    if not isinstance(guesses, list) or not guesses or not all(isinstance(guess, str) for guess in guesses):
        raise InputError(f"Short answer {identifier} is neither a string nor a list of one or more strings.")
    return guesses


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _median_of_means(values: np.ndarray[Any, np.dtype[np.float64]], seed: int) -> float:
    """How far the median of bootstrap means lies from the mean."""
    draws = np.random.default_rng(seed).integers(len(values), size=(_BOOTSTRAPS, len(values)))
    return float(np.median(values[draws].mean(axis=1)) - values.mean())


def asqa_metrics(with_qa: bool, shift: float = 0.0) -> list[Metric]:
    """The metrics of ASQA; ``shift`` is how far the official bootstrap moves rougeLsum."""

    def rouge(means: Mapping[str, Any]) -> Any:
        return 100.0 * (np.asarray(means["rougeLsum"]) + shift)

    metrics = [
        mean_of("length", "words of the answer, by white space", _PAPER),
        mean_of("str_em", "share of readings with a short answer inside the long one", _PAPER, scale=100.0),
        Metric("rougeLsum", "ROUGE-L of a summary, F against the better reference", _PAPER, rouge),
    ]
    if with_qa:
        metrics += [
            mean_of("QA-EM", "share of readings that a reader answers exactly", _PAPER, scale=100.0),
            mean_of("QA-F1", "word overlap of the reader's answers (Disambig-F1)", _PAPER, scale=100.0),
            mean_of("QA-Hit", "share of questions with every reading exact", _PAPER, scale=100.0),
            Metric(
                "DR",
                "root of QA-F1 times rougeLsum",
                _PAPER,
                lambda means: np.sqrt(100.0 * np.asarray(means["QA-F1"]) * rouge(means)),
            ),
        ]
    return metrics
