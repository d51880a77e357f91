"""The shipped encoder gives the vectors it should, and folders of every supported shape load."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longform.errors import InputError
from longform.models import Encoder, encoder
from longform.models.encoder_settings import EncoderSettings, read_settings

SENTENCES = [
    "A man is eating a piece of bread.",
    "Someone eats bread.",
    "The central bank raised interest rates.",
    "Borrowing money became more expensive after the rate rise.",
    "How do vaccines work?",
    "Vaccines train the immune system to recognise a pathogen.",
    "The orchestra tuned before the concert.",
]

# Cosines of all-MiniLM-L6-v2 in 32 bits, as sentence-transformers 6.2.0 gives them.
REFERENCE = {(0, 1): 0.8392, (2, 3): 0.6192, (4, 5): 0.7506, (0, 2): -0.0160, (4, 6): -0.0976}


@pytest.fixture(scope="module")
def shipped() -> Encoder:
    return Encoder.load()


def test_cosines_are_those_of_the_original(shipped: Encoder) -> None:
    vectors = shipped.encode(SENTENCES)
    found = {pair: float(vectors[pair[0]] @ vectors[pair[1]]) for pair in REFERENCE}
    assert found == pytest.approx(REFERENCE, abs=0.02)


def test_paraphrases_are_nearer_than_other_sentences(shipped: Encoder) -> None:
    vectors = shipped.encode(SENTENCES[:6])
    similar = vectors @ vectors.T - 2 * np.eye(6)
    assert similar.argmax(axis=1).tolist() == [1, 0, 3, 2, 5, 4]


def test_describes_itself(shipped: Encoder) -> None:
    assert (shipped.name, shipped.dimension, shipped.max_length) == ("encoder", 384, 256)
    assert re.fullmatch("[0-9a-f]{64}", shipped.fingerprint)


def test_no_text_gives_no_rows(shipped: Encoder) -> None:
    assert shipped.encode([]).shape == (0, 384)
    assert shipped.encode_questions([]).dtype == np.float32


def test_order_is_kept_whatever_the_lengths(shipped: Encoder) -> None:
    texts = ["word " * count for count in (50, 1, 120, 7, 3, 50)]
    together = shipped.encode(texts)
    assert all(np.array_equal(together[row], shipped.encode([text])[0]) for row, text in enumerate(texts))


def test_a_vector_does_not_depend_on_the_others(shipped: Encoder) -> None:
    assert np.array_equal(shipped.encode(SENTENCES)[3], shipped.encode(SENTENCES[3:4])[0])


def test_batches_change_little_and_keep_the_order(shipped: Encoder) -> None:
    alone, batched = shipped.encode(SENTENCES), shipped.encode(SENTENCES, batch_tokens=64)
    assert (alone * batched).sum(axis=1).min() > 0.98
    assert (alone @ batched.T).argmax(axis=1).tolist() == list(range(len(SENTENCES)))


@pytest.mark.parametrize("text", ["", " ", "\0", "a\0b", "😀👩‍🚀", "\ud800 broken", "x" * 500_000, "é" * 9, "日本語"])
def test_any_text_has_a_unit_vector(shipped: Encoder, text: str) -> None:
    assert np.linalg.norm(shipped.encode([text])[0]) == pytest.approx(1, abs=1e-5)


@settings(max_examples=20, deadline=None)
@given(st.lists(st.text(), max_size=4))
def test_any_texts_have_unit_vectors(texts: list[str]) -> None:
    vectors = Encoder.load().encode(texts)
    assert vectors.shape == (len(texts), 384)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


def test_text_beyond_the_length_is_cut(shipped: Encoder) -> None:
    long = "tea " * 400
    assert np.array_equal(shipped.encode([long])[0], shipped.encode([long + "Prices rose in May."])[0])


def test_progress_counts_up_to_all(shipped: Encoder) -> None:
    seen: list[int] = []
    shipped.encode(SENTENCES, progress=seen.append)
    assert seen == list(range(1, len(SENTENCES) + 1))


def test_windows_join_seamlessly(shipped: Encoder, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = shipped.encode(SENTENCES)
    monkeypatch.setattr(encoder, "WINDOW", 3)
    assert np.array_equal(shipped.encode(SENTENCES), whole)


def test_one_thread_gives_the_same(shipped: Encoder) -> None:
    assert np.array_equal(Encoder.load(threads=1).encode(SENTENCES), shipped.encode(SENTENCES))
    with pytest.raises(InputError, match="threads must be 1 or more"):
        Encoder.load(threads=0)


def test_one_text_instead_of_a_list_is_refused(shipped: Encoder) -> None:
    with pytest.raises(TypeError, match="a list of texts"):
        shipped.encode("tea")


def test_importing_does_not_load_the_runtime() -> None:
    code = "import sys, longform.models; sys.exit('onnxruntime' in sys.modules or 'tokenizers' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def write_tokenizer(folder: Path) -> None:
    from tokenizers import Tokenizer, models, pre_tokenizers

    words = {word: number for number, word in enumerate(["[UNK]", "tea", "is", "hot", "query:"])}
    tokenizer = Tokenizer(models.WordLevel(words, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.enable_padding(length=128)
    tokenizer.save(str(folder / "tokenizer.json"))


class OneHot:
    """In place of an onnxruntime session: a token's vector has a one at its number."""

    def __init__(self, inputs: tuple[str, ...] = ("input_ids", "attention_mask"), output: str = "last_hidden_state"):
        self.inputs, self.output = inputs, output

    def get_inputs(self) -> list[Any]:
        return [SimpleNamespace(name=name, type="tensor(int64)") for name in self.inputs]

    def get_outputs(self) -> list[Any]:
        return [SimpleNamespace(name=self.output, shape=["batch", "length", "width"])]

    def run(self, names: list[str], feed: dict[str, Any]) -> list[Any]:
        assert set(feed) == set(self.inputs)
        return [np.eye(5, dtype=np.float32)[feed["input_ids"]]]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with an ONNX file that gives tokens' vectors."""
    write_tokenizer(tmp_path)
    (tmp_path / "model.onnx").write_bytes(b"graph")
    monkeypatch.setattr(encoder, "open_session", lambda path: OneHot())
    return tmp_path


