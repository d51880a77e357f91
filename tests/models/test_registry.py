"""Models are found where they are, and what is damaged or missing is said in one sentence."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from longform.errors import FailureError, InputError
from longform.models import find_model, list_models, registry
from longform.models.registry import cache_folder, onnx_file


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LONGFORM_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def test_every_shipped_model_is_whole_and_described() -> None:
    for entry in list_models():
        found = find_model(entry.name, entry.kind)
        assert (found.origin, found.entry) == ("shipped", entry)
        assert entry.licence and entry.source and entry.description
        assert (found.folder / "README.md").is_file()


def test_the_model_card_names_the_hash() -> None:
    for entry in list_models():
        card = (find_model(entry.name, entry.kind).folder / "README.md").read_text(encoding="utf-8")
        assert all(digest in card for name, digest in entry.sha256.items() if name.endswith(".onnx"))


def test_an_alias_in_any_case() -> None:
    assert find_model("all-MiniLM-L6-v2", "encoder").name == "encoder"


def test_another_kind_is_refused() -> None:
    with pytest.raises(InputError, match="encoder is of kind encoder, where a model of kind reranker is needed"):
        find_model("encoder", "reranker")


def test_a_damaged_file_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "weights"
    shutil.copytree(registry._weights_folder() / "encoder", folder / "encoder")
    monkeypatch.setattr(registry, "_weights_folder", lambda: folder)
    assert find_model("encoder", "encoder").folder == folder / "encoder"
    registry._sha256_once.cache_clear()
    model = folder / "encoder" / "model.onnx"
    model.write_bytes(model.read_bytes()[:-1] + b"?")
    with pytest.raises(FailureError, match=r"model\.onnx is damaged: reinstall longform"):
        find_model("encoder", "encoder")
    registry._sha256_once.cache_clear()
    model.unlink()
    with pytest.raises(FailureError, match=r"model\.onnx cannot be read .*: reinstall longform"):
        find_model("encoder", "encoder")


def test_a_folder(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    found = find_model(tmp_path / "mine", "encoder")
    assert (found.origin, found.name, found.entry) == ("folder", "mine", None)


def test_a_file_is_not_a_folder(tmp_path: Path) -> None:
    (tmp_path / "model.onnx").write_bytes(b"")
    with pytest.raises(InputError, match="is a file: give the folder"):
        find_model(tmp_path / "model.onnx", "encoder")


@pytest.mark.parametrize("name", ["mine", "owner/mine"])
def test_a_name_in_the_cache(name: str, home: Path) -> None:
    (home / "models" / name).mkdir(parents=True)
    found = find_model(name, "encoder")
    assert (found.origin, found.folder) == ("cache", home / "models" / name)


def test_the_cache_is_under_the_user_where_nothing_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LONGFORM_HOME")
    assert cache_folder() == Path.home() / ".cache" / "longform" / "models"


@pytest.mark.parametrize("name", ["nothing", "../models", "", "a/b/c"])
def test_an_unknown_name_says_what_was_tried(name: str, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "models").mkdir(parents=True)
    if name == "":
        monkeypatch.chdir(home)
        with pytest.raises(InputError, match="model is empty"):
            find_model(name, "encoder")
        return
    with pytest.raises(InputError, match=r"There is no encoder .*shipped \(encoder.*\), nor a folder, nor in"):
        find_model(name, "encoder")


class Hub(ModuleType):
    """In place of ``huggingface_hub``: a repository with these files."""

    def __init__(self, files: list[str], error: Exception | None = None) -> None:
        super().__init__("huggingface_hub")
        self.files, self.error, self.asked = files, error, []

    asked: list[str]

    def HfApi(self) -> Hub:  # noqa: N802
        return self

    def list_repo_files(self, name: str) -> list[str]:
        if self.error:
            raise self.error
        return self.files

    def snapshot_download(self, name: str, allow_patterns: list[str], local_dir: str) -> None:
        self.asked = allow_patterns
        for file in allow_patterns:
            path = Path(local_dir, file)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(name)


FILES = ["config.json", "1_Pooling/config.json", "tokenizer.json", "modeling.py", "pytorch_model.bin", "README.md"]


def test_the_hub_fills_the_cache_once(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hub = Hub([*FILES, "model.safetensors"])
    monkeypatch.setitem(sys.modules, "huggingface_hub", hub)
    found = find_model("owner/name", "encoder")
    assert (found.origin, found.folder) == ("hub", home / "models" / "owner" / "name")
    assert hub.asked == ["config.json", "1_Pooling/config.json", "tokenizer.json", "model.safetensors"]
    assert sorted(path.name for path in found.folder.parent.iterdir()) == ["name"]
    assert find_model("owner/name", "encoder").origin == "cache"


def test_of_many_onnx_files_one_is_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    extra = ["model.safetensors", "onnx/model.onnx", "onnx/model.onnx_data", "onnx/model_O4.onnx", "onnx/x.json"]
    hub = Hub([*FILES, *extra])
    monkeypatch.setitem(sys.modules, "huggingface_hub", hub)
    find_model("owner/name", "encoder")
    assert hub.asked[-2:] == ["onnx/model.onnx", "onnx/model.onnx_data"]
    assert "model.safetensors" not in hub.asked


@pytest.mark.parametrize("module", [None, Hub([], OSError("no network"))])
def test_without_the_hub_the_files_can_be_put_in_place(
    module: Any, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", module)
    with pytest.raises(InputError) as caught:
        find_model("owner/name", "encoder")
    place = home / "models" / "owner" / "name"
    assert f"put its config.json, tokenizer.json and model.onnx or model.safetensors into {place}" in str(caught.value)
    assert ("longform[hub]" if module is None else "no network") in str(caught.value)
    assert not place.exists()


@pytest.mark.parametrize("name", ["model.onnx", "onnx/model.onnx", "model_quantized.onnx", "any.onnx"])
def test_onnx_names(name: str, tmp_path: Path) -> None:
    assert onnx_file(tmp_path) is None
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_bytes(b"")
    assert onnx_file(tmp_path) == tmp_path / name


def test_several_onnx_files(tmp_path: Path) -> None:
    for name in ("a.onnx", "b.onnx"):
        (tmp_path / name).write_bytes(b"")
    with pytest.raises(InputError, match=r"several ONNX files \(a\.onnx, b\.onnx\): name the one to use"):
        onnx_file(tmp_path)
