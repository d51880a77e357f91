"""ALCE: answers with citations to ASQA, ELI5 and QAMPARI questions (Gao et al., EMNLP 2023, section 4; ``eval.py``).

``official=True`` does what the published script does, quirks included; the default mends them. Beyond the citations
(:mod:`longform.score.citations`) the quirks are: every answer is cut at its first line break; a short answer that
normalises to nothing ("A") is found everywhere; the empty pieces of a comma-separated list are statements to be cited.
ROUGE is in both forms the plain mean, not the median of 1,000 unseeded resamples that the script prints.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from longform.errors import InputError
from longform.score.citations import Entails, Statement, judge_citations, remove_citations, statements
from longform.score.qampari import alce_measures, split_answers
from longform.score.report import Means, Metric, Report, mean_of
from longform.text import normalize_answer, split_sentences

__all__ = ["alce_rouge", "preprocess", "score_alce", "str_em"]

AlceTask = Literal["asqa", "eli5", "qampari"]
Row = Mapping[str, Any]
Rouge = Callable[[str, Sequence[str]], float]

_CITATION = "Gao et al., EMNLP 2023, section 4"
_DEFINITIONS = {
    "length": "words per answer, citations removed",
    "str_em": "share of readings with a short answer in the text",
    "str_hit": "share of questions with every reading answered",
    "rougeLsum": "ROUGE-Lsum F against the better reference",
    "claims_nli": "share of gold claims that the answer entails",
    "citation_rec": "share of sentences that their citations entail",
    "citation_prec": "share of citations that are needed",
    "num_preds": "answers listed",
    "qampari_prec": "listed answers that are right",
    "qampari_rec": "gold answers listed",
    "qampari_rec_top5": "gold answers listed, at most 5 / gold answers, at most 5",
    "qampari_f1": "harmonic mean of qampari_prec and qampari_rec",
    "qampari_f1_top5": "harmonic mean of qampari_prec and qampari_rec_top5",
}
_PLAIN = ("length", "num_preds")
# A comma that separates answers, and not the numbers of one citation.
_SEPARATOR = re.compile(r",(?![^\[\]]*\])")


def preprocess(output: str, *, official: bool = False) -> str:
    """An answer as it is scored: stripped, without ``<|im_end|>``; officially only its first line.

    >>> preprocess(" One.\\nTwo.<|im_end|> "), preprocess(" One.\\nTwo.<|im_end|> ", official=True)
    ('One.\\nTwo.', 'One.')
    """
    output = output.strip()
    if official:
        output = output.split("\n")[0]
    output = output.replace("<|im_end|>", "")
    return output if official else output.strip()


def str_em(pairs: Sequence[Sequence[str]], text: str, *, official: bool = False) -> float:
    """STR-EM of one answer: the share of readings of which any short answer is a substring, all normalised.

    >>> str_em([["Paul"], ["Ringo", "Starr"]], "It was Paul.")
    0.5
    >>> str_em([["A"]], "x"), str_em([["A"]], "x", official=True)
    (0.0, 1.0)
    """
    inside = normalize_answer(text)

    def found(answers: Sequence[str]) -> bool:
        names = map(normalize_answer, answers)
        return any(name in inside for name in names if name or official)

    return sum(map(found, pairs)) / len(pairs)


def alce_rouge(output: str, references: Sequence[str], *, official: bool = False) -> float:
    """ROUGE-Lsum F of an answer against the better reference, stemmed.

    Officially sentences are what punkt makes of the lower-cased text, which needs NLTK's data; by default they are
    those of :func:`longform.text.split_sentences`.

    >>> round(alce_rouge("It rained. It snowed.", ["It snowed.", "The sun shone."]), 3)
    0.667
    """
    from longform.score.rouge import rouge_lsum

    def lines(text: str) -> str:
        return "\n".join(_punkt(text.lower()) if official else split_sentences(text))

    ours = lines(output)
    return max(rouge_lsum(lines(reference), ours, stemmer=True).f for reference in references)


def _punkt(text: str) -> list[str]:
    from longform.text.punkt import load_punkt

    return load_punkt().split(text)


def score_alce(
    rows: Sequence[Row],
    task: AlceTask,
    *,
    official: bool = False,
    entails: Entails | None = None,
    at_most_citations: int | None = None,
    cot: bool = False,
    rouge: Rouge | bool = True,
    split: Callable[[str], Sequence[str]] | None = None,
) -> Report:
    """ALCE's measures under its own names, 0 to 100 (``length`` and ``num_preds`` are plain means).

    ``rows`` are the objects of an ALCE result file: ``output``, ``docs``, and by task ``qa_pairs`` and ``annotations``
    (asqa), ``claims`` and ``answer`` (eli5), ``answers`` and ``question`` (qampari). Claims and citations are judged
    only where ``entails`` is given. ``rouge=False`` leaves ROUGE out, a function replaces it; ``split`` replaces the
    sentence splitter, which officially is punkt and by default :func:`longform.text.split_sentences`.

    >>> row = {"id": "1", "output": "Rome [1].", "docs": [{"title": "Rome", "text": "Rome is old."}],
    ...        "question": "Which?", "answers": [["Rome", "Roma"]]}
    >>> inside = lambda pairs: ["Rome" in premise and "Rome" in claim for premise, claim in pairs]
    >>> scores = score_alce([row], "qampari", entails=inside).scores
    >>> scores["qampari_f1"], scores["citation_rec"]
    (100.0, 100.0)
    """
    if task not in ("asqa", "eli5", "qampari"):
        raise InputError(f"There is no ALCE task {task!r}: choose asqa, eli5 or qampari.")
    ids = [str(row.get("id", row.get("sample_id", place))) for place, row in enumerate(rows)]
    if len(set(ids)) < len(ids):
        twice = next(item for item, count in Counter(ids).items() if count > 1)
        raise InputError(f"Item {twice} stands twice in the results.")
    outputs = [preprocess(_field(row, "output", item), official=official) for row, item in zip(rows, ids, strict=True)]
    texts = [remove_citations(output, official=official) for output in outputs]
    measure = partial(alce_rouge, official=official) if rouge is True else rouge or None
    values: dict[str, list[float]] = {"length": [len(text.split()) for text in texts]}
    for row, item, text in zip(rows, ids, texts, strict=True):
        for name, value in _answer_measures(row, item, text, task, official, cot, measure).items():
            values.setdefault(name, []).append(value)
    if entails is not None and task == "eli5":
        values["claims_nli"] = _claims(rows, ids, texts, entails, official)
    columns = {name: np.array(column, dtype=np.float64) for name, column in values.items()}
    metrics = [_mean(name) for name in columns]
    if entails is not None:
        said = [
            _statements(row, item, output, task, official, split)
            for row, item, output in zip(rows, ids, outputs, strict=True)
        ]
        documents = [[_document(doc) for doc in row.get("docs") or ()] for row in rows]
        pairs = list(zip(said, documents, strict=True))
        counts = judge_citations(pairs, entails, official=official, at_most=at_most_citations)
        columns["citation_rec"] = np.array([count.recall for count in counts])
        columns["citation_prec"] = np.array([count.precision for count in counts])
        if official:
            # Answers without a sentence are left out of these two means, which the others keep them in.
            columns["with_sentences"] = np.array([float(count.sentences > 0) for count in counts])
        metrics += [_kept_mean(name) if official else _mean(name) for name in ("citation_rec", "citation_prec")]
    settings = {"task": task, "official": official, "cot": cot, "at_most_citations": at_most_citations}
    return Report(f"alce-{task}", ids, columns, metrics, settings)


def _mean(name: str) -> Metric:
    return mean_of(name, _DEFINITIONS[name], _CITATION, scale=1.0 if name in _PLAIN else 100.0)


def _kept_mean(name: str) -> Metric:
    def formula(means: Means) -> NDArray[np.float64]:
        kept, total = np.asarray(means["with_sentences"]), np.asarray(means[name])
        return 100.0 * np.divide(total, kept, out=np.zeros_like(total), where=kept > 0)

    return Metric(name, f"{_DEFINITIONS[name]}, over the answers with a sentence", _CITATION, formula)


def _field(row: Row, name: str, item: str) -> Any:
    if row.get(name) is None:
        raise InputError(f"Item {item} has no {name}.")
    return row[name]


def _filled(row: Row, name: str, item: str) -> Any:
    value = _field(row, name, item)
    if not value:
        raise InputError(f"Item {item}: {name} is empty.")
    return value


def _answer_measures(
    row: Row,
    item: str,
    text: str,
    task: AlceTask,
    official: bool,
    cot: bool,
    rouge: Rouge | None,
) -> dict[str, float]:
    if task == "qampari":
        return alce_measures(_filled(row, "answers", item), split_answers(text, cot=cot))
    values = {}
    if task == "asqa":
        pairs = [pair["short_answers"] for pair in _filled(row, "qa_pairs", item)]
        values["str_em"] = str_em(pairs, text, official=official)
        values["str_hit"] = float(values["str_em"] == 1)
    if rouge is not None:
        given = row.get("annotations")
        references = [note["long_answer"] for note in given] if given else [_filled(row, "answer", item)]
        values["rougeLsum"] = rouge(text, references)
    return values


def _claims(
    rows: Sequence[Row], ids: Sequence[str], texts: Sequence[str], entails: Entails, official: bool
) -> list[float]:
    claims = [_filled(row, "claims", item) for row, item in zip(rows, ids, strict=True)]
    pairs = [(text, claim) for text, group in zip(texts, claims, strict=True) for claim in group if text or official]
    verdicts = iter(entails(pairs)) if pairs else iter(())
    return [
        sum(bool(next(verdicts)) for _ in group) / len(group) if text or official else 0.0
        for text, group in zip(texts, claims, strict=True)
    ]


def _statements(
    row: Row,
    item: str,
    output: str,
    task: AlceTask,
    official: bool,
    split: Callable[[str], Sequence[str]] | None,
) -> list[Statement]:
    if task == "qampari":
        question = _field(row, "question", item)
        if official:
            return statements([f"{question} {piece}" for piece in split_answers(output)], official=True)
        said = statements(piece.strip(" .") for piece in _SEPARATOR.split(output))
        return [Statement(f"{question} {one.claim}", one.numbers) for one in said]
    return statements((split or (_punkt if official else split_sentences))(output), official=official)


def _document(doc: Row) -> str:
    return f"Title: {doc.get('title', '')}\n{doc['sent'] if 'sent' in doc else doc['text']}"
