"""``longform train generator``: its help, its mistakes told in one line, and a whole run from files to a writer."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]

DRINKS = ["tea", "coffee", "milk", "wine", "cider", "mead"]
SMALL = ("--rerank", "none", "-k", 1, "--pool", 2, "--batch", 2, "--rank", 2, "--max-length", 1800, "--looks", 1)


@pytest.fixture
def questions() -> Path:
    path = Path("qa.jsonl")
    rows = [{"id": name, "question": f"what is {name}?", "long_answer": f"{name} is a drink."} for name in DRINKS]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture
def index(longform: Run) -> Path:
    assert longform("index", "docs", "-o", "my.index").code == 0
    return Path("my.index")


@pytest.fixture
def base(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Path:
    """A random Llama of one layer that reads bytes."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    pytest.importorskip("peft")
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    torch.set_num_threads(1)
    torch.manual_seed(0)
    folder = Path("tiny")
    tokens = ["<s>", "</s>", *sorted(pre_tokenizers.ByteLevel.alphabet())]
    tokenizer = Tokenizer(models.BPE({token: row for row, token in enumerate(tokens)}, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    fast = transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>")
    fast.save_pretrained(folder)
    config = transformers.LlamaConfig(
        vocab_size=len(tokens),
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        max_position_embeddings=2000,
        bos_token_id=0,
        eos_token_id=1,
    )
    transformers.LlamaForCausalLM(config).save_pretrained(folder)
    capsys.readouterr()  # Saving draws a bar, which is not the command's.
    return folder


def test_help_names_every_setting(longform: Run) -> None:
    result = longform("train", "generator", "--help")
    assert result.code == 0
    for option in (
        "--index",
        "--questions",
        "--base",
        "--out",
        "--exclude-ids",
        "--rerank",
        "--cite / --no-cite",
        "--rank",
        "--max-length",
        "--gguf",
    ):
        assert option in result.out
    assert "generator" in longform("train", "--help").out


@pytest.mark.torch
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--questions", "none.jsonl"), "none.jsonl does not exist."),
        (("--index", "none.index"), "none.index"),
        (("--base", "nothing"), "There is no language model nothing"),
        (("--exclude-ids", "none.ids"), "none.ids does not exist."),
        (("--exclude-ids", "all.ids"), "All 6 questions of qa.jsonl are excluded: none is left."),
        (("--rerank", "nothing"), "There is no re-ranker nothing"),
        (("--batch", "3", "--mini-batch", "2"), "batch must be a multiple of mini batch"),
        (("--pool", "3", "-k", "4"), "A pool of 3 is too small to choose 4 passages from"),
        (("--max-length", "4000"), "reads 2,000 tokens at once: set --max-length to that or less"),
        (("--out", "qa.jsonl"), "qa.jsonl is a file: name a folder."),
    ],
)
def test_mistakes_are_one_line(
    options: tuple[str, ...], message: str, longform: Run, index: Path, questions: Path, base: Path
) -> None:
    Path("all.ids").write_text("\n".join(DRINKS))
    given = {"--index": index, "--questions": questions, "--base": base, "--out": "w"}
    words = [word for pair in given.items() for word in pair]
    result = longform("train", "generator", *words, *SMALL, *options)
    assert (result.code, result.out) == (2, "")
    assert message in result.err
    assert result.err.startswith("Error: ")
    assert len(result.err.strip().splitlines()) == 1
    assert not Path("w").exists()


@pytest.mark.torch
def test_a_small_run(longform: Run, index: Path, questions: Path, base: Path) -> None:
    Path("held.ids").write_text("mead\n")
    given = ("--index", index, "--questions", questions, "--base", base, "--exclude-ids", "held.ids", *SMALL)
    result = longform("train", "generator", *given, "--out", "w", "--validation", 0.4)
    assert result.code == 0, result.err
    assert "Trained on 2 answers in " in result.out
    assert "Loss of a token of 1 held-out answer: " in result.out
    assert "Wrote w: `longform ask INDEX QUESTION --model hf:w`." in result.out
    assert "training: 1 of 1" in result.err
    card = Path("w/README.md").read_text()
    assert "longform train generator --index my.index --questions qa.jsonl --base tiny" in card
    assert "The questions of a list of ids were left out" in card
    from longform.models.language.protocol import Message
    from longform.train.writer_model import WriterModel

    writer = WriterModel.load("w")
    assert isinstance("".join(writer.generate([Message("user", "what is tea?")], max_tokens=3)), str)
    again = longform("train", "generator", *given, "--out", "w")
    assert (again.code, again.out) == (2, "")
    assert "w holds a model already: choose another --out, or remove it." in again.err
    as_json = longform("train", "generator", *given, "--out", "v", "--validation", 0, "--json")
    assert as_json.code == 0, as_json.err
    found = json.loads(as_json.out)
    assert (found["folder"], found["gguf"], found["held_out"], found["before"]) == ("v", None, 0, None)
