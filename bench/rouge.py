"""ROUGE against the packages that the benchmarks use, on the same texts in the same process.

    python bench/rouge.py [--pairs 20] [--rounds 5]

rougeLsum with stemming against rouge-score, at the length of an ASQA answer (65 words), of an ELI5 answer (190) and of
a long one (500), and the subsequence alone, without stems and sentences; KILT's ROUGE-L against rouge 1.0.1 at the two
greater lengths. Both sides start from strings, so that splitting into words and stemming count for both. Texts are
drawn, with a seed, from the words of the pages in ``examples/``, each as often as it stands there, which gives them the
proportions of real English. Every value is compared. Times are of the processor; of each pair the best round counts,
with as many rounds for the one side as for the other, and the two take turns. "first" is our first pass, before any
stem is known.

Needs rouge-score and rouge==1.0.1 (the dev extra).
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import time
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

from rouge_score import rouge_scorer

from longform.score import rouge as ours
from longform.score.lcs import lcs_indices
from longform.score.rouge_kilt import rouge_l_kilt
from longform.text.porter import stem

PAGES = Path(__file__).parent.parent / "examples" / "pages"
Pairs = list[tuple[str, str]]
Score = Callable[[str, str], float]


def made(words: list[str], pairs: int, length: int, joint: str) -> Pairs:
    """Pairs of texts of ``length`` words, in sentences of 8 to 30."""
    dice = random.Random(length)

    def text() -> str:
        sentences, left = [], length
        while left > 0:
            size = min(left, dice.randint(8, 30))
            sentences.append(" ".join(dice.choices(words, k=size)))
            left -= size
        return joint.join(sentences)

    return [(text(), text()) for _ in range(pairs)]


def timed(score: Score, pairs: Pairs) -> tuple[list[float], list[float]]:
    """For every pair, the milliseconds and the value."""
    spent, values = [], []
    for reference, prediction in pairs:
        began = time.process_time()
        values.append(score(reference, prediction))
        spent.append((time.process_time() - began) * 1000)
    return spent, values


def compare(name: str, peer: Score, own: Score, pairs: Pairs, rounds: int, target: float) -> None:
    """Print one line: our time and the peer's, and how many times as fast that is."""
    first = sum(timed(own, pairs)[0]) / len(pairs)
    theirs, mine = [], []
    for _ in range(rounds):
        spent, expected = timed(peer, pairs)
        theirs.append(spent)
        spent, values = timed(own, pairs)
        mine.append(spent)
        worst = max(abs(one - other) for one, other in zip(expected, values, strict=True))
        if worst > 1e-12:
            raise SystemExit(f"{name}: the values differ by {worst}")
    slow, fast = (sum(map(min, zip(*times, strict=True))) / len(pairs) for times in (theirs, mine))
    print(
        f"{name:30} {slow:9.3f} ms {fast:8.3f} ms {slow / fast:6.0f}x (target {target:.0f}x)   "
        f"first {first:.3f} ms {slow / first:.0f}x   values equal"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=20, help="pairs of texts for each line")
    parser.add_argument("--rounds", type=int, default=5, help="rounds, of which the best counts")
    settings = parser.parse_args()
    text = " ".join(page.read_text(encoding="utf-8") for page in sorted(PAGES.glob("*.md")))
    words = re.findall(r"[\w'’-]+", text)
    print(f"{len(words)} words, {len(set(words))} different; {settings.pairs} pairs, best of {settings.rounds} rounds")
    print(f"rouge-score {version('rouge-score')}, rouge {version('rouge')}, times per pair")

    official = rouge_scorer.RougeScorer(["rougeLsum"], use_stemmer=True)
    for length, joint, target in ((65, ".\n", 30.0), (190, ".\n", 80.0), (190, ". ", 80.0), (500, ".\n", 80.0)):
        stem.cache_clear()
        ours._STEMS.clear()
        compare(
            f"rougeLsum, {length} words{', one line' * (joint == '. ')}",
            lambda reference, prediction: official.score(reference, prediction)["rougeLsum"].fmeasure,
            lambda reference, prediction: ours.rouge_lsum(reference, prediction, stemmer=True).f,
            made(words, settings.pairs, length, joint),
            settings.rounds,
            target,
        )
    for length, target in ((65, 30.0), (190, 80.0), (500, 80.0)):
        # The places are summed, so that another choice of places would show.
        compare(
            f"subsequence, {length} words",
            lambda reference, prediction: sum(rouge_scorer.lcs_ind(reference.split(), prediction.split())),
            lambda reference, prediction: sum(lcs_indices(reference.split(), prediction.split())),
            made(words, settings.pairs, length, " "),
            settings.rounds,
            target,
        )
    # This file has the package's name, and the folder of a script comes first where Python looks.
    sys.path = [place for place in sys.path if Path(place or ".").resolve() != Path(__file__).resolve().parent]
    kilt = import_module("rouge").Rouge(metrics=["rouge-l"])
    for length in (190, 500):
        compare(
            f"KILT ROUGE-L, {length} words",
            lambda reference, prediction: kilt.get_scores(prediction, reference, avg=True)["rouge-l"]["f"],
            lambda reference, prediction: rouge_l_kilt(reference, prediction).f,
            made(words, settings.pairs, length, ". "),
            settings.rounds,
            80.0,
        )


if __name__ == "__main__":
    main()
