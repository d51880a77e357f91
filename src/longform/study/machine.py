"""What a run was made on: the versions of what decides numbers, and the machine."""

from __future__ import annotations

import os
import platform
from datetime import datetime, timezone
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from longform._version import __version__

__all__ = ["machine", "now", "versions"]

_PACKAGES = ("numpy", "onnxruntime", "tokenizers", "tantivy", "faiss-cpu", "orjson", "xllamacpp", "torch")


def versions() -> dict[str, str]:
    """Longform's version, Python's, and those of the packages that compute."""
    found = {"longform": __version__, "python": platform.python_version()}
    for name in _PACKAGES:
        try:  # noqa: SIM105
            found[name] = version(name)
        except PackageNotFoundError:  # noqa: PERF203
            pass
    return found


def machine() -> dict[str, Any]:
    """System, processor, cores and memory; nothing that names the machine or its owner."""
    return {
        "system": platform.platform(),
        "processor": _processor(),
        "cores": os.cpu_count(),
        "memory_gb": _memory(),
    }


def now() -> str:
    """The time, in UTC, to the second."""
    return datetime.now(timezone.utc).isoformat(timespec="seconds")


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def _memory() -> float | None:
    try:
        return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9, 1)
    except (ValueError, OSError, AttributeError):
        return None
