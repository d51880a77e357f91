"""The cross-encoder's inputs, token by token, by a graph whose score can be told by hand; and tiny random BERTs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longform.errors import FailureError, InputError
from longform.models import CrossEncoder, cross_encoder, heads

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
WORDS = ["who", "tea", "hot", "milk", "cold", "the", ".", *(f"w{number}" for number in range(40))]
IDS = {word: number for number, word in enumerate([*SPECIAL, *WORDS])}
NAMES = ["input_ids", "attention_mask", "token_type_ids"]
OWN = {"format": "longform-reranker/1", "max_length": 24, "question_tokens": 4, "title_tokens": 3}
# A pair's score is the sum of its tokens' numbers, those of the second type ten times.
TABLE = np.zeros(len(IDS), dtype=np.float32)
TABLE[IDS["hot"]], TABLE[IDS["cold"]] = 1, -2


class Text(NamedTuple):
    title: str
    text: str


class SumSession:
    """In place of an onnxruntime session: sums the numbers of the tokens, and keeps what it was given."""

    def __init__(self, shape: tuple[int, ...] = (1,), name: str = "logits", table: Any = TABLE) -> None:
        self.shape, self.name, self.table = shape, name, table
        self.feeds: list[dict[str, Any]] = []

    def get_inputs(self) -> list[Any]:
        return [SimpleNamespace(name=name, type="tensor(int64)") for name in NAMES]

    def get_outputs(self) -> list[Any]:
        return [SimpleNamespace(name=self.name, shape=["batch", *self.shape])]

    def run(self, names: list[str], feed: dict[str, Any]) -> list[Any]:
        assert names == [self.name]
        self.feeds.append(feed)
        weights = feed["attention_mask"] * (1 + 9 * feed["token_type_ids"])
        sums = (self.table[feed["input_ids"]] * weights).sum(axis=1).astype(np.float32)
        return [np.broadcast_to(sums.reshape(-1, *([1] * len(self.shape))), (len(sums), *self.shape))]


def write_folder(folder: Path, config: Mapping[str, Any]) -> None:
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    tokenizer = Tokenizer(models.WordLevel(IDS, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    tokenizer.enable_truncation(5)
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "model.onnx").write_bytes(b"graph")


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Makes a cross-encoder over sessions by the names of their files; another or none for the early model."""

    def build(
        config: Mapping[str, Any] = OWN, session: Any = None, early: Any = None, threads: int | None = None
    ) -> tuple[CrossEncoder, SumSession]:
        write_folder(tmp_path, config)
        session = session or SumSession()
        sessions = {"model.onnx": session, "early.onnx": early}
        for module in (heads, cross_encoder):
            monkeypatch.setattr(module, "open_session", lambda path: sessions[path.name])
        model = CrossEncoder.load(tmp_path, threads)
        session.feeds.clear()
        return model, session

    return build


def given_tokens(session: SumSession) -> list[tuple[str, str]]:
    """The tokens and the types of each pair that ran, as text."""
    words = {number: word for word, number in IDS.items()}
    assert all(feed["input_ids"].shape[0] == 1 and feed["attention_mask"].all() for feed in session.feeds)
    return [
        (" ".join(words[number] for number in feed["input_ids"][0]), "".join(map(str, feed["token_type_ids"][0])))
        for feed in session.feeds
    ]


def test_the_input_is_question_title_and_text(make: Any) -> None:
    model, session = make()
    assert model.score("who hot", [Text("the tea", "cold milk .")]).tolist() == [1 - 20]
    assert given_tokens(session) == [("[CLS] who hot [SEP] the tea [SEP] cold milk . [SEP]", "0000" + "1" * 7)]


def test_question_title_and_text_are_cut(make: Any) -> None:
    model, session = make()
    text = " ".join(f"w{number}" for number in range(40))
    model.score("the " * 9, [Text("tea " * 9, text)])
    ((tokens, types),) = given_tokens(session)
    assert tokens == "[CLS] the the the the [SEP] tea tea tea [SEP] " + " ".join(text.split()[:13]) + " [SEP]"
    assert len(tokens.split()) == model.max_length == 24
    assert types == "0" * 6 + "1" * 18


def test_an_empty_title_keeps_its_place(make: Any) -> None:
    model, session = make()
    model.score("", [Text("", "tea"), Text("tea", "")])
    assert sorted(tokens for tokens, _ in given_tokens(session)) == [
        "[CLS] [SEP] [SEP] tea [SEP]",
        "[CLS] [SEP] tea [SEP] [SEP]",
    ]


def test_other_models_read_pairs(make: Any) -> None:
    for config in ({"max_position_embeddings": 24}, {**OWN, "template": "pair"}):
        model, session = make(config)
        model.score("who", [Text("hot tea", "cold milk"), Text("", "milk")])
        assert sorted(given_tokens(session)) == [
            ("[CLS] who [SEP] hot tea . cold milk [SEP]", "000" + "1" * 6),
            ("[CLS] who [SEP] milk [SEP]", "00011"),
        ]
        session.feeds.clear()
        model.score("who " * 30, [Text("", "milk " * 30)])
        assert given_tokens(session)[0][0].split().count("who") == 12
        assert len(given_tokens(session)[0][0].split()) == 24


