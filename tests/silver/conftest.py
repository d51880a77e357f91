"""A small index about kings, and questions about them."""

from __future__ import annotations

from pathlib import Path

import pytest

from longform import Index, Passage
from longform.corpus import TrainingQuestion

TEXTS = {
    "a": ("France", "Charles X was king of France until August 1830."),
    "b": ("July Revolution", "Charles X abdicated. Louis Philippe then became king of the French in August 1830."),
    "c": ("Louis Philippe I", "The citizen king of France reigned from 1830."),
    "d": ("Cheese", "France makes cheese. No king made it."),
    "e": ("Tea", "A hot drink."),
}


@pytest.fixture(scope="session")
def kings(tmp_path_factory: pytest.TempPathFactory) -> Index:
    passages = [Passage(name, name, title, text, 0, len(text)) for name, (title, text) in TEXTS.items()]
    return Index.create(tmp_path_factory.mktemp("index") / "kings.index", passages)


@pytest.fixture
def asked() -> TrainingQuestion:
    return TrainingQuestion(
        "q",
        "Who was king of France in 1830?",
        ("Charles X was king until August 1830, when Louis Philippe became king of the French.",),
        (("Charles X",), ("Louis-Philippe", "Louis Philippe"), ("Henry V",)),
    )


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path
