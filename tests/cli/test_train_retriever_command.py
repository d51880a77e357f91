"""``longform train retriever``: its help, its mistakes, and a small run from the shipped encoder's own tokenizer."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]

TOPICS = ["tea", "coffee", "milk", "water", "juice", "wine", "beer", "cocoa", "soup", "broth", "cider", "mead"]


@pytest.fixture
def pairs() -> Path:
    rows = [{"question": f"who makes {topic}", "long_answer": f"{topic} is brewed there."} for topic in TOPICS]
    path = Path("qa.jsonl")
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture
def base(monkeypatch: pytest.MonkeyPatch) -> Path:
    """A random BERT with one layer and the shipped tokenizer."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    pytest.importorskip("sentence_transformers")
    pytest.importorskip("onnx")
    from longform.models.registry import find_model

    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    torch.set_num_threads(1)
    torch.manual_seed(0)
    folder = Path("tiny")
    config = transformers.BertConfig(
        vocab_size=30522,
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=64,
        initializer_range=0.2,
    )
    transformers.BertModel(config, add_pooling_layer=False).save_pretrained(folder)
    shipped = find_model("encoder", "encoder").folder / "tokenizer.json"
    (folder / "tokenizer.json").write_bytes(shipped.read_bytes())
    special = {f"{part}_token": f"[{part.upper()}]" for part in ("pad", "unk", "cls", "sep", "mask")}
    (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "PreTrainedTokenizerFast", **special}))
    return folder


def test_help_names_every_setting(longform: Run) -> None:
    result = longform("train", "retriever", "--help")
    assert result.code == 0
    for option in ("--pairs", "--base", "--batch", "--mini-batch", "--lr", "--scale", "--max-length", "--ablate-batch"):
        assert option in result.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--pairs", "none.jsonl", "--out", "o"], "none.jsonl does not exist."),
        (["--pairs", "qa.jsonl", "--out", "o", "--batch", "1"], "batch must be at least 2"),
        (["--pairs", "qa.jsonl", "--out", "o", "--ablate-batch", "8;64"], "--ablate-batch takes numbers with commas"),
        (["--pairs", "qa.jsonl", "--out", "o", "--ablate-batch", "8,8"], "Give two or more different batch sizes"),
        (["--pairs", "qa.jsonl", "--out", "qa.jsonl"], "qa.jsonl is a file: name a folder"),
        (["--pairs", "qa.jsonl", "--out", "o", "--limit", "1"], "limit must be at least 2"),
    ],
)
def test_mistakes_are_one_line(arguments: list[str], message: str, longform: Run, pairs: Path) -> None:
    result = longform("train", "retriever", *arguments)
    assert (result.code, result.out) == (2, "")
    assert message in result.err
    assert result.err.startswith("Error: ")
    assert len(result.err.strip().splitlines()) == 1


@pytest.mark.torch
def test_an_unknown_base(longform: Run, pairs: Path) -> None:
    pytest.importorskip("sentence_transformers")
    result = longform("train", "retriever", "--pairs", pairs, "--out", "o", "--base", "nothing")
    assert result.code == 2
    assert "There is no encoder nothing" in result.err


@pytest.mark.torch
def test_a_small_run(longform: Run, pairs: Path, base: Path) -> None:
    given = [
        "--pairs",
        pairs,
        "--base",
        base,
        "--validation",
        0.25,
        "--batch",
        8,
        "--mini-batch",
        4,
        "--max-length",
        16,
    ]
    result = longform("train", "retriever", *given, "--out", "mine", "--json")
    assert result.code == 0
    found = json.loads(result.out)
    assert (found["folder"], found["pairs"], found["held_out"]) == ("mine", 9, 3)
    assert "training: 2 of 2 · loss " in result.err
    assert sorted(path.name for path in Path("mine").iterdir()) == [
        "README.md",
        "config.json",
        "model.onnx",
        "tokenizer.json",
    ]
    assert "longform train retriever --pairs qa.jsonl --base tiny" in Path("mine/README.md").read_text()
    searched = longform("index", "docs", "-o", "my.index", "--encoder", "mine")
    assert searched.code == 0
    table = longform("train", "retriever", *given, "--out", "table", "--ablate-batch", "2,8")
    assert table.code == 0
    assert table.out.startswith("| batch size | steps | last loss | recall@1 | recall@5 | MRR | minutes |")
    assert table.out.endswith("Wrote table/README.md.\n")
