"""The judge of entailment: labels, truncation and repeated pairs, by a graph whose verdict can be told by hand."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from longform.errors import InputError
from longform.models import Entailment, heads
from longform.score.citations import Entails, judge_citations, statements

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
IDS = {word: number for number, word in enumerate([*SPECIAL, "yes", "no", "perhaps", "the", "it", "rained"])}
LABELS = {"0": "contradiction", "1": "ENTAILMENT", "2": "neutral"}
# A text's logits are the sum of its tokens' rows.
TABLE = np.zeros((len(IDS), 3), dtype=np.float32)
TABLE[IDS["no"]], TABLE[IDS["yes"]], TABLE[IDS["perhaps"]] = np.eye(3)


class SumSession:
    """In place of an onnxruntime session: sums the rows of the tokens that the mask leaves."""

    def __init__(self, table: Any, name: str) -> None:
        self.table, self.name = table, name
        self.feeds: list[dict[str, Any]] = []

    def get_inputs(self) -> list[Any]:
        return [SimpleNamespace(name=name, type="tensor(int64)") for name in ("input_ids", "attention_mask")]

    def get_outputs(self) -> list[Any]:
        return [SimpleNamespace(name=self.name, shape=["batch", "labels"])]

    def run(self, names: list[str], feed: dict[str, Any]) -> list[Any]:
        assert names == [self.name]
        self.feeds.append(feed)
        return [(self.table[feed["input_ids"]] * feed["attention_mask"][:, :, None]).sum(axis=1)]


def write_graph(path: Path, table: Any, name: str) -> None:
    """The same as a graph."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["rows"], axis=0),
        helper.make_node("Unsqueeze", ["attention_mask", "last"], ["column"]),
        helper.make_node("Cast", ["column"], ["weight"], to=TensorProto.FLOAT),
        helper.make_node("Mul", ["rows", "weight"], ["kept"]),
        helper.make_node("ReduceSum", ["kept", "middle"], [name], keepdims=0),
    ]
    constants = [
        numpy_helper.from_array(table, "table"),
        numpy_helper.from_array(np.array([2]), "last"),
        numpy_helper.from_array(np.array([1]), "middle"),
    ]
    inputs = [
        helper.make_tensor_value_info(given, TensorProto.INT64, ["batch", "length"])
        for given in ("input_ids", "attention_mask")
    ]
    outputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["batch", "labels"])]
    graph = helper.make_graph(nodes, "sum", inputs, outputs, constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    onnx.save(model, str(path))


def write_tokenizer(folder: Path) -> None:
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    tokenizer = Tokenizer(models.WordLevel(IDS, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    tokenizer.save(str(folder / "tokenizer.json"))


@pytest.fixture(params=["numpy", "onnx"])
def make(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Makes a judge, once without and once with onnxruntime."""
    if request.param == "onnx":
        pytest.importorskip("onnx")

    def build(
        labels: Mapping[str, Any] | None = LABELS, *, name: str = "logits", length: int = 32, table: Any = TABLE
    ) -> Entailment:
        write_tokenizer(tmp_path)
        config = {"max_position_embeddings": length, "id2label": labels}
        (tmp_path / "config.json").write_text(json.dumps(config))
        if request.param == "onnx":
            write_graph(tmp_path / "model.onnx", table, name)
        else:
            (tmp_path / "model.onnx").write_bytes(b"graph")
            monkeypatch.setattr(heads, "open_session", lambda path: SumSession(table, name))
        return Entailment.load(tmp_path)

    return build


def test_the_likeliest_label_decides(make: Any) -> None:
    judge = make()
    assert (judge.labels, judge.entailment) == (("contradiction", "ENTAILMENT", "neutral"), 1)
    assert judge([("yes", "it rained"), ("no", "it rained"), ("perhaps", "it"), ("yes no no", "the")]) == [
        True,
        False,
        False,
        False,
    ]
    assert judge([]) == []


def test_probabilities_are_those_of_the_labels(make: Any) -> None:
    found = make().probabilities([("yes yes", "no"), ("the", "it")])
    expected = np.exp([1, 2, 0])
    assert found[0] == pytest.approx(expected / expected.sum())
    assert found[1] == pytest.approx([1 / 3] * 3)
    assert found.dtype == np.float32


def test_only_the_premise_is_cut(make: Any) -> None:
    judge = make()
    # 32 tokens less three special ones and two of the hypothesis leave 27.
    assert judge([("the " * 26 + "yes", "it rained"), ("the " * 27 + "yes", "it rained")]) == [True, False]
    assert judge([("the " * 500, "it yes")]) == [True]


def test_a_long_hypothesis_leaves_a_quarter_for_the_premise(make: Any) -> None:
    judge = make()
    assert judge([("it " * 7 + "yes", "the " * 500)]) == [True]
    assert judge([("it", "the " * 20 + "yes"), ("it", "the " * 21 + "yes")]) == [True, False]


def test_repeated_pairs_run_once(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    judge = make()
    ran: list[int] = []
    run = heads.Head.run

    def spy(self: Any, encodings: Any, *arguments: Any) -> Any:
        ran.append(len(encodings))
        return run(self, encodings, *arguments)

    monkeypatch.setattr(heads.Head, "run", spy)
    assert judge([("yes", "it"), ("no", "it"), ("yes", "it")]) == [True, False, True]
    assert judge([("no", "it"), ("perhaps", "it"), ("ye", "sit")]) == [False, False, False]
    assert ran == [2, 2]
    monkeypatch.setattr("longform.models.entailment.KEPT", 1)
    judge([("yes yes", "it")])
    assert len(judge._known) == 1
    assert judge([("yes yes", "it")]) == [True]
    assert ran == [2, 2, 1]


def test_order_and_batches_change_nothing(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = [("the " * length + word, "it") for length in (9, 1, 30, 4) for word in ("yes", "no no", "perhaps")]
    found = make().probabilities(pairs)
    assert np.array_equal(found, np.concatenate([make().probabilities([pair]) for pair in pairs]))
    assert np.array_equal(found, make().probabilities(pairs, batch_tokens=100))
    monkeypatch.setattr("longform.models.entailment.PAIRS", 5)
    assert np.array_equal(found, make().probabilities(pairs))


def test_progress_counts_up_to_all(make: Any) -> None:
    judge, seen = make(), []
    judge.probabilities([("yes", "it"), ("yes", "it"), ("no", "it")], progress=seen.append)
    assert sorted(seen) == seen and seen[-1] == 3
    seen.clear()
    judge.probabilities([("yes", "it")], progress=seen.append)
    assert seen == [1]


def test_any_text_is_judged(make: Any) -> None:
    judge = make()
    assert judge([("", ""), ("\ud800 yes", "it"), ("yes", "\ud800"), ("x" * 100_000, "yes")]) == [
        False,
        True,
        True,
        True,
    ]


def test_it_judges_citations(make: Any) -> None:
    judge: Entails = make()
    said = statements(["it rained [1].", "it rained [2]."])
    (counts,) = judge_citations([(said, ["yes", "no"])], judge)
    assert (counts.supported, counts.right, counts.citations) == (1, 1, 2)


@pytest.mark.parametrize("label", ["entailment", "Entails", " entailed "])
def test_names_of_entailment(make: Any, label: str) -> None:
    assert make({"0": "not_entailment", "1": label, "2": "x"}).entailment == 1


@pytest.mark.parametrize("labels", [{"0": "LABEL_0", "1": "LABEL_1", "2": "LABEL_2"}])
def test_labels_without_entailment_are_named(make: Any, labels: Mapping[str, str]) -> None:
    with pytest.raises(InputError, match="has the labels LABEL_0, LABEL_1, LABEL_2: name one of them entailment"):
        make(labels)


@pytest.mark.parametrize("labels", [None, {}, {"0": "entailment", "2": "x"}, {"a": "entailment"}, {"0": 1}])
def test_missing_labels(make: Any, labels: Any) -> None:
    with pytest.raises(InputError, match=r"config\.json does not say what its labels mean: add an id2label"):
        make(labels)


def test_more_numbers_than_labels(make: Any) -> None:
    with pytest.raises(InputError, match=r"gives 3 numbers for a pair, but its config\.json has 2 labels"):
        make({"0": "entailment", "1": "not_entailment"})


def test_an_output_of_another_name(make: Any) -> None:
    assert make(name="output_0")([("yes", "it")]) == [True]


def test_other_models_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Tokens(SumSession):
        def get_outputs(self) -> list[Any]:
            return [SimpleNamespace(name="last_hidden_state", shape=["batch", "length", 3])]

    write_tokenizer(tmp_path)
    (tmp_path / "config.json").write_text(json.dumps({"id2label": LABELS}))
    (tmp_path / "model.onnx").write_bytes(b"graph")
    monkeypatch.setattr(heads, "open_session", lambda path: Tokens(TABLE, ""))
    with pytest.raises(InputError, match="is no classifier: it gives last_hidden_state, not logits"):
        Entailment.load(tmp_path)


def test_none_is_shipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LONGFORM_HOME", str(tmp_path))
    with pytest.raises(InputError, match="There is no entailment model entailment: Longform ships none"):
        Entailment.load()
    with pytest.raises(InputError, match="encoder is of kind encoder, where a model of kind entailment is needed"):
        Entailment.load("encoder")
