"""A tiny reader learns a toy task, is written, scored and described; killed, it goes on as if it had not been."""

from __future__ import annotations

import json
import random
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longform import Document, Index
from longform.errors import FailureError, InputError
from longform.models import Reader
from longform.train.reader_check import Reading
from longform.train.reader_windows import by_length, windows_of
from longform.train.squad import Span, SquadExample

pytestmark = pytest.mark.torch

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
pytest.importorskip("onnx")
pytest.importorskip("accelerate")
torch.set_num_threads(1)

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
DRINKS = ["tea", "milk", "water", "wine"]
TASTES = ["hot", "cold", "sweet", "sour"]
WORDS = [*DRINKS, *TASTES, "what", "is", ".", "?", "##s"]


def tokenizer() -> Any:
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    pieces = {word: row for row, word in enumerate([*SPECIAL, *WORDS])}
    made = Tokenizer(models.WordPiece(pieces, unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer()
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    return made


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A BERT of two layers without a head for spans."""
    folder = tmp_path_factory.mktemp("tiny")
    torch.manual_seed(1)
    config = transformers.BertConfig(
        vocab_size=1200,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=64,
        max_position_embeddings=60,
        initializer_range=0.3,
        hidden_dropout_prob=0.05,
    )
    transformers.BertModel(config).save_pretrained(folder)
    tokenizer().save(str(folder / "tokenizer.json"))
    return folder


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ten articles whose paragraphs name a drink, which is the answer, or none; every third has none."""
    rng = random.Random(5)
    articles = []
    for title in range(10):
        paragraphs = []
        for number in range(8):
            words = rng.choices([*TASTES, "is", "."], k=6)
            drink = rng.choice(DRINKS)
            place = rng.randrange(6)
            found = []
            if number % 3:
                words[place] = drink
                found = [{"text": drink, "answer_start": len(" ".join(words[:place])) + (place > 0)}]
            qas = [{"id": f"{title}-{number}", "question": "what is it ?", "answers": found}]
            paragraphs.append({"context": " ".join(words), "qas": qas})
        articles.append({"title": f"Drinks {title}", "paragraphs": paragraphs})
    path = tmp_path_factory.mktemp("data") / "toy.json"
    path.write_text(json.dumps({"version": "v2.0", "data": articles}))
    return path


def small(**changes: Any) -> Any:
    from longform.train.reader import ReaderSettings

    settings: dict[str, Any] = {
        "epochs": 2,
        "batch": 8,
        "learning_rate": 3e-3,
        "max_length": 48,
        "stride": 4,
        "question_length": 8,
        "held_out": 0.2,
        "train_embeddings": True,
        "save_steps": 3,
    }
    return ReaderSettings(**{**settings, **changes})


def test_a_reader_is_trained_written_and_scored(tiny: Path, data: Path, tmp_path: Path) -> None:
    from longform.train.reader import train_reader

    steps: list[Any] = []
    extra = tmp_path / "extra.jsonl"
    rows = [{"question": "what is hot ?", "context": "wine is hot .", "answers": ["wine"]}] * 4
    extra.write_text("\n".join(map(json.dumps, rows)))
    asked = tmp_path / "asked.jsonl"
    asked.write_text(json.dumps({"question": "what is hot ?", "short_answers": [["wine"]]}))
    pages = [Document("1", "", "wine is hot ."), Document("2", "", "tea is not hot .")]
    asqa = tmp_path / "ASQA.json"
    pairs = [{"question": "what is sour ?", "short_answers": ["milk"]}]
    noted = {
        "ambiguous_question": "what is ?",
        "qa_pairs": pairs,
        "annotations": [{"long_answer": "milk is sour .", "knowledge": []}],
        "wikipages": [],
    }
    asqa.write_text(json.dumps({"dev": {"kept": noted, "tested": noted}}))
    out = tmp_path / "my-reader"
    result = train_reader(
        [data],
        out,
        base=tiny,
        extra=[extra],
        asked=[asked],
        index=Index.create(tmp_path / "my.index", pages),
        asqa=[asqa],
        exclude_ids={"tested"},
        settings=small(epochs=8, save_steps=99),
        int8=False,
        report=steps.append,
    )
    assert sorted(path.name for path in out.iterdir()) == ["README.md", "config.json", "model.onnx", "tokenizer.json"]
    assert result.counts == {"train": 48, "extra": 7, "extra_skipped": 0, "validation": 16, "test": 16}
    assert len(result.validation_f1) == 8 and result.agreement == result.span_agreement == 1.0
    # Never to answer is worth 37.5: three questions in eight have no answer.
    assert result.scores["f1"].value > 60 > result.before["f1"]
    training = [step for step in steps if step.stage == "training"]
    assert [step.done for step in training] == list(range(1, 57))
    assert training[-1].total == 56 and training[-1].seconds_left == 0
    assert training[-1].loss < training[10].loss
    assert {"validating", "testing", "choosing the threshold"} <= {step.stage for step in steps}

    config = json.loads((out / "config.json").read_text())
    reader = Reader.load(out)
    assert reader.null_threshold == config["null_threshold"] == result.null_threshold
    from longform.train.squad import read_squad, split_articles
    from longform.train.squad_score import score_squad

    test = split_articles(read_squad([data]), 0.2, 0).test
    answers = reader.read([(example.question, example.context) for example in test])
    again = score_squad(test, {example.id: answer.text for example, answer in zip(test, answers, strict=True)})
    assert again.scores == {name: pytest.approx(found.value) for name, found in result.scores.items()}

    card = (out / "README.md").read_text()
    from longform.files import sha256_of

    for part in (
        sha256_of(data),
        sha256_of(extra),
        sha256_of(asked),
        sha256_of(asqa),
        sha256_of(tiny / "model.safetensors"),
        "toy.json",
        "| F1 |",
    ):
        assert part in card
    assert f"{result.scores['f1'].value:.1f}" in card and f"{result.before['f1']:.1f}" in card
    assert str(tmp_path) not in card.partition("## Made by")[0]
    with pytest.raises(InputError, match="my-reader holds a model already: choose another --out"):
        train_reader([data], out, base=tiny)


SCRIPT = """
import os, signal
from longform.train.reader import ReaderSettings, train_reader
settings = ReaderSettings(
    epochs=2, batch=8, learning_rate=3e-3, max_length=48, stride=4, question_length=8, held_out=0.2,
    train_embeddings=True, save_steps=3,
)
# A shell's background jobs are started deaf to it.
signal.signal(signal.SIGINT, signal.default_int_handler)
def report(step):
    if step.stage == "training" and step.done == {stop}:
        os.kill(os.getpid(), signal.SIG{signal})
train_reader([{data!r}], {out!r}, base={base!r}, settings=settings, int8=False, report=report)
"""


def run(tiny: Path, data: Path, out: Path, stop: int, name: str) -> subprocess.CompletedProcess[bytes]:
    code = SCRIPT.format(stop=stop, signal=name, data=str(data), out=str(out), base=str(tiny))
    return subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=900, check=False)


@pytest.fixture(scope="module")
def whole(tiny: Path, data: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The run that nobody killed."""
    from longform.train.reader import train_reader

    return train_reader([data], tmp_path_factory.mktemp("whole") / "r", base=tiny, settings=small(), int8=False)


# An epoch has six steps: the kill leaves the checkpoint at its end, Ctrl-C one inside the next.
@pytest.mark.parametrize(
    ("name", "stop", "checkpoint"), [("KILL", 8, 6), pytest.param("INT", 10, 9, marks=pytest.mark.long)]
)
def test_a_stopped_run_goes_on_to_the_same_model(
    name: str, stop: int, checkpoint: int, whole: Any, tiny: Path, data: Path, tmp_path: Path
) -> None:
    from longform.train.reader import train_reader

    out = tmp_path / "r"
    stopped = run(tiny, data, out, stop, name)
    assert stopped.returncode == -signal.Signals[f"SIG{name}"]
    # Nothing but Python's own trace, of which the command line makes one word.
    assert name == "KILL" or stopped.stderr.startswith(b"Traceback")
    assert [path.name for path in (out / "training").glob("checkpoint-*")] == [f"checkpoint-{checkpoint}"]
    assert not (out / "model.onnx").exists()
    with pytest.raises(InputError, match=r"unfinished run with other settings \(epochs\)"):
        train_reader([data], out, base=tiny, settings=small(epochs=3), int8=False)
    steps: list[Any] = []
    resumed = train_reader([data], out, base=tiny, settings=small(), int8=False, report=steps.append)
    assert [step.done for step in steps if step.stage == "training"] == list(range(checkpoint + 1, 13))
    assert not any(step.stage == "reading untrained" for step in steps)
    assert (resumed.before, resumed.validation_f1) == (whole.before, whole.validation_f1)
    assert (out / "model.onnx").read_bytes() == (whole.folder / "model.onnx").read_bytes()
    assert (resumed.scores, resumed.null_threshold) == (whole.scores, whole.null_threshold)


def test_layers_and_a_still_word_table(tiny: Path, data: Path, tmp_path: Path) -> None:
    from safetensors.numpy import load_file

    from longform.train.reader import train_reader

    out = tmp_path / "out"
    settings = small(epochs=1, layers=(1,), train_embeddings=False, limit=16)
    result = train_reader([data], out, base=tiny, settings=settings, int8=False, keep=True)
    assert result.counts["train"] == 16
    (best,) = (out / "training").glob("best-*")
    before, after = load_file(tiny / "model.safetensors"), load_file(best / "model.safetensors")
    assert json.loads((best / "config.json").read_text())["num_hidden_layers"] == 1
    assert not any("layer.1." in name for name in after)
    words = "embeddings.word_embeddings.weight"
    assert (before[words] == after[f"bert.{words}"]).all()
    moved = "attention.self.query.weight"
    change = abs(before[f"encoder.layer.1.{moved}"] - after[f"bert.encoder.layer.0.{moved}"]).max()
    assert 0 < change < 0.1


def test_a_reader_that_lost_its_answers_is_not_written(
    tiny: Path, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from longform.train import reader_check
    from longform.train.reader import train_reader

    monkeypatch.setattr(reader_check, "LEAST_AGREEMENT", 1.1)
    settings = small(epochs=1)
    with pytest.raises(FailureError, match=r"to only 100\.0 % of the test questions, so .*out was not written"):
        train_reader([data], tmp_path / "out", base=tiny, settings=settings, int8=False)
    monkeypatch.undo()
    steps: list[Any] = []
    train_reader([data], tmp_path / "out", base=tiny, settings=settings, int8=False, report=steps.append)
    assert not any(step.stage == "training" for step in steps)


def test_8_bits(tiny: Path, data: Path, tmp_path: Path) -> None:
    from longform.train.reader import train_reader

    result = train_reader([data], tmp_path / "out", base=tiny, settings=small(epochs=8, save_steps=99))
    config = json.loads((tmp_path / "out" / "config.json").read_text())
    assert config["precision"] == "int8" and result.agreement >= 0.9


def test_where_silence_is_best_the_threshold_lies_below_all_odds() -> None:
    examples = [SquadExample(str(n), "", "?", "tea", (Span("tea", 0),) if n == 2 else ()) for n in range(3)]
    wrong = Reading(examples, dict.fromkeys("012", "milk"), {"0": -3.5, "1": 2.0, "2": 0.5})
    assert wrong.best().threshold < -3.5 and not any(wrong.final(wrong.best().threshold).values())
    right = Reading(examples, dict.fromkeys("012", "tea"), {"0": 3.5, "1": 2.0, "2": 0.51234567})
    assert right.best() == (100.0, 0.5124)
    assert right.final(0.5124) == {"0": "", "1": "", "2": "tea"}


@pytest.mark.parametrize("style", ["asqa", "alce"])
def test_the_threshold_of_a_folder_decides(style: Any, whole: Any, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(whole.folder, tmp_path / "r"))
    config = json.loads((folder / "config.json").read_text())
    pairs = [("what is it ?", f"{taste} is {drink} .") for taste in TASTES for drink in DRINKS]

    def answers(threshold: Any) -> list[str]:
        (folder / "config.json").write_text(json.dumps({**config, "null_threshold": threshold}))
        return [answer.text for answer in Reader.load(folder).read(pairs, style=style)]

    assert all(answers(1e9)) and not any(answers(-1e9))
    given = [sum(map(bool, answers(threshold))) for threshold in (-4, -1, 0, 1, 4)]
    assert given == sorted(given)
    for wrong in ("x", None, True, float("nan")):
        with pytest.raises(InputError, match=r"config\.json: null_threshold should be a number, not"):
            answers(wrong)


def test_held_out_texts_are_not_learnt_from_extra_files(data: Path, tmp_path: Path) -> None:
    from longform.train.reader import _data
    from longform.train.squad import read_squad, split_articles

    held = split_articles(read_squad([data]), 0.2, 0).test[0].context
    rows = [
        {"question": "what ?", "context": f" {held}\n", "answers": []},
        {"question": "what ?", "context": "other", "answers": []},
    ]
    extra = tmp_path / "extra.jsonl"
    extra.write_text("\n".join(map(json.dumps, rows)))
    _, extras = _data([data], None, [extra], small())
    assert ([example.context for example in extras.examples], extras.skipped) == (["other"], 1)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"epochs": 0}, "--epochs must be 1 or more, not 0"),
        ({"max_length": 9}, "--max-length must be 16 or more, not 9"),
        ({"limit": 0}, "--question-length and --limit must be 1 or more"),
        ({"learning_rate": 0.0}, "--lr must be more than 0"),
        ({"learning_rate": float("inf")}, "--lr must be more than 0 and at most 1, not inf"),
        ({"weight_decay": float("nan")}, "--weight-decay be at least 0 and below 1"),
        ({"warmup": 1.5}, "--warmup must lie between 0 and 1"),
        ({"max_length": 16}, "Windows of 16 tokens leave no room for text beside 8 of the question and 4 repeated"),
        ({"max_length": 61}, "has 60 positions: set --max-length to 60 or less"),
        ({"layers": (2,)}, "--layers must name layers from 0 to 1, each once and in order"),
        ({"layers": (1, 0)}, "--layers must name layers from 0 to 1"),
    ],
)
def test_settings_that_cannot_be_are_told(
    changes: dict[str, Any], message: str, tiny: Path, data: Path, tmp_path: Path
) -> None:
    from longform.train.reader import train_reader

    with pytest.raises(InputError, match=message):
        train_reader([data], tmp_path / "out", base=tiny, settings=small(**changes))
    assert not (tmp_path / "out" / "model.onnx").exists()


def test_no_files_are_told(tmp_path: Path) -> None:
    from longform.train.reader import train_reader

    with pytest.raises(InputError, match="Name at least one SQuAD file"):
        train_reader([], tmp_path / "out")


@given(st.lists(st.sampled_from(WORDS[:10]), min_size=1, max_size=60), st.data())
def test_windows_hold_the_answer_or_point_at_the_first_token(words: list[str], draw: st.DataObject) -> None:
    context = " ".join(words)
    first = draw.draw(st.integers(0, len(words) - 1))
    last = draw.draw(st.integers(first, min(first + 3, len(words) - 1)))
    start = len(" ".join(words[:first])) + (first > 0)
    answer = " ".join(words[first : last + 1])
    assert context[start : start + len(answer)] == answer
    example = SquadExample("1", "", "what is hot ? " * 9, context, (Span(answer, start),))
    made = tokenizer()
    found = windows_of([example], made, max_length=32, stride=6, question_length=8)
    pieces = {row: word for word, row in made.get_vocab().items()}
    told = []
    for window in found:
        ids, begin, end = window["input_ids"], window["start_positions"], window["end_positions"]
        assert len(ids) <= 32 and ids[9] == 3 and ids.count(3) == 2
        if begin:
            told.append([pieces[row] for row in ids[begin : end + 1]])
            assert window["token_type_ids"][begin] == window["token_type_ids"][end] == 1
        else:
            assert end == 0
    # Windows repeat six tokens, so that an answer of up to four is whole in at least one.
    assert told and all(pieces_ == words[first : last + 1] for pieces_ in told)


def test_without_an_answer_the_first_token_is_it() -> None:
    example = SquadExample("1", "", "what ?", "tea is hot .", ())
    (window,) = windows_of([example], tokenizer(), max_length=32, stride=4, question_length=8)
    assert (window["start_positions"], window["end_positions"]) == (0, 0)


def test_the_answer_that_most_people_gave_is_learnt() -> None:
    answers = (Span("tea", 0), Span("hot", 7), Span("hot", 7))
    example = SquadExample("1", "", "what ?", "tea is hot .", answers)
    (window,) = windows_of([example], tokenizer(), max_length=32, stride=4, question_length=8)
    assert window["start_positions"] == window["end_positions"] == 6


@given(st.lists(st.integers(1, 99), max_size=90), st.integers(1, 8), st.integers(0, 3), st.integers(0, 3))
def test_an_epoch_sees_every_window_once(lengths: list[int], batch: int, seed: int, epoch: int) -> None:
    order = list(by_length(lengths, batch, seed, epoch))
    assert sorted(order) == list(range(len(lengths)))
    assert order == list(by_length(lengths, batch, seed, epoch))


def test_epochs_differ_and_batches_are_of_like_length() -> None:
    lengths = list(range(64))
    orders = [list(by_length(lengths, 8, 0, epoch)) for epoch in (0, 1)]
    assert orders[0] != orders[1]
    for order in orders:
        assert all(max(order[first : first + 8]) - min(order[first : first + 8]) == 7 for first in range(0, 64, 8))
