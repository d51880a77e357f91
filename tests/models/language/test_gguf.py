"""GGUF files through llama.cpp: a tiny random model, and SmolLM2 where it is there."""

from __future__ import annotations

import signal
import threading
from pathlib import Path

import httpx
import pytest

from longform import InputError
from longform.models.language import Message
from longform.models.language.gguf import GgufModel

pytest.importorskip("xllamacpp")

ASKED = [Message("system", "Be brief."), Message("user", "Who sang?")]


@pytest.fixture(scope="module")
def model(tiny_gguf: Path) -> GgufModel:
    return GgufModel.load(tiny_gguf, threads=1)


def write(model: GgufModel, max_tokens: int = 12, **options: float) -> str:
    return "".join(model.generate(ASKED, max_tokens=max_tokens, **options))  # type: ignore[arg-type]


def test_facts(model: GgufModel) -> None:
    assert (model.name, model.context, model.threads) == ("gguf:tiny.gguf", 256, 1)
    assert (model.count(""), model.count("abc"), model.count("aqqb")) == (0, 3, 3)


def test_the_same_prompt_gives_the_same_answer(model: GgufModel) -> None:
    first = write(model)
    assert first
    write(model, temperature=2.0)
    assert write(model) == first, "whatever ran in between"
    assert write(model, temperature=2.0, seed=1) == write(model, temperature=2.0, seed=1)
    assert write(model, temperature=2.0, seed=1) != write(model, temperature=2.0, seed=2)


def test_it_comes_in_pieces_and_can_be_left_in_the_middle(model: GgufModel) -> None:
    pieces = model.generate(ASKED, max_tokens=150)
    first = next(pieces)
    pieces.close()  # type: ignore[attr-defined]
    assert write(model, 150).startswith(first)


def test_a_prompt_that_is_too_long(model: GgufModel) -> None:
    with pytest.raises(InputError, match=r"The context of gguf:tiny\.gguf \(256 tokens\) is too small for this prompt"):
        list(model.generate([Message("user", "why " * 300)], max_tokens=5))


def test_nobody_else_is_answered(model: GgufModel) -> None:
    url = model._server.listening_address
    assert url.startswith("http://127.0.0.1:")
    for path in ("/tokenize", "/v1/chat/completions"):
        assert httpx.post(f"{url}{path}", json={"content": "x", "messages": []}, trust_env=False).status_code == 401


def test_ctrl_c_stays_ours(tiny_gguf: Path, model: GgufModel) -> None:
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
    worker = threading.Thread(target=GgufModel.load, args=(tiny_gguf,), kwargs={"threads": 1})
    worker.start()
    worker.join()
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
    assert write(model), "and the model still answers"


def test_a_file_that_breaks_off(tiny_gguf: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(tiny_gguf.read_bytes()[:3000])
    with pytest.raises(InputError, match=r"broken\.gguf cannot be loaded: it is damaged, of a kind"):
        GgufModel.load(broken)


def test_nothing_is_printed(tiny_gguf: Path, capfd: pytest.CaptureFixture[str]) -> None:
    write(GgufModel.load(tiny_gguf, threads=1), 3)
    assert capfd.readouterr() == ("", "")


@pytest.mark.slow
def test_smollm2(smollm2: Path) -> None:
    model = GgufModel.load(smollm2, name="smollm2", context=512)
    assert (model.name, model.context, model.count("Hello there world")) == ("smollm2", 512, 3)
    asked = [Message("user", "What is the capital of France? Answer with one word.")]
    text = "".join(model.generate(asked, max_tokens=12))
    assert "Paris" in text