@pytest.mark.parametrize("shape", [(), (1,)])
def test_one_number_for_a_pair(make: Any, shape: tuple[int, ...]) -> None:
    model, _ = make(session=SumSession(shape, "score"))
    found = model.score("hot", [Text("", "hot"), Text("", "tea")])
    assert (found.dtype, found.tolist()) == (np.float32, [11.0, 1.0])
    assert model.score("hot", []).shape == (0,)


@settings(deadline=None, max_examples=25)
@given(st.lists(st.lists(st.sampled_from(WORDS), max_size=30), min_size=1, max_size=12), st.integers(1, 4))
def test_neither_order_nor_threads_nor_neighbours_matter(texts: list[list[str]], threads: int) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        write_folder(Path(folder), OWN)
        patch.setattr(heads, "open_session", lambda path: SumSession())
        model = CrossEncoder.load(folder, threads)
        passages = [Text("tea", " ".join(words)) for words in texts]
        found = model.score("who is hot", passages).tolist()
        assert found[::-1] == model.score("who is hot", passages[::-1]).tolist()
        assert found == [float(model.score("who is hot", [passage])[0]) for passage in passages]
        assert model.lengths("who is hot", passages) == [min(24, 4 + 4 + min(len(words), 99)) for words in texts]


def test_a_passage_is_tokenised_once(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cross_encoder._TokenCache, "_all", {})
    encoded: list[int] = []
    bodies = CrossEncoder._bodies

    def spy(self: Any, passages: Any) -> Any:
        encoded.append(len(passages))
        return bodies(self, passages)

    monkeypatch.setattr(CrossEncoder, "_bodies", spy)
    passages = [Text("a", f"w{number}") for number in range(6)]
    model, _ = make()
    model.score("hot", [*passages[:4], passages[0]])
    model.score("tea", passages)
    again, _ = make()
    again.score("tea", passages)
    # Title and text apart are not the same as both together.
    again.score("tea", [Text("aw0", ""), Text("a", "w0")])
    assert encoded == [4, 2, 1]
    monkeypatch.setattr(cross_encoder, "KEPT", 2)
    again.score("tea", passages[:3])
    assert len(again._tokens._known) == 2
    # The oldest went.
    again.score("tea", passages[1:3])
    assert encoded == [4, 2, 1]
    again.score("tea", passages[:1])
    assert encoded == [4, 2, 1, 1]


def test_progress(make: Any) -> None:
    seen: list[int] = []
    make()[0].score("hot", [Text("", word) for word in WORDS[:5]], progress=seen.append)
    assert seen == [1, 2, 3, 4, 5]


def test_any_text_is_scored(make: Any) -> None:
    passages = [Text("\ud800 hot", "\ud800 hot"), Text("", ""), Text("x" * 9000, "x" * 100_000)]
    assert make()[0].score("\ud800", passages)[0] == 20


def test_an_early_model(make: Any) -> None:
    config = {**OWN, "cut": {"file": "early.onnx", "keep": 7}}
    early = SumSession(table=-TABLE)
    with pytest.raises(InputError, match=r"config\.json has a cut without the early model: name its ONNX file"):
        make(config, early=early)
    (Path(make()[0].folder) / "early.onnx").write_bytes(b"graph")
    model, _ = make(config, early=early)
    assert model.keep == 7
    assert model.score("tea", [Text("", "hot")], early=True).tolist() == [-10]
    assert model.score("tea", [Text("", "hot")]).tolist() == [10]
    plain, _ = make()
    assert plain.keep is None
    with pytest.raises(InputError, match=r"has no early model: its config\.json names none under cut"):
        plain.score("tea", [], early=True)
    for cut in ({"file": "../early.onnx", "keep": 7}, {"keep": 7}, "early.onnx"):
        with pytest.raises(InputError, match="has a cut without the early model"):
            make({**OWN, "cut": cut}, early=early)
    with pytest.raises(InputError, match="needs a whole number of 1 or more as keep"):
        make({**OWN, "cut": {"file": "early.onnx", "keep": 0}}, early=early)


@pytest.mark.parametrize("change", [{"question_tokens": 0}, {"question_tokens": "4"}, {"title_tokens": None}])
def test_settings_that_are_missing(make: Any, change: Mapping[str, Any]) -> None:
    with pytest.raises(InputError, match=rf"config\.json needs a whole number of . or more as {next(iter(change))}"):
        make({**OWN, **change})


def test_no_room_for_the_text(make: Any) -> None:
    with pytest.raises(InputError, match="leaves no room for the text: max_length 24 must be more than question_token"):
        make({**OWN, "question_tokens": 17})
    make({**OWN, "question_tokens": 16})


