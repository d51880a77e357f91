"""Small random readers and classifiers go to ONNX and say the same; the reader's rules, written a second time."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from longform.errors import FailureError, InputError
from longform.models import Encoder, Entailment, Reader

pytestmark = pytest.mark.torch

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
pytest.importorskip("onnx")
# Both runtimes would otherwise fight for the cores.
torch.set_num_threads(1)

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
WORDS = ["tea", "is", "a", "hot", "drink", "cold", "milk", ".", "the", "who", "##s", "##er", "un", "war", "##m"]
TEXTS = [
    "unhot tea warms the drinker .",
    "milk is cold . " * 40,
    "tea",
    "the colder the milk , the hotter the tea ." * 9,
]
PAIRS = [(question, text) for question in ("who is hot", "  milks", "") for text in TEXTS]
LABELS = {0: "neutral", 1: "contradiction", 2: "entailment"}
SIZES: dict[str, Any] = {
    "vocab_size": 1200,
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 64,
    "max_position_embeddings": 60,
    # Larger than the default: with it the words hardly matter, and any graph would agree.
    "initializer_range": 0.3,
}


def write_tokenizer(folder: Path) -> None:
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    pieces = {word: row for row, word in enumerate([*SPECIAL, *WORDS])}
    tokenizer = Tokenizer(models.WordPiece(pieces, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    tokenizer.save(str(folder / "tokenizer.json"))


def build(folder: Path, kind: str, family: str = "bert") -> Path:
    torch.manual_seed(1)
    prefix = {"bert": "Bert", "roberta": "Roberta", "distilbert": "DistilBert"}[family]
    labels = {"id2label": LABELS, "label2id": {label: place for place, label in LABELS.items()}}
    sizes = dict(SIZES, **(labels if kind == "entailment" else {}))
    if family == "roberta":
        sizes |= {"type_vocab_size": 1, "pad_token_id": 0, "max_position_embeddings": 62}
    if family == "distilbert":
        renamed = {"hidden_size": "dim", "num_hidden_layers": "n_layers", "num_attention_heads": "n_heads"}
        sizes = {renamed.get(name, name): value for name, value in sizes.items() if name != "intermediate_size"}
        sizes |= {"hidden_dim": 64}
    head = {"reader": "QuestionAnswering", "entailment": "SequenceClassification"}[kind]
    config = getattr(transformers, f"{prefix}Config")(**sizes)
    model = getattr(transformers, f"{prefix}For{head}")(config)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name.endswith("bias"):
                parameter.normal_(0, 0.3)
    model.save_pretrained(folder)
    write_tokenizer(folder)
    return folder


def tokens_of(folder: Path) -> Any:
    from tokenizers import Tokenizer

    return Tokenizer.from_file(str(folder / "tokenizer.json"))


class Plain:
    """The official rules for a reader, one window at a time, in plain Python over the torch model."""

    def __init__(self, folder: Path, length: int, stride: int, longest_question: int) -> None:
        self.tokenizer = tokens_of(folder)
        self.model = transformers.AutoModelForQuestionAnswering.from_pretrained(folder).eval()
        self.types = self.model.config.type_vocab_size > 1 if hasattr(self.model.config, "type_vocab_size") else False
        self.length, self.stride, self.longest_question = length, stride, longest_question

    def windows(self, question: str, context: str) -> list[tuple[Any, Any, list[Any]]]:
        asked = self.tokenizer.encode(question, add_special_tokens=False).ids[: self.longest_question]
        read = self.tokenizer.encode(context, add_special_tokens=False)
        room = self.length - 3 - len(asked)
        found = []
        first = 0
        while True:
            ids = read.ids[first : first + room]
            row = torch.tensor([[2, *asked, 3, *ids, 3]])
            kinds = {"token_type_ids": torch.tensor([[0] * (len(asked) + 2) + [1] * (len(ids) + 1)])}
            with torch.no_grad():
                result = self.model(row, **(kinds if self.types else {}))
            places = [None] * (len(asked) + 2) + list(range(first, first + len(ids))) + [None]
            found.append((result.start_logits[0].numpy(), result.end_logits[0].numpy(), places))
            if first + room >= len(read.ids):
                return found
            first += room - self.stride

    def asqa(self, question: str, context: str) -> str:
        offsets = self.tokenizer.encode(context, add_special_tokens=False).offsets
        candidates, nulls = [], []
        for starts, ends, places in self.windows(question.lstrip(), context):
            nulls.append(starts[0] + ends[0])
            top = [sorted(range(len(values)), key=lambda i: values[i], reverse=True)[:20] for values in (starts, ends)]
            for i in top[0]:
                for j in top[1]:
                    if places[i] is not None and places[j] is not None and 0 <= j - i < 30:
                        text = context[offsets[places[i]][0] : offsets[places[j]][1]]
                        candidates.append((starts[i] + ends[j], text))
        score, text = max(candidates, key=lambda candidate: candidate[0], default=(0.0, "empty"))
        return "" if min(nulls) > score else text

    def alce(self, question: str, context: str) -> str:
        encoding = self.tokenizer.encode(context, add_special_tokens=False)
        answers, nulls = [], []
        for starts, ends, places in self.windows(question, context):
            kept = [i for i in range(len(places)) if i == 0 or places[i] is not None]
            p, q = (np.exp(values[kept].astype(np.float64)) for values in (starts, ends))
            p, q = p / p.sum(), q / q.sum()
            nulls.append(p[0] * q[0])
            inside = range(places[kept[1]], places[kept[-1]] + 1)
            spans = [(i, j) for i in range(1, len(kept)) for j in range(i, min(i + 15, len(kept)))]
            answers += [(p[i] * q[j], places[kept[i]], places[kept[j]], inside) for i, j in spans]
        score, first, last, inside = max(answers, key=lambda answer: answer[0])
        # Whole words, as far as the window holds them.
        start = min(place for place in inside if encoding.word_ids[place] == encoding.word_ids[first])
        end = max(place for place in inside if encoding.word_ids[place] == encoding.word_ids[last])
        return "" if min(nulls) > score else context[encoding.offsets[start][0] : encoding.offsets[end][1]]


@pytest.mark.parametrize("family", ["bert", "roberta", "distilbert"])
def test_a_reader_in_32_bits_answers_as_torch_does(family: str, tmp_path: Path) -> None:
    from longform.train.export_heads import export_head

    folder = build(tmp_path / "tiny", "reader", family)
    reader = Reader.load(export_head(folder, tmp_path / "out", "reader", int8=False))
    assert (reader.max_length, reader.stride) == (60, 20)
    inputs = {found.name for found in reader._head._session.get_inputs()}
    assert ("token_type_ids" in inputs) is (family == "bert")
    plain = Plain(folder, 60, 20, 17)
    rng = random.Random(3)
    pairs = [
        *PAIRS,
        *((" ".join(rng.choices(WORDS, k=5)), " ".join(rng.choices(WORDS, k=size))) for size in range(1, 200, 19)),
    ]
    asqa, alce = reader.read(pairs), reader.read(pairs, style="alce")
    assert [answer.text for answer in asqa] == [plain.asqa(*pair) for pair in pairs]
    assert [answer.text for answer in alce] == [plain.alce(*pair) for pair in pairs]
    for answers in (asqa, alce):
        assert all(
            context[answer.start : answer.end] == answer.text
            for answer, (_, context) in zip(answers, pairs, strict=True)
        )
    assert [answer.text for answer in reader.read(pairs, batch_tokens=300)] == [answer.text for answer in asqa]


def test_both_answers_and_none_occur(tmp_path: Path) -> None:
    """The comparison above would be worth little if all answers were of one kind."""
    from longform.train.export_heads import export_head

    folder = build(tmp_path / "tiny", "reader")
    reader = Reader.load(export_head(folder, tmp_path / "out", "reader", int8=False))
    found = [answer.text for answer in reader.read([(word, text) for word in WORDS for text in TEXTS])]
    assert "" in found and len(set(found)) > 5


@pytest.mark.parametrize("family", ["bert", "roberta", "distilbert"])
@pytest.mark.parametrize("int8", [False, True])
def test_a_classifier_agrees_with_torch(family: str, int8: bool, tmp_path: Path) -> None:
    from longform.train.export_heads import export_head

    folder = build(tmp_path / "tiny", "entailment", family)
    judge = Entailment.load(export_head(folder, tmp_path / "out", "entailment", int8=int8))
    assert (judge.labels[judge.entailment], judge.max_length) == ("entailment", 60)
    tokenizer = tokens_of(folder)
    tokenizer.enable_truncation(60, strategy="only_first")
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder).eval()
    expected = []
    for text, claim in [(text, claim) for claim, text in PAIRS]:
        encoding = tokenizer.encode(text, claim)
        kinds = {"token_type_ids": torch.tensor([encoding.type_ids])} if family == "bert" else {}
        with torch.no_grad():
            expected.append(torch.softmax(model(torch.tensor([encoding.ids]), **kinds).logits[0], 0).numpy())
    found = judge.probabilities([(text, claim) for claim, text in PAIRS])
    difference = np.abs(found - np.array(expected))
    # Random weights have no margin: in 8 bits single probabilities move by up to 0.1.
    assert difference.mean() < 0.03 if int8 else difference.max() < 1e-5


def test_a_reader_in_8_bits_is_near(tmp_path: Path) -> None:
    from longform.train.export_heads import export_head

    folder = build(tmp_path / "tiny", "reader")
    small = export_head(folder, tmp_path / "small", "reader")
    full = export_head(folder, tmp_path / "full", "reader", int8=False)
    scores = [np.array([answer.null_score for answer in Reader.load(out).read(PAIRS)]) for out in (small, full)]
    assert np.abs(scores[0] - scores[1]).max() < 0.3 * max(np.abs(scores[1]).max(), 1)
    assert (small / "model.onnx").stat().st_size < 0.75 * (full / "model.onnx").stat().st_size


def test_the_same_input_gives_the_same_bytes(tmp_path: Path) -> None:
    from longform.train.export_heads import export_head

    folder = build(tmp_path / "tiny", "reader")
    first, second = (export_head(folder, tmp_path / name, "reader") for name in ("first", "second"))
    for name in ("model.onnx", "tokenizer.json", "config.json"):
        assert (first / name).read_bytes() == (second / name).read_bytes()
    assert str(tmp_path).encode() not in (first / "model.onnx").read_bytes()


def test_a_folder_without_onnx_is_converted_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LONGFORM_HOME", str(tmp_path / "home"))
    folder = build(tmp_path / "tiny", "entailment")
    loaded = Entailment.load(folder)
    assert (loaded.name, loaded.folder.parent) == ("tiny", tmp_path / "home" / "models" / "converted")
    monkeypatch.setattr("longform.train.export_heads.export_head", None)
    assert Entailment.load(folder).fingerprint == loaded.fingerprint


def test_a_head_is_no_encoder(tmp_path: Path) -> None:
    from longform.train.export_heads import export_head

    out = export_head(build(tmp_path / "tiny", "reader"), tmp_path / "out", "reader", int8=False)
    with pytest.raises(InputError, match="is not a sentence encoder"):
        Encoder.load(out)
    with pytest.raises(InputError, match="does not say what its labels mean"):
        Entailment.load(out)


def test_a_model_without_the_head_is_refused(tmp_path: Path) -> None:
    from longform.train.export_heads import export_head

    folder = build(tmp_path / "tiny", "entailment")
    with pytest.raises(InputError, match=r"is no trained model of kind reader: it has no weights qa_outputs\.bias"):
        export_head(folder, tmp_path / "out", "reader")


@pytest.mark.parametrize("kind", ["reader", "entailment"])
def test_a_wrong_graph_is_refused(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from longform.train import export_heads as module

    folder = build(tmp_path / "tiny", kind)
    monkeypatch.setattr(module, "AGREEMENT", {(kind, "fp32"): 1.1, (kind, "int8"): 1.1})
    with pytest.raises(FailureError, match=r"fp32\) disagrees .*: this kind of model cannot be exported"):
        module.export_head(folder, tmp_path / "out", kind, int8=False)
    assert not (tmp_path / "out").exists()


def test_pickled_weights_are_not_opened(tmp_path: Path) -> None:
    from longform.train.export_heads import export_head

    folder = build(tmp_path / "tiny", "reader")
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with pytest.raises(InputError, match=r"only pickled weights \(pytorch_model\.bin\)"):
        export_head(folder, tmp_path / "out", "reader")


def test_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from longform.train.export_heads import export_head, main

    folder = build(tmp_path / "tiny", "entailment")
    out = str(tmp_path / "out")
    assert main([str(folder), "--kind", "entailment", "--out", out, "--fp32", "--max-length", "20"]) == 0
    config = json.loads((tmp_path / "out" / "config.json").read_text())
    assert (config["precision"], config["max_length"], config["name"]) == ("fp32", 20, "tiny")
    assert config["id2label"] == {str(place): label for place, label in LABELS.items()}
    assert main([str(tmp_path / "nothing"), "--kind", "reader", "--out", out]) == 2
    for length in ("9", "61"):
        assert main([str(folder), "--kind", "entailment", "--out", out, "--max-length", length]) == 2
    errors = capsys.readouterr().err
    assert "is not a folder" in errors and "--max-length must be 16 or more" in errors
    assert "has 60 positions: set --max-length to 60 or less" in errors
    with pytest.raises(InputError, match="There is no kind ranker: choose reader or entailment"):
        export_head(folder, out, "ranker")
