"""Language models to run: a tiny random one, and SmolLM2 where it was fetched."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from longform.models.fetch import FETCHABLE

# A template like most: turns between marks. Without a system message it writes one of its own.
TEMPLATE = (
    "{% for message in messages %}{{ '<|' + message['role'] + '|>' + message['content'] + '<|end|>' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}"
)
CONTEXT = 256


def write_tiny_gguf(path: Path) -> None:
    """A llama model with random weights and a token for every byte."""
    gguf = pytest.importorskip("gguf")
    # The letters that byte-level vocabularies write bytes with.
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in plain]
    alphabet = [chr(byte) for byte in plain] + [chr(256 + place) for place in range(len(others))]
    tokens = ["<s>", "<|end|>", "<|system|>", "<|user|>", "<|assistant|>", *sorted(alphabet), "qq"]
    width, heads, inner, layers = 32, 4, 48, 2
    writer = gguf.GGUFWriter(str(path), "llama")
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(width)
    writer.add_block_count(layers)
    writer.add_feed_forward_length(inner)
    writer.add_head_count(heads)
    writer.add_head_count_kv(heads)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(width // heads)
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(tokens)
    writer.add_token_types([3] * 5 + [1] * (len(tokens) - 5))
    writer.add_token_merges(["q q"])
    writer.add_bos_token_id(0)
    writer.add_eos_token_id(1)
    writer.add_chat_template(TEMPLATE)
    random = np.random.default_rng(0)
    shapes = {"token_embd": (len(tokens), width), "output": (len(tokens), width)}
    for layer in range(layers):
        shapes |= {f"blk.{layer}.attn_{name}": (width, width) for name in ("q", "k", "v", "output")}
        shapes |= {f"blk.{layer}.ffn_{name}": (inner, width) for name in ("gate", "up")}
        shapes[f"blk.{layer}.ffn_down"] = (width, inner)
    for name, shape in shapes.items():
        writer.add_tensor(f"{name}.weight", random.normal(0, 0.3, shape).astype(np.float32))
    for name in ("output_norm", *(f"blk.{layer}.{part}_norm" for layer in range(layers) for part in ("attn", "ffn"))):
        writer.add_tensor(f"{name}.weight", np.ones(width, dtype=np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


@pytest.fixture(scope="session")
def tiny_gguf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("gguf") / "tiny.gguf"
    write_tiny_gguf(path)
    return path


@pytest.fixture(scope="session")
def smollm2() -> Path:
    """SmolLM2, where `longform models get smollm2` has put it, or where LONGFORM_TEST_GGUF says."""
    path = Path(os.environ.get("LONGFORM_TEST_GGUF", FETCHABLE["smollm2"].path))
    if not path.is_file():
        pytest.skip("`longform models get smollm2` fetches the model for this test")
    return path
