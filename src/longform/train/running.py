"""What all trainers share: reporting, checkpoints that are gone on from, and quiet libraries."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from longform.errors import FailureError, InputError
from longform.files import atomic_write
from longform.train.quiet import quiet_libraries

__all__ = [
    "Checkpoints",
    "Report",
    "TrainingStep",
    "all_cores",
    "needs",
    "no_report",
    "quiet_training",
    "report_callback",
    "train",
]


@dataclass(frozen=True, slots=True)
class TrainingStep:
    """How far training is: ``loss`` is the mean since the last report, ``seconds_left`` an estimate."""

    stage: str
    done: int
    total: int
    loss: float | None
    seconds_left: float | None


Report = Callable[[TrainingStep], None]


def no_report(step: TrainingStep) -> None:
    """Ignore it: the default."""


def needs(what: str) -> None:
    """Say in one sentence what is missing, before a trainer imports it."""
    try:
        import accelerate  # noqa: F401
        import datasets  # noqa: F401
        import onnx  # noqa: F401
        import sentence_transformers  # noqa: F401
        import torch  # noqa: F401
        import transformers  # noqa: F401
    except ImportError as error:
        raise InputError(f"{what} needs {error.name}: `pip install 'longform[train]'` installs it.") from error


@dataclass(frozen=True)
class Checkpoints:
    """The folder in which a run keeps its checkpoints until it has ended, and the settings that they belong to.

    The same command goes on from the last whole checkpoint. Another one must not: a model trained half on one set of
    data and half on another would carry a card that lies.
    """

    folder: Path

    def last(self, settings: Mapping[str, Any]) -> str | None:
        """The checkpoint to go on from, or ``None``; one of other settings is refused."""
        recorded = self.folder / "settings.json"
        wanted = json.loads(json.dumps(settings))
        if recorded.is_file():
            found = self._read(recorded)
            if not isinstance(found, dict):
                raise self._damaged(recorded)
            changed = sorted(key for key in {*found, *wanted} if found.get(key) != wanted.get(key))
            if changed:
                raise InputError(
                    f"{self.folder} holds an unfinished run with other settings ({', '.join(changed)}): "
                    "give the same ones to go on with it, remove the folder, or choose another --out."
                )
        else:
            self.folder.mkdir(parents=True, exist_ok=True)
            with atomic_write(recorded) as file:
                file.write(json.dumps(wanted, indent=2).encode())
        # The trainer writes its state last: a checkpoint without it was cut short by a kill.
        numbered = [path for path in self.folder.glob("checkpoint-*") if path.name.rpartition("-")[2].isdecimal()]
        whole = [path for path in numbered if (path / "trainer_state.json").is_file()]
        for path in numbered:
            if path not in whole:
                shutil.rmtree(path, ignore_errors=True)
        return str(max(whole, key=lambda path: int(path.name.rpartition("-")[2]))) if whole else None

    def seconds(self) -> float:
        """The seconds that earlier starts of this run took."""
        spent = self.folder / "seconds.json"
        found = self._read(spent) if spent.is_file() else 0.0
        if not isinstance(found, int | float):
            raise self._damaged(spent)
        return float(found)

    def _read(self, path: Path) -> Any:
        try:
            return json.loads(path.read_text(encoding="utf-8"))
        except ValueError:
            raise self._damaged(path) from None

    def _damaged(self, path: Path) -> FailureError:
        return FailureError(f"{path} is damaged: remove {self.folder} to begin anew.")

    def add_seconds(self, seconds: float) -> None:
        """Remember how long this start took so far."""
        with atomic_write(self.folder / "seconds.json") as file:
            file.write(json.dumps(round(seconds, 1)).encode())

    def clear(self) -> None:
        """Remove the folder: the run has ended and its model is written."""
        shutil.rmtree(self.folder, ignore_errors=True)


def report_callback(report: Report, checkpoints: Checkpoints, stage: str = "training") -> Any:
    """A transformers callback that reports every step, and keeps the time across restarts."""
    from transformers import TrainerCallback

    class Reporter(TrainerCallback):  # type: ignore[misc, unused-ignore]
        def __init__(self) -> None:
            self.started = time.monotonic()
            self.first = 0
            self.loss: float | None = None
            self.before = checkpoints.seconds()

        def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:  # noqa: ARG002
            self.started, self.first = time.monotonic(), state.global_step

        def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **_: Any) -> None:  # noqa: ARG002
            self.loss = (logs or {}).get("loss", self.loss)

        def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:  # noqa: ARG002
            done, total = state.global_step, state.max_steps
            spent = time.monotonic() - self.started
            left = spent / (done - self.first) * (total - done) if done > self.first else None
            report(TrainingStep(stage, done, total, self.loss, left))

        def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:  # noqa: ARG002
            checkpoints.add_seconds(self.before + time.monotonic() - self.started)

        def on_train_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:  # noqa: ARG002
            checkpoints.add_seconds(self.before + time.monotonic() - self.started)

    return Reporter()


def train(trainer: Any, checkpoint: str | None) -> None:
    """Run a trainer, from a checkpoint where there is one, without its own bars."""
    from transformers.trainer_callback import PrinterCallback, ProgressCallback

    trainer.remove_callback(PrinterCallback)
    trainer.remove_callback(ProgressCallback)
    trainer.train(resume_from_checkpoint=checkpoint)


@contextlib.contextmanager
def all_cores() -> Iterator[None]:
    """Let torch use every core that this process may use, unless ``OMP_NUM_THREADS`` says how many."""
    import torch

    from longform.models.runtime import available_cores

    before = torch.get_num_threads()
    if not os.environ.get("OMP_NUM_THREADS"):
        torch.set_num_threads(available_cores())
    try:
        yield
    finally:
        torch.set_num_threads(before)


@contextlib.contextmanager
def quiet_training() -> Iterator[None]:
    """Silence what the libraries print and log, and keep them off the network and off any tracking service."""
    import transformers

    names = {"TOKENIZERS_PARALLELISM": "false", "WANDB_DISABLED": "true", "HF_DATASETS_DISABLE_PROGRESS_BARS": "1"}
    before = {name: os.environ.get(name) for name in names}
    os.environ.update(names)
    try:
        with quiet_libraries(transformers):
            yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