def pooled(folder: Path, mode: str, *modules: str) -> None:
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text(json.dumps({mode: True}))
    kinds = ["Transformer", "Pooling", *modules]
    paths = ["", "1_Pooling", *modules]
    rows = [
        {"type": f"sentence_transformers.models.{kind}", "path": path} for kind, path in zip(kinds, paths, strict=True)
    ]
    (folder / "modules.json").write_text(json.dumps(rows))


def test_tokens_are_averaged_and_normalised(folder: Path) -> None:
    vector = Encoder.load(folder).encode(["tea is hot"])[0]
    assert vector == pytest.approx(np.array([0, 1, 1, 1, 0]) / np.sqrt(3))


def test_padding_does_not_count_in_the_average(folder: Path) -> None:
    vectors = Encoder.load(folder).encode(["tea is hot", "tea"], batch_tokens=100)
    assert vectors[1].tolist() == [0, 1, 0, 0, 0]


def test_first_token_pooling(folder: Path) -> None:
    pooled(folder, "pooling_mode_cls_token")
    assert Encoder.load(folder).encode(["hot tea"])[0].tolist() == [0, 0, 0, 1, 0]


def test_models_for_inner_products_are_not_normalised(folder: Path) -> None:
    pooled(folder, "pooling_mode_mean_tokens")
    (folder / "config_sentence_transformers.json").write_text('{"similarity_fn_name": "dot"}')
    assert Encoder.load(folder).encode(["tea is"])[0].tolist() == [0, 0.5, 0.5, 0, 0]


