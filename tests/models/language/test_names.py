"""From what a person types to a model, or to one clear sentence."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from longform import InputError
from longform.errors import FailureError
from longform.models.fetch import FETCHABLE
from longform.models.language import open_language_model


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LONGFORM_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("gpt-9", "There is no language model gpt-9: give gguf:FILE, openai:NAME@URL, hf:FOLDER, or one that"),
        ("", r"There is no language model \(empty name\)"),
        ("gguf:", "gguf: names no model: give one of gguf:FILE, openai:NAME@URL, hf:FOLDER."),
        ("gguf:nowhere.gguf", r"There is no file nowhere\.gguf: give the path of a GGUF file"),
        ("gguf:folder", r"folder is a folder: give the GGUF file in it, or hf:folder for a transformers folder\."),
        ("gguf:notes.txt", r"notes\.txt is not a GGUF file: it does not begin with the letters GGUF\."),
        ("notes.txt", r"notes\.txt is a file: write gguf:notes\.txt to use it"),
        ("folder", "folder is a folder: write hf:folder to use it"),
        ("smollm2", "smollm2 is not installed: `longform models get smollm2` fetches it."),
        ("openai:gpt-9", "gpt-9 is no NAME@URL: write a model's name, @, and the http or https address"),
        ("openai:gpt-9@ftp://host", "is no NAME@URL"),
        ("openai:gpt-9@https://", "is no address of an endpoint: give one such as https://host/v1."),
        ("openai:gpt-9@https://host:x/v1", "is no address of an endpoint"),
    ],
)
def test_what_is_no_model(home: Path, name: str, said: str) -> None:
    (home / "folder").mkdir()
    (home / "notes.txt").write_text("no model")
    with pytest.raises(InputError, match=said):
        open_language_model(name)


@pytest.mark.parametrize("secret", ["https://me:hush@host/v1", "https://host/v1?key=hush"])
def test_secrets_in_an_address_are_refused_and_not_repeated(secret: str) -> None:
    with pytest.raises(InputError, match="LONGFORM_API_KEY") as caught:
        open_language_model(f"openai:m@{secret}")
    assert "hush" not in str(caught.value)
    with pytest.raises(InputError) as caught:
        open_language_model(f"openai:{secret}")
    assert "hush" not in str(caught.value)


def test_names_with_at_signs_and_slashes() -> None:
    model = open_language_model("openai:@cf/meta/llama@http://localhost:1/v1/", context=2048)
    assert (model.name, model.context) == ("openai:@cf/meta/llama@http://localhost:1/v1", 2048)


def test_a_damaged_model(home: Path) -> None:
    path = FETCHABLE["smollm2"].path
    path.parent.mkdir(parents=True)
    path.write_bytes(b"GGUF")
    with pytest.raises(FailureError, match="is damaged: `longform models get smollm2` fetches it anew"):
        open_language_model("SmolLM2")


def test_without_xllamacpp_and_without_torch(home: Path) -> None:
    (home / "model.gguf").write_bytes(b"GGUF")
    code = """
import sys
import importlib.util
sys.modules["xllamacpp"] = None
find = importlib.util.find_spec
importlib.util.find_spec = lambda name, *rest: None if name == "torch" else find(name, *rest)
from longform import InputError
from longform.models.language import open_language_model
for name in sys.argv[1:]:
    try:
        open_language_model(name)
    except InputError as error:
        print(error)
"""
    done = subprocess.run(
        [sys.executable, "-c", code, "gguf:model.gguf", "hf:."], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == [
        "Running model.gguf needs xllamacpp: `pip install 'longform[gguf]'` installs it.",
        "Running hf:. needs torch: `pip install 'longform[train]'` installs it.",
    ]
