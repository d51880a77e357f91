"""The overlap audit: which test questions stand among the training questions, in other words.

Krishna et al., 2021, *Hurdles*, section 3.2, where 81 % of ELI5's validation questions have a paraphrase in the
training set. What a system says of such a question may be memory.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from longform.audit.finding import Finding, Table, Verdict
from longform.audit.overlap_pairs import NEAREST, QuestionPair
from longform.audit.paraphrase import QUALITY, THRESHOLD
from longform.data.example import Example
from longform.text import normalize_answer

__all__ = ["CHECK", "MUCH", "SHOWN", "Overlap", "ShareOf", "audit_overlap", "wilson"]

CHECK = "Are the test questions among the training questions?"
MUCH = 0.05
"""From this share of test questions with a paraphrase on, scores are in doubt."""
FEW_TRAINING = 100
"""Fewer training questions than this are hardly all that a system has learnt from."""
SHOWN = 25
"""How many pairs of each kind a page shows."""


class ShareOf(NamedTuple):
    """How many of how many, as a share with its 95 % interval."""

    number: int
    of: int
    share: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{100 * self.share:.1f} % [{100 * self.low:.1f}, {100 * self.high:.1f}]"


def wilson(count: int, of: int) -> ShareOf:
    """A share with Wilson's 95 % interval (1927), which holds for small counts and for none.

    >>> print(wilson(0, 50), wilson(10, 50))
    0.0 % [0.0, 7.1] 20.0 % [11.2, 33.0]
    """
    z, share = 1.959964, count / of
    centre = (share + z * z / (2 * of)) / (1 + z * z / of)
    half = z / (1 + z * z / of) * math.sqrt(share * (1 - share) / of + z * z / (4 * of * of))
    return ShareOf(count, of, share, max(0.0, min(centre - half, share)), min(1.0, max(centre + half, share)))


@dataclass(frozen=True)
class Overlap:
    """Test questions, and their pairs with the nearest of ``training`` questions."""

    test: Sequence[Example]
    training: int
    pairs: Sequence[QuestionPair]

    @property
    def paraphrased(self) -> list[str]:
        """The ids of the test questions that have a paraphrase, in the order of the test."""
        return self._having({pair.test.id for pair in self.pairs if pair.paraphrase})

    @property
    def topical(self) -> list[str]:
        """The ids of the test questions that have a training question on the same topic; a paraphrase is one."""
        return self._having({pair.test.id for pair in self.pairs if pair.topic})

    @property
    def copied(self) -> list[str]:
        """The ids of the test questions that stand there word for word, case and punctuation aside."""
        return self._having({pair.test.id for pair in self.pairs if _same_words(pair)})

    @property
    def expected(self) -> float:
        """The share of test questions with a paraphrase that the probabilities lead to expect, undecided ones too.

        The mean over test questions of the largest probability of their pairs: at most what it should be.
        """
        best = dict.fromkeys((example.id for example in self.test), 0.0)
        for pair in self.pairs:
            best[pair.test.id] = max(best[pair.test.id], pair.believed)
        return sum(best.values()) / len(best)

    def _having(self, ids: set[str]) -> list[str]:
        return [example.id for example in self.test if example.id in ids]


def audit_overlap(overlap: Overlap, *, decided_by: str = "", nearest: int = NEAREST, shown: int = SHOWN) -> Finding:
    """The finding on all test questions.

    ``decided_by`` names the model that decided; without it the shipped decision did. ``shown`` is how many pairs of
    each kind the tables have.
    """
    of = len(overlap.test)
    paraphrased, topical, copied = (
        wilson(len(ids), of) for ids in (overlap.paraphrased, overlap.topical, overlap.copied)
    )
    labelled = sum(pair.label is not None for pair in overlap.pairs)
    how = "in the same or other words" if copied.number else "in other words"
    words = (
        f"{paraphrased.number:,} of {of:,} test questions ({_percent(paraphrased)}) are asked {how} among the "
        f"{overlap.training:,} training questions, {copied.number or 'none'} of them word for word, and "
        f"{topical.number:,} ({_percent(topical)}) have a training question on the same topic."
    )
    verdict = Verdict.FINE
    if paraphrased.share >= MUCH or (copied.number and copied.low >= MUCH / 5):
        verdict = Verdict.CONCERN
        words += " A system that has learnt these training answers can repeat them: report scores on the others too."
    elif overlap.training < FEW_TRAINING:
        verdict = Verdict.UNKNOWN
        words += (
            f" So few training questions tell little: at least {FEW_TRAINING} are needed; name all that the system "
            "has learnt from."
        )
    elif paraphrased.high >= MUCH:
        verdict = Verdict.UNKNOWN
        words += (
            f" It may be {100 * MUCH:.0f} % or more: about {_enough(paraphrased.share):,} test questions would tell, "
            "if the share stays as it is."
        )
    else:
        words += " So few paraphrases do not move a score by much."
    return Finding(
        CHECK,
        verdict,
        words,
        [_shares(overlap, paraphrased, topical, copied), *_pair_tables(overlap, shown)],
        {
            "test": of,
            "training": overlap.training,
            "nearest": nearest,
            "pairs": len(overlap.pairs),
            "labelled": labelled,
            "paraphrase": {**paraphrased._asdict(), "expected": overlap.expected, "ids": overlap.paraphrased},
            "topic": {**topical._asdict(), "ids": overlap.topical},
            "word_for_word": {**copied._asdict(), "ids": overlap.copied},
            "decided_by": decided_by or "signs",
        },
        _notes(decided_by, labelled, len(overlap.pairs)),
    )


def _enough(share: float) -> int:
    """Of how many test questions such a share is surely below :data:`MUCH`: Wilson's upper end, solved for n.

    >>> _enough(0.0), wilson(0, 73).high < 0.05 <= wilson(0, 72).high
    (73, True)
    """
    z = 1.959964
    return math.ceil(z * z * MUCH * (1 - MUCH) / (MUCH - share) ** 2 + 1e-9)


def _percent(share: ShareOf) -> str:
    return f"{100 * share.share:.1f} %, 95 % interval {100 * share.low:.1f} to {100 * share.high:.1f}"


def _shares(overlap: Overlap, paraphrased: ShareOf, topical: ShareOf, copied: ShareOf) -> Table:
    same, near = sum(pair.paraphrase for pair in overlap.pairs), sum(pair.topic for pair in overlap.pairs)
    pairs = max(len(overlap.pairs), 1)
    rows = [
        ("test questions with a paraphrase in training", f"{paraphrased.number:,}", str(paraphrased)),
        ("of these word for word, articles aside", f"{copied.number:,}", str(copied)),
        ("test questions with the same topic in training", f"{topical.number:,}", str(topical)),
        ("pairs that are paraphrases", f"{same:,}", f"{100 * same / pairs:.1f} %"),
        ("pairs on the same topic, not paraphrases", f"{near - same:,}", f"{100 * (near - same) / pairs:.1f} %"),
        ("pairs that are neither", f"{len(overlap.pairs) - near:,}", f"{100 * (1 - near / pairs):.1f} %"),
    ]
    note = (
        f"Of {len(overlap.test):,} test questions and {len(overlap.pairs):,} pairs with nearest training questions."
        f" Counting probabilities instead of decisions, at least {100 * overlap.expected:.1f} % of the test questions"
        " have a paraphrase."
    )
    return Table("How many", ("", "number", "share [95 % interval]"), rows, note)


def _pair_tables(overlap: Overlap, shown: int) -> list[Table]:
    """The most probable pair of every test question that has one, paraphrases and topics apart."""
    same: dict[str, QuestionPair] = {}
    near: dict[str, QuestionPair] = {}
    for pair in overlap.pairs:
        if pair.paraphrase:
            _keep_best(same, pair)
        elif pair.topic:
            _keep_best(near, pair)
    near = {identifier: pair for identifier, pair in near.items() if identifier not in same}
    tables = []
    for title, found in (("Paraphrases", same), ("The same topic, no paraphrase", near)):
        best = sorted(found.values(), key=lambda pair: -pair.believed)
        rows = [
            (
                pair.test.question,
                pair.train.question,
                f"{pair.probability:.2f}" if pair.label is None else "labelled",
                "" if pair.shares_page is None else "yes" if pair.shares_page else "no",
            )
            for pair in best[:shown]
        ]
        note = f"The {shown} most probable of {len(best):,}; `--csv` writes all." if len(best) > shown else ""
        if rows:
            columns = ("test question", "training question", "probability", "same page")
            tables.append(Table(title, columns, rows, note, sentences=True))
    return tables


def _keep_best(best: dict[str, QuestionPair], pair: QuestionPair) -> None:
    if pair.test.id not in best or pair.believed > best[pair.test.id].believed:
        best[pair.test.id] = pair


def _same_words(pair: QuestionPair) -> bool:
    return pair.label is not False and normalize_answer(pair.test.question) == normalize_answer(pair.train.question)


def _notes(decided_by: str, labelled: int, pairs: int) -> list[str]:
    if decided_by:
        decision = f"{decided_by} read both questions and decided."
    else:
        decision = (
            f"A pair is a paraphrase from a probability of {THRESHOLD} on. On {QUALITY.pairs} near pairs labelled "
            f"one by one, the decision finds {100 * QUALITY.recall:.0f} % of the paraphrases, and "
            f"{100 * QUALITY.precision:.0f} % of what it finds are some (docs/audits/overlap.md)."
        )
    people = f"People labelled {labelled:,} of {pairs:,} pairs, and their labels stand." if labelled else ""
    interval = "The intervals say how the shares would differ on other test questions; wrong decisions are not in them."
    return [note for note in (decision, people, interval) if note]