def test_questions_get_their_prompt(folder: Path) -> None:
    (folder / "config_sentence_transformers.json").write_text('{"prompts": {"query": "query: "}}')
    loaded = Encoder.load(folder)
    assert loaded.encode_questions(["tea"])[0] == pytest.approx(np.array([0, 1, 0, 0, 1]) / np.sqrt(2))
    assert loaded.encode(["tea"])[0].tolist() == [0, 1, 0, 0, 0]


def test_an_empty_text_without_special_tokens(folder: Path) -> None:
    assert Encoder.load(folder).encode([""])[0].tolist() == [1, 0, 0, 0, 0]


def test_unsupported_pooling_is_named(folder: Path) -> None:
    pooled(folder, "pooling_mode_max_tokens")
    with pytest.raises(InputError, match="pools by max: Longform pools by mean or cls"):
        Encoder.load(folder)


def test_unsupported_module_is_named(folder: Path) -> None:
    pooled(folder, "pooling_mode_mean_tokens", "Dense")
    with pytest.raises(InputError, match="has a module Dense"):
        Encoder.load(folder)


def test_settings_as_version_6_writes_them(tmp_path: Path) -> None:
    pooled(tmp_path, "unused", "Normalize")
    (tmp_path / "1_Pooling" / "config.json").write_text('{"pooling_mode": "cls", "include_prompt": true}')
    (tmp_path / "sentence_bert_config.json").write_text('{"transformer_task": "feature-extraction"}')
    (tmp_path / "tokenizer_config.json").write_text('{"model_max_length": 256}')
    (tmp_path / "config.json").write_text('{"model_type": "bert", "max_position_embeddings": 512}')
    assert read_settings(tmp_path) == EncoderSettings(tmp_path.name, 256, "cls", normalise=True)


def test_settings_round_trip(tmp_path: Path) -> None:
    written = EncoderSettings("tiny", 77, "cls", False, True, "query: ", "passage: ")
    (tmp_path / "config.json").write_text(json.dumps(written.to_json()))
    assert read_settings(tmp_path) == written


def test_other_inputs_are_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoder, "open_session", lambda path: OneHot(("pixel_values",)))
    with pytest.raises(InputError, match="is not a sentence encoder: it takes pixel_values"):
        Encoder.load(folder)


def test_missing_tokenizer(folder: Path) -> None:
    (folder / "tokenizer.json").unlink()
    with pytest.raises(InputError, match=r"has no tokenizer\.json"):
        Encoder.load(folder)


def test_broken_tokenizer(folder: Path) -> None:
    (folder / "tokenizer.json").write_text("{}")
    with pytest.raises(InputError, match=r"tokenizer\.json cannot be read"):
        Encoder.load(folder)


def test_broken_settings(folder: Path) -> None:
    (folder / "config.json").write_text("{")
    with pytest.raises(InputError, match="is not readable JSON"):
        Encoder.load(folder)


def test_broken_onnx_file(tmp_path: Path) -> None:
    write_tokenizer(tmp_path)
    (tmp_path / "model.onnx").write_bytes(b"not a graph")
    with pytest.raises(InputError, match=r"model\.onnx cannot be opened by onnxruntime"):
        Encoder.load(tmp_path)


def test_folder_without_onnx_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "model.safetensors").write_bytes(b"")
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.setenv("LONGFORM_HOME", str(tmp_path / "home"))
    with pytest.raises(InputError, match=r"has no ONNX file; `pip install 'longform\[train\]'`"):
        Encoder.load(tmp_path)


def test_folder_with_pickled_weights_only(tmp_path: Path) -> None:
    (tmp_path / "pytorch_model.bin").write_bytes(b"\x80\x04.")
    with pytest.raises(InputError, match="only pickled weights, which Longform does not open"):
        Encoder.load(tmp_path)


def test_empty_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no ONNX file and no safetensors weights: put a model\.onnx"):
        Encoder.load(tmp_path)
