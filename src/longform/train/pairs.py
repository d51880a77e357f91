"""Questions with their long answers, as pairs to learn retrieval from, and how they are split.

Krishna et al., 2021, *Hurdles to Progress in Long-form Question Answering*, section 3.2: 81 % of the validation
questions of ELI5 are paraphrases of training questions, so scores on them say little. Here questions that share their
words, their long answer or a page fall on the same side of the split, and never into the same batch when they share
their words or their answer: there one's answer would count as wrong for the other.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from longform.errors import InputError
from longform.text.content import content_tokens

__all__ = ["Pair", "question_key", "read_pairs", "split_pairs", "with_titles"]


@dataclass(frozen=True, slots=True)
class Pair:
    """A question, one of its long answers, and the pages that the answer stands on."""

    question: str
    answer: str
    pages: tuple[str, ...] = ()

    @property
    def keys(self) -> tuple[str, str]:
        """What two pairs of one batch must not share: the question's words, and the answer's."""
        return f"q {question_key(self.question)}", f"a {_answer_key(self.answer)}"


def question_key(question: str) -> str:
    """A question's words in alphabetic order, without case, punctuation and stop words.

    >>> question_key("Who was the FIRST man on the Moon?")
    'first man moon was who'
    """
    return " ".join(sorted(content_tokens(question))) or question.strip().lower()


def read_pairs(paths: Sequence[str | Path], limit: int | None = None) -> tuple[list[Pair], list[int]]:
    """All pairs of question files, in their order, and how many each file gave.

    A question with two long answers gives two pairs; one without any is left out, and so is a pair that was there
    already. ``limit`` takes so many, spread evenly over the files.

    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "qa.jsonl"
    >>> _ = file.write_text('{"question": "Who sang?", "long_answers": ["Ringo sang.", "It was Ringo."]}')
    >>> [pair.answer for pair in read_pairs([file])[0]]
    ['Ringo sang.', 'It was Ringo.']
    """
    from longform.corpus.training_questions import read_training_questions

    seen: set[tuple[str, str]] = set()
    pairs: list[Pair] = []
    counts: list[int] = []
    for path in paths:
        before = len(pairs)
        for row in read_training_questions(str(path)):
            for answer in row.long_answers:
                pair = Pair(" ".join(row.question.split()), " ".join(answer.split()), row.pages)
                if pair.keys not in seen:
                    seen.add(pair.keys)
                    pairs.append(pair)
        counts.append(len(pairs) - before)
        if counts[-1] == 0:
            raise InputError(f"{path} has no question with a long answer that is not there already: leave it out.")
    if limit is not None and limit < len(pairs):
        chosen = [place * len(pairs) // limit for place in range(limit)]
        ends = [sum(counts[: number + 1]) for number in range(len(counts))]
        counts = [sum(start <= place < end for place in chosen) for start, end in zip([0, *ends], ends, strict=False)]
        pairs = [pairs[place] for place in chosen]
    if len(pairs) < 2:
        raise InputError("There is only one pair of a question and a long answer: nothing can be told apart from it.")
    return pairs, counts


def split_pairs(pairs: Sequence[Pair], share: float, seed: int) -> tuple[list[Pair], list[Pair]]:
    """Training and held-out pairs, which have no question, answer or page in common.

    About ``share`` of the pairs is held out. The same seed gives the same split whatever the order of the pairs.

    >>> train, held = split_pairs([Pair(f"What is x{n}?", f"It is x{n}.") for n in range(10)], 0.2, seed=0)
    >>> len(train), len(held)
    (8, 2)
    """
    groups = sorted(_connected(pairs), key=lambda group: min(pair.keys for pair in group))
    random.Random(seed).shuffle(groups)
    wanted = round(len(pairs) * share)
    if share and wanted == 0:
        wanted = 1
    training: list[Pair] = []
    held: list[Pair] = []
    for group in groups:
        # A group that is larger than what is still wanted would make the held-out part something else.
        target = held if len(held) + len(group) <= wanted else training
        target.extend(group)
    if len(training) < 2 or (share and not held):
        raise InputError(
            f"{len(pairs):,} pairs of which all share pages or words cannot be split: give more of them, or set the "
            "validation share to 0."
        )
    return sorted(training, key=lambda pair: pair.keys), sorted(held, key=lambda pair: pair.keys)


def with_titles(pairs: Sequence[Pair]) -> list[Pair]:
    """The pairs with the title of the page before the answer, as an index encodes passages, where there is one page.

    >>> with_titles([Pair("Who sang?", "Ringo sang.", ("Abbey Road",))])[0].answer
    'Abbey Road Ringo sang.'
    """
    return [replace(pair, answer=f"{pair.pages[0]} {pair.answer}") if len(pair.pages) == 1 else pair for pair in pairs]


def _answer_key(answer: str) -> str:
    return " ".join(answer.lower().split())


def _connected(pairs: Iterable[Pair]) -> list[list[Pair]]:
    """The pairs in groups: two that share a key or a page are in the same one, directly or through others."""
    groups: dict[int, list[Pair]] = {}
    owner: dict[str, int] = {}
    for number, pair in enumerate(pairs):
        keys = {*pair.keys, *(f"p {page.lower()}" for page in pair.pages)}
        joined = [pair]
        for other in {owner[key] for key in keys if key in owner}:
            joined += groups.pop(other)
        groups[number] = joined
        for member in joined:
            owner.update(dict.fromkeys((*member.keys, *(f"p {page.lower()}" for page in member.pages)), number))
    return list(groups.values())
