"""A small random BERT goes to ONNX and gives the same vectors; folders that cannot are refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from longform.errors import FailureError, InputError
from longform.models import Encoder

pytestmark = pytest.mark.torch

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
pytest.importorskip("onnx")

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "tea", "is", "a", "hot", "drink", "cold", "milk", ".", "the"]
TEXTS = ["Tea is a hot drink.", "Milk is cold.", "tea", "", "the the the the milk is a cold drink . " * 3]


def write_tokenizer(folder: Path) -> None:
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    tokenizer = Tokenizer(models.WordPiece({word: row for row, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    tokenizer.enable_truncation(5)
    tokenizer.enable_padding(length=7)
    tokenizer.save(str(folder / "tokenizer.json"))


def write_modules(folder: Path, mode: str, *, normalise: bool = True) -> None:
    kinds = {"Transformer": "", "Pooling": "1_Pooling"} | ({"Normalize": "2_Normalize"} if normalise else {})
    rows = [{"type": f"sentence_transformers.models.{kind}", "path": path} for kind, path in kinds.items()]
    (folder / "modules.json").write_text(json.dumps(rows))
    (folder / "1_Pooling").mkdir(exist_ok=True)
    (folder / "1_Pooling" / "config.json").write_text(json.dumps({f"pooling_mode_{mode}": True}))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A sentence-transformers folder around a random BERT with two layers."""
    folder = tmp_path / "tiny"
    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=1200,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=64,
        max_position_embeddings=40,
        # Larger than the default: with it the words hardly matter, and any graph would agree.
        initializer_range=0.2,
    )
    transformers.BertModel(config).save_pretrained(folder)
    write_tokenizer(folder)
    write_modules(folder, "mean_tokens")
    (folder / "sentence_bert_config.json").write_text('{"max_seq_length": 30, "do_lower_case": false}')
    return folder


