"""The wheel, installed in a fresh environment away from the checkout, does what the checkout does."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent


def run(*command: str | Path, cwd: Path, **environment: str) -> str:
    # Neither the checkout nor what a developer has set may be found from there.
    clean = {
        key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "VIRTUAL_ENV", "LONGFORM"))
    }
    done = subprocess.run(
        [str(part) for part in command], cwd=cwd, env=clean | environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0 and ("hatchling" in done.stderr or "No module named pip" in done.stderr):
        pytest.skip(f"no wheel can be built here: {done.stderr.strip().splitlines()[-1]}")
    assert done.returncode == 0, done.stderr
    return next(folder.glob("longform-*.whl"))


@pytest.fixture(scope="module")
def command(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """``longform`` in an environment that has the wheel, and from ours only what it depends on."""
    home = tmp_path_factory.mktemp("fresh")
    run(sys.executable, "-m", "venv", "--without-pip", home / "venv", cwd=home)
    python = home / "venv" / "bin" / "python"
    site = Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=home).strip())
    pip = [sys.executable, "-m", "pip", "--python", python]
    run(*pip, "install", "--quiet", "--no-deps", "--no-index", wheel, cwd=home)
    # Listed as a path alone: the .pth files in there, such as that of the checkout, are not read.
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    where = run(python, "-c", "import longform; print(longform.__file__)", cwd=home).strip()
    assert Path(where).is_relative_to(site)
    return home / "venv" / "bin" / "longform"


def test_what_is_in_it(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    weights = {path.relative_to(ROOT / "src").as_posix() for path in (ROOT / "src/longform/weights").rglob("*.*")}
    assert any(name.endswith("model.onnx") for name in weights)
    assert weights <= names
    assert "longform/py.typed" in names
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert not [name for name in names if name.startswith(("tests", "bench", "docs")) or "__pycache__" in name]
    assert wheel.stat().st_size < 80_000_000


def test_it_does_what_the_checkout_does(command: Path, tmp_path: Path, examples: Path) -> None:
    pages = sorted(path for path in examples.rglob("*.md"))[:6]
    assert pages
    (tmp_path / "docs").mkdir()
    for page in pages:
        (tmp_path / "docs" / page.name).write_bytes(page.read_bytes())
    checkout = [sys.executable, "-c", "from longform.cli import main; main()"]
    answers = []
    for name, longform in (("wheel", [command]), ("checkout", checkout)):
        run(*longform, "index", "docs", "--dense", "-o", f"{name}.index", cwd=tmp_path)
        found = {}
        for mode in ("bm25", "dense", "hybrid"):
            question = "Who ruled the country then?"
            out = run(*longform, "search", f"{name}.index", question, "--mode", mode, "-k", "3", "--json", cwd=tmp_path)
            found[mode] = json.loads(out)
        assert "whole, checksums right" in run(*longform, "info", f"{name}.index", cwd=tmp_path)
        answers.append(found)
    assert answers[0] == answers[1]
    assert all(len(found["hits"]) == 3 for found in answers[0].values() if found["mode"] != "bm25")
    assert run(command, "--version", cwd=tmp_path) == run(*checkout, "--version", cwd=tmp_path)
