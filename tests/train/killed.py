"""A training that is killed at its first checkpoint, and started again."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

__all__ = ["killed_and_finished"]


def killed_and_finished(words: list[str], out: Path, model: str) -> str:
    """Run ``longform`` with these words, kill it, see it go on; what it prints in the end.

    Other settings are refused in between and lose nothing; ``model`` is the file that is there only in the end.
    """
    command = [sys.executable, "-c", "from longform.cli import main; main()", *words]
    process = subprocess.Popen(command, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and not list(out.glob("training/checkpoint-*/trainer_state.json")):
        assert process.poll() is None, process.stderr and process.stderr.read()
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not (out / model).exists()
    kept = sorted(path.name for path in out.glob("training/checkpoint-*"))
    other = subprocess.run([*command, "--seed", "5"], capture_output=True, text=True, check=False)
    assert other.returncode == 2
    assert "holds an unfinished run with other settings (seed)" in other.stderr
    assert sorted(path.name for path in out.glob("training/checkpoint-*")) == kept
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (out / model).exists()
    assert not (out / "training").exists()
    first = int(done.stderr.split("training: ")[1].split(" of ")[0])
    assert first > 1, "it began anew"
    return done.stdout