def reference(folder: Path, mode: str = "mean") -> Any:
    """The vectors by the definition, one text at a time."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(30)
    model = transformers.AutoModel.from_pretrained(folder, use_safetensors=True).eval()
    rows = []
    for text in TEXTS:
        with torch.no_grad():
            tokens = model(torch.tensor([tokenizer.encode(text).ids])).last_hidden_state[0].numpy()
        rows.append(tokens[0] if mode == "cls" else tokens.mean(axis=0))
    vectors = np.stack(rows)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def test_32_bits_agree_with_torch(folder: Path, tmp_path: Path) -> None:
    from longform.train.export import export

    loaded = Encoder.load(export(folder, tmp_path / "out", int8=False))
    assert (loaded.dimension, loaded.max_length) == (32, 30)
    assert loaded.encode(TEXTS) == pytest.approx(reference(folder), abs=1e-5)
    assert loaded.encode(TEXTS, batch_tokens=200) == pytest.approx(reference(folder), abs=1e-5)


def test_8_bits_agree_with_torch_nearly(folder: Path, tmp_path: Path) -> None:
    from longform.train.export import export

    out = export(folder, tmp_path / "out")
    cosines = (Encoder.load(out).encode(TEXTS) * reference(folder)).sum(axis=1)
    assert cosines.min() > 0.99
    full = export(folder, tmp_path / "full", int8=False)
    assert (out / "model.onnx").stat().st_size < 0.75 * (full / "model.onnx").stat().st_size


def test_capping_channels_changes_nothing_in_32_bits(folder: Path) -> None:
    import onnxruntime

    from longform.models.encoder_settings import read_settings
    from longform.train import export as module
    from longform.train.quantise import cap_channels

    settings = read_settings(folder)
    model = module._sentence_model(folder, settings, torch, transformers)
    graph = module._graph(model, torch)
    tokens = module._tokenizer_json(folder, transformers)
    feeds = [module._feed(tokens, settings, text) for text in TEXTS]
    results = []
    for given in (graph, cap_channels(graph, feeds)):
        session = onnxruntime.InferenceSession(given.SerializeToString(), providers=["CPUExecutionProvider"])
        results.append(np.concatenate([session.run(None, feed)[0] for feed in feeds]))
    assert results[1] == pytest.approx(results[0], abs=1e-5)


def test_first_token_pooling(folder: Path, tmp_path: Path) -> None:
    from longform.train.export import export

    write_modules(folder, "cls_token")
    loaded = Encoder.load(export(folder, tmp_path / "out", int8=False))
    assert loaded.encode(TEXTS) == pytest.approx(reference(folder, "cls"), abs=1e-5)


def test_the_same_input_gives_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    from longform.train.export import export

    first, second = export(folder, tmp_path / "first"), export(folder, tmp_path / "second")
    for name in ("model.onnx", "tokenizer.json", "config.json"):
        assert (first / name).read_bytes() == (second / name).read_bytes()
    assert str(tmp_path).encode() not in (first / "model.onnx").read_bytes()


def test_prompts_and_length_go_along(folder: Path, tmp_path: Path) -> None:
    from longform.train.export import export

    (folder / "config_sentence_transformers.json").write_text('{"prompts": {"query": "hot "}}')
    loaded = Encoder.load(export(folder, tmp_path / "out", int8=False, max_length=4))
    assert loaded.max_length == 4
    assert np.array_equal(loaded.encode_questions(["tea"]), loaded.encode(["hot tea"]))
    assert np.array_equal(loaded.encode(["hot tea is cold"]), loaded.encode(["hot tea"]))


def test_a_folder_without_onnx_is_converted_once(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LONGFORM_HOME", str(tmp_path / "home"))
    loaded = Encoder.load(folder)
    assert loaded.encode(TEXTS) == pytest.approx(reference(folder), abs=1e-5)
    assert (loaded.name, loaded.folder.parent) == ("tiny", tmp_path / "home" / "models" / "converted")
    monkeypatch.setattr("longform.train.export.export", None)
    assert Encoder.load(folder).fingerprint == loaded.fingerprint


def test_an_edited_folder_is_converted_anew(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LONGFORM_HOME", str(tmp_path / "home"))
    before = Encoder.load(folder)
    write_modules(folder, "cls_token")
    assert Encoder.load(folder).folder != before.folder


def test_a_wrong_graph_is_refused(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from longform.train import export as module

    monkeypatch.setattr(module, "AGREEMENT", {"fp32": 1.1, "int8": 1.1})
    with pytest.raises(FailureError, match=r"int8\) disagrees with the model in torch .*: export it with --fp32"):
        module.export(folder, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_pickled_weights_are_not_opened(folder: Path, tmp_path: Path) -> None:
    from longform.train.export import export

    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with pytest.raises(InputError, match=r"only pickled weights \(pytorch_model\.bin\)"):
        export(folder, tmp_path / "out")


def test_code_in_the_folder_is_not_run(folder: Path, tmp_path: Path) -> None:
    from longform.train.export import export

    ran = tmp_path / "ran"
    (folder / "evil.py").write_text(f"open({str(ran)!r}, 'w')\nclass Evil: pass\n")
    config = json.loads((folder / "config.json").read_text())
    config |= {"model_type": "evil", "auto_map": {"AutoConfig": "evil.Evil", "AutoModel": "evil.Evil"}}
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(InputError, match="cannot be opened by transformers"):
        export(folder, tmp_path / "out")
    assert not ran.exists()


def test_unsupported_pooling_is_named(folder: Path, tmp_path: Path) -> None:
    from longform.train.export import export

    write_modules(folder, "lasttoken")
    with pytest.raises(InputError, match="pools by lasttoken: Longform pools by mean or cls"):
        export(folder, tmp_path / "out")


def test_the_command_line(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from longform.train.export import main

    assert main([str(folder), "--out", str(tmp_path / "out"), "--fp32", "--max-length", "9"]) == 0
    config = json.loads((tmp_path / "out" / "config.json").read_text())
    assert (config["precision"], config["max_length"], config["name"]) == ("fp32", 9, "tiny")
    assert main([str(tmp_path / "nothing"), "--out", str(tmp_path / "out")]) == 2
    assert "is not a folder" in capsys.readouterr().err
    for length in ("1", "41"):
        assert main([str(folder), "--out", str(tmp_path / "out"), "--max-length", length]) == 2
    assert "has 40 positions: set --max-length to 40 or less" in capsys.readouterr().err
