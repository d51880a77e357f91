"""``longform train reader``: its mistakes told in one line, and a whole run from files to a reader."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
DRINKS = ["tea", "milk", "water", "wine"]
TASTES = ["hot", "cold", "sweet", "sour"]


@pytest.fixture(autouse=True, scope="module")
def one_thread() -> Iterator[None]:
    """A second thread only waits for the first where the model is this small."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OMP_NUM_THREADS", "1")
        yield


def write_squad(path: Path, titles: int = 6) -> Path:
    rng = random.Random(2)
    articles = []
    for title in range(titles):
        drink, taste = rng.choice(DRINKS), rng.choice(TASTES)
        qas = [
            {"id": f"{path.stem}-{title}-0", "question": f"what is {taste} ?", "answers": [answer(drink)]},
            {"id": f"{path.stem}-{title}-1", "question": "what is not ?", "answers": [], "is_impossible": True},
        ]
        paragraphs = [{"context": f"{drink} is {taste} .", "qas": qas}]
        articles.append({"title": f"{path.stem} {title}", "paragraphs": paragraphs})
    path.write_text(json.dumps({"version": "v2.0", "data": articles}))
    return path


def answer(text: str) -> dict[str, Any]:
    return {"text": text, "answer_start": 0}


def write_base(folder: Path) -> Path:
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    pytest.importorskip("onnx")
    pytest.importorskip("accelerate")
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    torch.set_num_threads(1)
    torch.manual_seed(1)
    words = [*SPECIAL, *DRINKS, *TASTES, "what", "is", ".", "?", "not"]
    config = transformers.BertConfig(
        vocab_size=len(words),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=40,
        initializer_range=0.3,
    )
    transformers.BertModel(config).save_pretrained(folder)
    tokenizer = Tokenizer(models.WordLevel({word: row for row, word in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder


SMALL = ("--max-length", 32, "--stride", 4, "--question-length", 8, "--epochs", 1, "--batch", 4, "--lr", 0.001)


@pytest.mark.torch
def test_a_whole_run(longform: Run) -> None:
    base = write_base(Path("tiny"))
    first, second = write_squad(Path("first.json")), write_squad(Path("second.json"))
    ran = longform("train", "reader", "--squad", first, second, "--base", base, "--out", "r", "--fp32", *SMALL)
    assert ran.code == 0, ran.err
    assert "Trained r on 16 questions in " in ran.out and "On 4 questions about other articles" in ran.out
    assert "F1, has an answer" in ran.out
    assert "training: 4 of 4" in ran.err
    assert sorted(path.name for path in Path("r").iterdir()) == [
        "README.md",
        "config.json",
        "model.onnx",
        "tokenizer.json",
    ]
    assert "longform train reader --squad first.json second.json --base tiny" in Path("r/README.md").read_text()
    from longform.models import Reader

    assert len(Reader.load("r").read([("what is hot ?", "tea is hot .")])) == 1
    again = longform("train", "reader", "--squad", first, "--base", base, "--out", "r")
    assert (again.code, again.out) == (2, "") and "r holds a model already" in again.err


@pytest.mark.torch
def test_json_with_a_dev_file_and_fewer_layers(longform: Run) -> None:
    base = write_base(Path("tiny"))
    first, dev = write_squad(Path("first.json")), write_squad(Path("dev.json"), 4)
    options = ("--dev", dev, "--layers", "1", "--keep-training", "--fp32", "--json")
    ran = longform("train", "reader", "--squad", first, "--base", base, "--out", "r", *options, *SMALL)
    assert ran.code == 0, ran.err
    content = json.loads(ran.out)
    assert content["counts"] == {"train": 12, "extra": 0, "extra_skipped": 0, "validation": 4, "test": 4}
    low, high = content["intervals"]["f1"]
    assert low <= content["scores"]["f1"] <= high and content["agreement"] >= 0.9
    assert (Path("r") / "training").is_dir()


@pytest.mark.torch
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--squad", "none.json"), "none.json cannot be read: no such file or directory"),
        (("--squad", "first.json", "--layers", "a,b"), "--layers takes numbers with commas between them"),
        (("--squad", "first.json", "--held-out", "0.7"), "must lie between 0 and 0.5, not at 0.7"),
        (("--squad", "first.json", "--batch", "0"), "--batch must be 1 or more, not 0"),
        (("--squad", "first.json", "--base", "none"), "There is no encoder none"),
        ((), "Missing option '--squad'"),
    ],
)
def test_mistakes_are_one_line(options: tuple[str, ...], message: str, longform: Run) -> None:
    pytest.importorskip("torch")
    write_squad(Path("first.json"))
    ran = longform("train", "reader", "--out", "r", *options)
    assert (ran.code, ran.out) == (2, "")
    assert message in ran.err and "Traceback" not in ran.err
    assert not Path("r").exists()


def test_help_says_what_it_does(longform: Run) -> None:
    ran = longform("train", "reader", "--help")
    assert ran.code == 0 and "--squad FILE…" in ran.out and "no answer" in ran.out
