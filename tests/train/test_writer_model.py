"""A transformers folder that writes: against transformers' own generation, on a small random model."""

from __future__ import annotations

from pathlib import Path

import pytest

from longform import InputError
from longform.models.language import Message, open_language_model

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
tokenizers = pytest.importorskip("tokenizers")
pytestmark = pytest.mark.torch

from longform.train.writer_model import WriterModel  # noqa: E402

TOKENS = ["<s>", "</s>", *sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())]
TEMPLATE = "{% for message in messages %}{{ message['role'] + ': ' + message['content'] + ' ' }}{% endfor %}assistant:"
ASKED = [Message("user", "Who sang?")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("writer") / "llama"
    torch.manual_seed(0)
    config = transformers.LlamaConfig(
        vocab_size=len(TOKENS),
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=2,
        num_attention_heads=4,
        max_position_embeddings=128,
        bos_token_id=0,
        eos_token_id=1,
    )
    model = transformers.LlamaForCausalLM(config)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(0, 0.3)
    model.save_pretrained(place)
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE({token: number for number, token in enumerate(TOKENS)}, []))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = tokenizers.decoders.ByteLevel()
    fast = transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>")
    fast.chat_template = TEMPLATE
    fast.save_pretrained(place)
    return place


@pytest.fixture(scope="module")
def model(folder: Path) -> WriterModel:
    found = open_language_model(f"hf:{folder}")
    assert isinstance(found, WriterModel)
    return found


def expected(model: WriterModel, length: int) -> str:
    prompt = model.causal._tokens("user: Who sang? assistant:")
    ids = model.causal._model.generate(
        torch.tensor([prompt]), attention_mask=torch.ones(1, len(prompt)), max_new_tokens=length, do_sample=False
    )[0, len(prompt) :]
    return str(model.causal._tokenizer.decode(ids, skip_special_tokens=True))


def test_greedy_writing_is_that_of_transformers(model: WriterModel) -> None:
    pieces = list(model.generate(ASKED, max_tokens=30))
    assert len(pieces) > 1
    assert "".join(pieces) == expected(model, 30)
    assert not torch.is_inference_mode_enabled()


def test_a_seed_and_a_temperature(model: WriterModel) -> None:
    def write(seed: int) -> str:
        return "".join(model.generate(ASKED, max_tokens=20, temperature=1.5, seed=seed))

    assert write(1) == write(1) != write(2)


def test_a_stop_string_is_no_part_of_the_answer(model: WriterModel) -> None:
    whole = expected(model, 30)
    mark = whole[10:13]
    assert "".join(model.generate(ASKED, max_tokens=30, stop=[mark])) == whole[: whole.index(mark)]


def test_facts(model: WriterModel, folder: Path) -> None:
    assert (model.name, model.context, model.count("abc")) == (f"hf:{folder}", 128, 3)
    assert model.log_likelihoods(["a"], ["b"])[0] < 0
    assert WriterModel.load(folder, context=40).context == 40


def test_a_prompt_that_is_too_long_and_one_that_fills_the_context(model: WriterModel) -> None:
    with pytest.raises(InputError, match=r"\(128 tokens\) is too small for this prompt of 4\d\d: give fewer"):
        list(model.generate([Message("user", "why " * 100)], max_tokens=5))
    assert len("".join(model.generate([Message("user", "x" * 100)], max_tokens=500)).encode()) <= 3 * 28
