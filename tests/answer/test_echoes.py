"""What a model copies out of the prompt is no part of its answer."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longform.answer.echoes import EchoFilter


def filtered(pieces: list[str]) -> str:
    echoes = EchoFilter()
    return "".join(echoes.feed(piece) for piece in pieces) + echoes.close()


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("<passage 3>\nTitle: Rome\nIt rained.\n</passage 3>", "It rained.\n"),
        ("It <b>rained</b>, a < b.", "It <b>rained</b>, a < b."),
        ("See <Passage 1> here", "See here"),
        ("<passage 1>Title: Rome", ""),
        ("<passage 1>Titles came.", "Titles came."),
        ("<passenger 1> <passage of time, which is long>", "<passenger 1> <passage of time, which is long>"),
        ("the end <pass", "the end <pass"),
        ("<<passage 2>x", "<x"),
    ],
)
def test_echoes(written: str, expected: str) -> None:
    assert filtered([written]) == expected
    assert filtered(list(written)) == expected, "character by character"


@settings(deadline=None)
@given(st.lists(st.sampled_from(["<passage 1>", "</passage 2>", "<", "pass", "age", ">", "Title: x", "\n", "Ti", " "])))
def test_how_it_is_cut_makes_no_difference(parts: list[str]) -> None:
    assert filtered(parts) == filtered(["".join(parts)])


def test_words_do_not_wait() -> None:
    echoes = EchoFilter()
    assert [echoes.feed(piece) for piece in ("It ", "rained ", "<", "b", ">")] == ["It ", "rained ", "", "<b", ">"]