def test_other_graphs_are_refused(make: Any) -> None:
    with pytest.raises(InputError, match="is no re-ranker: it gives 3 numbers for a pair, not one"):
        make(session=SumSession((3,)))
    with pytest.raises(InputError, match="is no re-ranker: it gives last_hidden_state, not logits"):
        make(session=SumSession((1, 1), "last_hidden_state"))
    with pytest.raises(FailureError, match="gave a number that is not finite"):
        make(session=SumSession(table=TABLE + np.float32("nan")))


def test_a_tokenizer_that_takes_no_pairs(make: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tokenizers import Tokenizer, models

    write_folder(tmp_path, OWN)
    Tokenizer(models.WordLevel(IDS, unk_token="[UNK]")).save(str(tmp_path / "tokenizer.json"))
    monkeypatch.setattr(heads, "open_session", lambda path: SumSession())
    with pytest.raises(InputError, match=r"tokenizer\.json puts no tokens around a pair, where \[CLS\] and \[SEP\] go"):
        CrossEncoder.load(tmp_path)


def test_a_name_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LONGFORM_HOME", str(tmp_path))
    with pytest.raises(InputError, match=r"^There is no re-ranker nowhere: "):
        CrossEncoder.load("nowhere")
    with pytest.raises(InputError, match="encoder is of kind encoder, where a model of kind reranker is needed"):
        CrossEncoder.load("encoder")


def tiny(folder: Path, labels: int = 1) -> Path:
    """A random BERT that scores pairs, as transformers writes it."""
    torch, transformers = pytest.importorskip("torch"), pytest.importorskip("transformers")
    torch.manual_seed(3)
    config = transformers.BertConfig(
        vocab_size=len(IDS),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=64,
        max_position_embeddings=40,
        num_labels=labels,
        # Larger than the default: with it the words hardly matter, and any graph would agree.
        initializer_range=0.3,
    )
    folder.mkdir()
    write_folder(folder, {})
    (folder / "model.onnx").unlink()
    transformers.BertForSequenceClassification(config).save_pretrained(folder)
    return folder


@pytest.mark.torch
def test_a_folder_of_transformers_scores_as_torch_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    torch, transformers = pytest.importorskip("torch"), pytest.importorskip("transformers")
    pytest.importorskip("onnx")
    torch.set_num_threads(1)
    monkeypatch.setenv("LONGFORM_HOME", str(tmp_path / "home"))
    folder = tiny(tmp_path / "tiny")
    model = CrossEncoder.load(folder)
    assert model.folder.parent == tmp_path / "home" / "models" / "converted"
    passages = [Text("hot tea", "the milk . " * length) for length in (1, 4, 30)] + [Text("", "cold")]
    found = model.score("who tea", passages)
    body = transformers.BertForSequenceClassification.from_pretrained(folder).eval()
    for passage, score in zip(passages, found, strict=True):
        words = f"{passage.title}. {passage.text}" if passage.title else passage.text
        second = [IDS[word] for word in words.replace(".", " .").split()][: 40 - 5]
        ids = torch.tensor([[2, IDS["who"], IDS["tea"], 3, *second, 3]])
        with torch.no_grad():
            expected = body(ids, token_type_ids=torch.tensor([[0] * 4 + [1] * (len(second) + 1)])).logits
        assert float(score) == pytest.approx(float(expected), abs=1e-4)
    monkeypatch.setattr("longform.train.export_heads.export_head", None)
    assert CrossEncoder.load(folder).fingerprint == model.fingerprint


@pytest.mark.torch
def test_exports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("onnx")
    from longform.train import export_heads as module

    folder = tiny(tmp_path / "tiny")
    # Random weights of 32 dimensions have no margin: in 8 bits single scores move by 0.3 of the range.
    monkeypatch.setitem(module.AGREEMENT, ("reranker", "int8"), 0.6)
    small = CrossEncoder.load(module.export_head(folder, tmp_path / "small", "reranker"))
    full = CrossEncoder.load(module.export_head(folder, tmp_path / "full", "reranker", int8=False))
    assert json.loads((tmp_path / "small" / "config.json").read_text())["template"] == "pair"
    passages = [Text("tea", " ".join(WORDS[start : start + 9])) for start in range(30)]
    scores = [model.score("who hot", passages) for model in (small, full)]
    assert np.corrcoef(scores)[0, 1] > 0.95
    # The same alone and among others, on one thread and on many, even in 8 bits.
    assert [float(small.score("who hot", [passage])[0]) for passage in passages] == scores[0].tolist()
    assert CrossEncoder.load(tmp_path / "small", threads=3).score("who hot", passages).tolist() == scores[0].tolist()
    monkeypatch.setattr(module, "AGREEMENT", {("reranker", "fp32"): 1.1})
    with pytest.raises(FailureError, match=r"fp32\) disagrees"):
        module.export_head(folder, tmp_path / "out", "reranker", int8=False)
    with pytest.raises(InputError, match="is no re-ranker: it gives 2 numbers for a pair, not one"):
        module.export_head(tiny(tmp_path / "two", 2), tmp_path / "out", "reranker")
