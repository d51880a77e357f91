"""The weights that training starts from: the shipped 8 bits, folders, the hub; and what is refused."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from longform.errors import InputError
from longform.models.encoder import Encoder
from longform.models.registry import find_model

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
pytest.importorskip("onnx")
pytestmark = pytest.mark.torch

TEXTS = [
    "who wrote the first symphony for full orchestra",
    "A glacier is a large body of ice that moves under its own weight.",
    "The council voted 7 to 2 in favour of the new tram line, which will open in 2031 at the earliest.",
    "Python lists grow in place; tuples do not.",
    "when did the second world war end in the pacific",
    "Penicillin was found in 1928, when a mould had killed the bacteria of a dish left open.",
    "how long does it take light to reach the earth from the sun",
    "She painted (mostly at night) the harbour of Nice.",
    "rain",
    "Die Brücke über den Fluss wurde 1903 gebaut.",
    "The enzyme splits starch into sugar. " * 20,
    "What is the difference between weather and climate?",
]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LONGFORM_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def vectors(folder: Path) -> Any:
    """Mean-pooled, normalised vectors, one text at a time, by transformers alone."""
    model = transformers.AutoModel.from_pretrained(folder, use_safetensors=True).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    rows = []
    for text in TEXTS:
        with torch.no_grad():
            given = tokenizer(text, return_tensors="pt", truncation=True, max_length=256)
            rows.append(model(**given).last_hidden_state[0].mean(0).numpy())
    found = np.stack(rows)
    return found / np.linalg.norm(found, axis=1, keepdims=True)


def tiny(folder: Path) -> Path:
    """A random BERT with the shipped tokenizer."""
    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=30522,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=64,
        max_position_embeddings=256,
        initializer_range=0.2,
    )
    transformers.BertModel(config).save_pretrained(folder)
    shutil.copyfile(find_model("encoder", "encoder").folder / "tokenizer.json", folder / "tokenizer.json")
    return folder


def test_the_shipped_encoder_becomes_a_bert_that_agrees_with_it() -> None:
    from longform.train.base import base_folder

    folder = base_folder("encoder")
    found = vectors(folder)
    assert (found * Encoder.load("encoder").encode(TEXTS)).sum(axis=1).min() > 0.99
    # The fp32 weights that the shipped ones were made from, where the environment has them.
    source = os.environ.get("LONGFORM_ENCODER_SOURCE")
    if source:
        assert (found * vectors(Path(source))).sum(axis=1).min() > 0.99


def test_sentence_transformers_opens_the_folder_with_its_length_and_pooling() -> None:
    sentence_transformers = pytest.importorskip("sentence_transformers")
    from longform.models.encoder_settings import read_settings
    from longform.train.base import base_folder

    folder = base_folder("encoder")
    settings = read_settings(folder)
    assert (settings.max_length, settings.pooling, settings.normalise) == (256, "mean", True)
    model = sentence_transformers.SentenceTransformer(str(folder), device="cpu")
    assert model.max_seq_length == 256
    assert model.encode(TEXTS) == pytest.approx(vectors(folder), abs=1e-5)


def test_the_weights_are_made_once(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from longform.train.base import base_folder, weights_sha256

    first = base_folder("encoder")
    assert first.parent == home / "models" / "bases"
    assert [path.name for path in first.parent.iterdir()] == [first.name]
    before = weights_sha256(first)
    monkeypatch.setattr("longform.train.dequantise.bert_of", None)
    assert base_folder("encoder") == first
    monkeypatch.undo()
    assert list(before) == ["model.safetensors"]


def test_a_killed_conversion_leaves_no_folder(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from longform.train import dequantise
    from longform.train.base import base_folder

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(dequantise, "write_bert", killed)
    with pytest.raises(KeyboardInterrupt):
        base_folder("encoder")
    assert list((home / "models" / "bases").iterdir()) == []


@pytest.mark.parametrize("int8", [True, False])
def test_what_was_exported_can_be_trained_on(int8: bool, tmp_path: Path) -> None:
    from safetensors.numpy import load_file

    from longform.train.base import base_folder
    from longform.train.export import export

    source = tiny(tmp_path / "tiny")
    folder = base_folder(export(source, tmp_path / "exported", int8=int8, max_length=200))
    before, after = load_file(source / "model.safetensors"), load_file(folder / "model.safetensors")
    assert set(before) - set(after) == {"pooler.dense.weight", "pooler.dense.bias"}
    # Half a step of 7 bits, of the largest value of a column, and the factor that a capped channel can have.
    tolerance = 0.1 if int8 else 1e-6
    for name, value in after.items():
        assert value == pytest.approx(before[name], abs=tolerance), name
    config = json.loads((folder / "config.json").read_text())
    assert (config["num_attention_heads"], config["layer_norm_eps"], config["intermediate_size"]) == (4, 1e-12, 64)
    assert (vectors(folder) * vectors(source)).sum(axis=1).min() > 0.99


def test_prompts_and_pooling_go_along(tmp_path: Path) -> None:
    from longform.models.encoder_settings import read_settings
    from longform.train.base import base_folder
    from longform.train.export import export

    source = tiny(tmp_path / "tiny")
    described = {"prompts": {"query": "question: "}, "similarity_fn_name": "dot"}
    (source / "config_sentence_transformers.json").write_text(json.dumps(described))
    (source / "1_Pooling").mkdir()
    (source / "1_Pooling" / "config.json").write_text('{"pooling_mode_cls_token": true}')
    (source / "modules.json").write_text(
        '[{"path": "", "type": "a.Transformer"}, {"path": "1_Pooling", "type": "a.Pooling"}]'
    )
    settings = read_settings(base_folder(export(source, tmp_path / "exported", int8=False)))
    assert (settings.question_prompt, settings.pooling, settings.normalise) == ("question: ", "cls", False)


def test_a_folder_with_safetensors_is_taken_as_it_is(tmp_path: Path) -> None:
    from longform.train.base import base_folder

    folder = tiny(tmp_path / "tiny")
    assert base_folder(folder) == folder
    (folder / "config.json").unlink()
    with pytest.raises(InputError, match=r"has weights but no config\.json"):
        base_folder(folder)


def test_the_old_layout_of_sentence_transformers(tmp_path: Path) -> None:
    from longform.train.base import base_folder

    tiny(tmp_path / "old" / "0_Transformer")
    assert base_folder(tmp_path / "old") == tmp_path / "old" / "0_Transformer"


def test_pickled_weights_are_refused(tmp_path: Path) -> None:
    from longform.train.base import base_folder

    folder = tiny(tmp_path / "tiny")
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with pytest.raises(InputError, match=r"only pickled weights \(pytorch_model\.bin\), which Longform does not open"):
        base_folder(folder)


def test_folders_without_weights_are_named(tmp_path: Path) -> None:
    from longform.train.base import base_folder

    with pytest.raises(InputError, match=r"has no weights to train from: put a model\.safetensors in it"):
        base_folder(tmp_path)
    with pytest.raises(InputError, match="There is no encoder nothing"):
        base_folder("nothing")


def test_onnx_of_another_make_is_refused(tmp_path: Path) -> None:
    from longform.train.base import base_folder

    (tmp_path / "model.onnx").write_bytes(b"no model")
    with pytest.raises(InputError, match=r"has no tokenizer\.json"):
        base_folder(tmp_path)
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(InputError, match=r"not a readable ONNX file|is not a BERT that Longform exported"):
        base_folder(tmp_path)
    import onnx
    from onnx import helper

    onnx.save(helper.make_model(helper.make_graph([], "empty", [], [])), str(tmp_path / "model.onnx"))
    with pytest.raises(InputError, match=r"is not a BERT that Longform exported: give a folder with a model\.saf"):
        base_folder(tmp_path)


def test_the_hub_is_asked_for_safetensors_only(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    huggingface_hub = pytest.importorskip("huggingface_hub")
    from longform.train.base import base_folder

    asked: list[list[str]] = []

    def download(name: str, *, allow_patterns: list[str], local_dir: str, **_: object) -> None:
        asked.append(allow_patterns)
        if name == "someone/tiny":
            tiny(Path(local_dir))

    monkeypatch.setattr(huggingface_hub, "snapshot_download", download)
    assert base_folder("someone/tiny") == home / "models" / "bases" / "someone" / "tiny"
    assert base_folder("someone/tiny").is_dir()
    assert asked == [["*.json", "vocab.txt", "*.safetensors"]]
    with pytest.raises(InputError, match="someone/pickled has no safetensors on the hub"):
        base_folder("someone/pickled")

    def offline(*_: object, **__: object) -> None:
        raise OSError("no network")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", offline)
    with pytest.raises(InputError, match=r"the hub did not give it \(no network\): check the name"):
        base_folder("someone/else")
    assert sorted(path.name for path in (home / "models" / "bases" / "someone").iterdir()) == ["tiny"]
