"""Log-likelihoods of a small random model: against a plain forward pass, from a folder and from GGUF."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tiny_llama import TOKENS, byte_tokenizer, random_llama, write_gguf

from longform import Index, InputError, Passage
from longform.corpus import TrainingQuestion
from longform.silver import SilverSettings, silver_rows

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
tokenizers = pytest.importorskip("tokenizers")
pytestmark = pytest.mark.torch

from longform.train.likelihood import CausalModel, _shared  # noqa: E402


def write_llama(folder: Path) -> Any:
    model = random_llama(256, 48, norms=True)
    model.save_pretrained(folder)
    byte_tokenizer().save_pretrained(folder)
    return model


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("lm") / "llama"
    write_llama(place)
    return place


@pytest.fixture(scope="module")
def model(folder: Path) -> CausalModel:
    return CausalModel.load(folder)


def plain(model: CausalModel, before: list[int], after: list[int]) -> float:
    """One token after the other, without caches, batches and padding."""
    score = 0.0
    for place, token in enumerate(after):
        with torch.inference_mode():
            logits = model._model(input_ids=torch.tensor([before + after[:place]])).logits[0, -1].double()
        score += float(torch.log_softmax(logits, dim=-1)[token])
    return score


def ids(text: str) -> list[int]:
    return [TOKENS.index(token) for token in text.replace(" ", "Ġ")]


def test_against_a_plain_forward_pass(model: CausalModel) -> None:
    prompts = ["the king of France", "the king of all of Spain, and of more", "the kin"]
    after = [" is", " was old", ""]
    expected = [plain(model, [0, *ids(prompt)], ids(text)) for prompt, text in zip(prompts, after, strict=True)]
    assert model.log_likelihoods(prompts, after) == pytest.approx(expected, abs=1e-4)
    alone = [model.log_likelihoods([prompt], [text])[0] for prompt, text in zip(prompts, after, strict=True)]
    assert alone == pytest.approx(expected, abs=1e-4)
    assert expected[2] == 0, "nothing is certain to follow"
    assert model.log_likelihoods([], []) == []
    assert model.window == 256


def test_prompts_with_nothing_in_common(model: CausalModel) -> None:
    expected = [plain(model, [0, *ids("abc")], ids("d")), plain(model, [0], ids("d"))]
    assert model.log_likelihoods(["abc", ""], ["d", "d"]) == pytest.approx(expected, abs=1e-4)


def test_many_prompts_in_several_batches(model: CausalModel) -> None:
    prompts = [f"the same beginning, {'x' * (7 * number % 90)}" for number in range(40)]
    found = model.log_likelihoods(prompts, [" end"] * 40)
    assert found == pytest.approx([model.log_likelihoods([prompt], [" end"])[0] for prompt in prompts], abs=1e-4)


def test_long_prompts_lose_their_beginnings(model: CausalModel) -> None:
    prompts = ["a" * 300 + "bcd", "a" * 300 + "b"]
    surplus = 304 + 2 - 256
    expected = [plain(model, [0, *ids(prompt)][surplus:], ids("xy")) for prompt in prompts]
    assert model.log_likelihoods(prompts, ["xy", "xy"]) == pytest.approx(expected, abs=1e-4)
    cut = model.log_likelihoods(["a"], ["x" * 500])
    assert cut == pytest.approx([plain(model, [0, *ids("a")], ids("x" * 128))], abs=1e-3), "half of the window"


def test_shared_beginnings() -> None:
    assert _shared([[1, 2], [1, 2]]) == 1
    assert _shared([[1], [2]]) == 0


def test_unequal_lists(model: CausalModel) -> None:
    with pytest.raises(ValueError, match="1 prompts cannot have 0 continuations"):
        model.log_likelihoods(["a"], [])


def test_perplexity_over_an_index(model: CausalModel, tmp_path: Path) -> None:
    texts = ["Ringo sang the song.", "Paul sang it too.", "Ringo drummed.", "Songs are sung."]
    passages = [Passage(str(n), str(n), "Song", text, 0, len(text)) for n, text in enumerate(texts)]
    index = Index.create(tmp_path / "my.index", passages)
    question = TrainingQuestion("q", "Who sang the song?", ("Ringo sang.",), (("Ringo",),))
    settings = SilverSettings(method="perplexity", k=2)
    rows = [next(silver_rows(index, [question], settings, language_model=model)) for _ in range(2)]
    assert rows[0] == rows[1]
    assert len(rows[0].silver) == 2
    assert rows[0].silver[0].score >= rows[0].silver[1].score
    assert "finds the long answer likely" in rows[0].silver[0].why


def test_gguf(folder: Path, tmp_path: Path) -> None:
    original = write_llama(tmp_path / "again")
    path = tmp_path / "tiny.gguf"
    write_gguf(path, original)
    found = CausalModel.load(path)
    assert (found.name, found.window) == (str(path), 256)
    begun = found._begun("the king")
    expected = plain(CausalModel.load(folder), begun, ids(" sang"))
    assert found.log_likelihoods(["the king"], [" sang"]) == pytest.approx([expected], abs=1e-4)


def test_what_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "a.bin").write_text("x")
    (tmp_path / "broken.gguf").write_text("no model")
    pickled = tmp_path / "pickled"
    pickled.mkdir()
    (pickled / "pytorch_model.bin").write_text("x")
    kinds = "give a transformers folder, a GGUF file, or owner/name of the hub."
    for path, sentence in {
        tmp_path / "empty": f"{tmp_path}/empty has no *.safetensors file: get the model.safetensors of the model.",
        pickled: f"{pickled} has only pickled weights (pytorch_model.bin), which Longform does not open because they "
        "can run code: get the model.safetensors of the model.",
        tmp_path / "a.bin": f"{tmp_path}/a.bin is not a GGUF file: give one, a transformers folder, or a hub name.",
        tmp_path / "none.gguf": f"There is no language model {tmp_path}/none.gguf: {kinds}",
        Path("gpt9"): f"There is no language model gpt9: {kinds}",
    }.items():
        with pytest.raises(InputError) as caught:
            CausalModel.load(path)
        assert str(caught.value) == sentence
    with pytest.raises(InputError, match=r"^The language model .*broken.gguf cannot be loaded: "):
        CausalModel.load(tmp_path / "broken.gguf")


def test_models_that_are_no_language_models(tmp_path: Path) -> None:
    sizes = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4}
    config = transformers.BertConfig(vocab_size=len(TOKENS), max_position_embeddings=64, **sizes)
    transformers.BertModel(config).save_pretrained(tmp_path / "encoder")
    transformers.BertForMaskedLM(config).save_pretrained(tmp_path / "masked")
    for name, sentence in {
        "encoder": "is no language model: it has no weights for cls.predictions.",
        "masked": "is no causal language model: it sees the words that are to come.",
    }.items():
        byte_tokenizer().save_pretrained(tmp_path / name)
        with pytest.raises(InputError) as caught:
            CausalModel.load(tmp_path / name)
        assert f"{tmp_path / name} {sentence}" in str(caught.value)
