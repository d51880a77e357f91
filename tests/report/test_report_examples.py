"""Examples: which are shown, and which of their words are marked."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longform.report import gather
from longform.report.choosing import choose_examples, item_values
from longform.report.examples import shown_examples
from longform.report.shading import shaded
from longform.score.recall import PassageText
from longform.score.silver import groundedness
from longform.text import content_tokens

words = st.text(alphabet="abc İé_1 [].,;-<&\n", max_size=60)


@given(words, st.lists(st.tuples(words, words), max_size=3))
def test_marked_words_are_those_that_groundedness_misses(text: str, found: list[tuple[str, str]]) -> None:
    passages = [PassageText(*one) for one in found]
    pieces = shaded(text, passages)
    assert "".join(piece.text for piece in pieces) == text
    kept = " ".join(piece.text if piece.kind != "citation" else " " for piece in pieces)
    held = set().union(*(content_tokens(f"{one.title} {one.text}") for one in passages))
    marked = content_tokens(" ".join(piece.text for piece in pieces if piece.kind == "ungrounded"))
    assert marked >= content_tokens(kept) - held
    assert all(piece.kind != "ungrounded" or content_tokens(piece.text) - held for piece in pieces)


def test_the_share_of_marked_words_is_the_score(made_runs: Path) -> None:
    entry = gather(made_runs).datasets[0].entry("hostile_100")
    assert entry is not None
    row = next(iter(entry.run.rows.values()))
    passages = [PassageText(one["title"], one["text"]) for one in row["passages"]]
    text = row["answers"][0]["cited"]
    marked = {piece.text.lower() for piece in shaded(text, passages) if piece.kind == "ungrounded"}
    every = content_tokens(row["answers"][0]["text"])
    assert 1 - len(marked) / len(every) == pytest.approx(groundedness(text, passages))
    assert "zanzibar" in marked and "script" not in marked


def test_nothing_is_marked_without_passages() -> None:
    assert [piece.kind for piece in shaded("Rome [1, 3].", None)] == ["plain", "citation", "plain"]
    assert shaded("Rome [1, 3].", None)[1].passages == (1, 3)
    assert [piece.kind for piece in shaded("Rome", [])] == ["ungrounded"]


def test_those_that_systems_disagree_about_come_first(made_runs: Path) -> None:
    dataset = gather(made_runs).datasets[0]
    chosen = choose_examples(dataset, "rougeLsum", 10, seed=3)
    assert list(chosen.values()) == ["the systems disagree"] * 7 + ["drawn by chance"] * 3
    values = [item_values(entry, "rougeLsum") for entry in dataset.competing]
    spread = np.std([value for value in values if value is not None], axis=0)
    ids = dataset.entries[0].report.ids
    assert list(chosen)[:7] == [ids[place] for place in np.argsort(-spread)[:7]]
    assert chosen == choose_examples(dataset, "rougeLsum", 10, seed=3)
    drawn = [list(choose_examples(dataset, "rougeLsum", 10, seed=seed))[7:] for seed in range(5)]
    assert len({tuple(one) for one in drawn}) > 1


def test_no_more_than_there_are(made_runs: Path) -> None:
    dataset = gather(made_runs).datasets[1]
    assert len(choose_examples(dataset, "f1", 100)) == 10
    assert choose_examples(dataset, "f1", 0) == {}
    assert len(choose_examples(dataset, None, 4)) == 4


def test_items_of_a_score_are_its_mean(made_runs: Path) -> None:
    for entry in gather(made_runs).datasets[0].entries:
        for name in ("rougeLsum", "str_em", "length"):
            values = item_values(entry, name)
            assert values is not None and values.mean() == pytest.approx(entry.report.scores[name])
        assert item_values(entry, "nothing") is None


def test_an_example_has_every_answer(made_runs: Path) -> None:
    dataset = gather(made_runs).datasets[0]
    (shown,) = shown_examples(dataset, "rougeLsum", ["str_em"], 1)
    systems = [answer.system for answer in shown.answers]
    assert systems.count("human") == 2, "each reference against the other"
    five = next(answer for answer in shown.answers if answer.system == "bm25@5")
    one = next(answer for answer in shown.answers if answer.system == "bm25@1")
    assert len(five.passages) == 5 and one.passages == five.passages[:1], "the same passage is shown once"
    assert [found for _, found in five.found] and ("STR-EM", "100") in five.scores
    numbers = [passage.number for passage in shown.passages]
    assert numbers == list(range(1, len(numbers) + 1))
