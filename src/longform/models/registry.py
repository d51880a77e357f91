"""Finds model files: shipped with the package, in a folder, in the cache, or on the hub.

The shipped ones are pinned by sha256. Nothing here opens weights, and nothing but weights, JSON and tokenizer
files is ever fetched.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType

from longform.errors import FailureError, InputError, reason_of
from longform.files import sha256_of

__all__ = ["ModelEntry", "ModelFiles", "cache_folder", "find_model", "list_models", "onnx_file"]

# In the order of preference: a folder of the hub often holds many variants of one model.
ONNX_NAMES = ("model.onnx", "onnx/model.onnx", "model_quantized.onnx", "onnx/model_quantized.onnx")

# The kinds of models that the package runs, and what a person calls them.
KINDS = {"encoder": "encoder", "reader": "reader", "entailment": "entailment model", "reranker": "re-ranker"}

_HUB_NAME = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")
_CACHE_NAME = re.compile(r"[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?")


@dataclass(frozen=True, slots=True)
class ModelEntry:
    """A model that ships with Longform; ``sha256`` pins each of its files."""

    name: str
    kind: str
    description: str
    licence: str
    source: str
    sha256: Mapping[str, str]
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """A model that was found: ``origin`` says where ("shipped", "folder", "cache" or "hub")."""

    name: str
    kind: str
    folder: Path
    origin: str
    entry: ModelEntry | None = None


_SHIPPED = (
    ModelEntry(
        name="encoder",
        kind="encoder",
        description="all-MiniLM-L6-v2: sentences and passages to 384 numbers; English; 8-bit ONNX.",
        licence="Apache-2.0",
        source="sentence-transformers/all-MiniLM-L6-v2",
        sha256=MappingProxyType(
            {
                "model.onnx": "5d6f3d6c5a384f78f9d7386a0a4d7106d620fd63f6ad06be83ae69c3b364877e",
                "tokenizer.json": "6681992d43e581b35b3dd61f3c81ee0f891fbf13ad54f8b692ea868bd46b066b",
                "config.json": "a452d0d5453b712485333359340602d5e7cc69429b4648ce780f999f4f26b0da",
            }
        ),
        aliases=("all-minilm-l6-v2",),
    ),
    ModelEntry(
        name="reranker",
        kind="reranker",
        description="Scores passages for a question, trained on silver passages; 4 layers; English; 8-bit ONNX.",
        licence="Apache-2.0",
        source="trained from sentence-transformers/all-MiniLM-L6-v2",
        sha256=MappingProxyType(
            {
                "model.onnx": "079c12e087a8beb7271e7f74421f67fe084800fb48b50b84831302208d122bd8",
                "tokenizer.json": "325e6539e09081160e94f36b13f0869734587b16be2add1a6848ba7eb4c10c38",
                "config.json": "1ab9ffa609f3b6e883fd75e8eea9413af0425bdf95ac4fd1ab6cececaf7e2a96",
            }
        ),
    ),
    ModelEntry(
        name="reader",
        kind="reader",
        description="Finds short answers in passages, or says that there is none; 6 layers; English; 8-bit ONNX.",
        licence="Apache-2.0",
        source="trained from sentence-transformers/all-MiniLM-L6-v2",
        sha256=MappingProxyType(
            {
                "model.onnx": "77c296de26d53e79f2cb4ac107b2429bcea614ef42ccc1406d282277d3c37b65",
                "tokenizer.json": "325e6539e09081160e94f36b13f0869734587b16be2add1a6848ba7eb4c10c38",
                "config.json": "e9221d160166bfcbc9d5e2a6fd76e284eede4f4ec8ae13aeeee3b02842d1cfbd",
            }
        ),
    ),
)


def list_models() -> list[ModelEntry]:
    """The models that ship with Longform.

    >>> [(model.name, model.licence) for model in list_models() if model.kind == "encoder"]
    [('encoder', 'Apache-2.0')]
    """
    return list(_SHIPPED)


def cache_folder() -> Path:
    """Where fetched and converted models go: ``$LONGFORM_HOME/models`` or ``~/.cache/longform/models``."""
    home = os.environ.get("LONGFORM_HOME")
    return (Path(home).expanduser() if home else Path.home() / ".cache" / "longform") / "models"


def find_model(name_or_path: str | Path, kind: str) -> ModelFiles:
    """The files of a model: a shipped name, a folder, a name in the cache, or ``owner/name`` on the hub.

    >>> find_model("all-MiniLM-L6-v2", "encoder").origin
    'shipped'
    """
    name = str(name_or_path)
    if not name.strip():
        raise InputError(f"The name of the {kind} model is empty: give a name or a folder.")
    entry = _shipped(name, kind)
    if entry is not None:
        return ModelFiles(entry.name, kind, _checked(entry), "shipped", entry)
    folder = Path(name).expanduser()
    if folder.is_dir():
        return ModelFiles(folder.resolve().name, kind, folder, "folder")
    if folder.is_file():
        raise InputError(f"{name} is a file: give the folder that holds the model.")
    if _CACHE_NAME.fullmatch(name):
        cached = cache_folder() / name
        if cached.is_dir():
            return ModelFiles(name, kind, cached, "cache")
    if _HUB_NAME.fullmatch(name):
        return ModelFiles(name, kind, _fetched(name), "hub")
    shipped = ", ".join(known.name for known in _SHIPPED if known.kind == kind)
    called = KINDS.get(kind, kind)
    if not shipped:
        raise InputError(
            f"There is no {called} {name}: Longform ships none, and it is neither a folder nor in {cache_folder()}; "
            "give a folder with an ONNX model, or owner/name of a model on the Hugging Face hub."
        )
    raise InputError(
        f"There is no {called} {name}: neither shipped ({shipped}), nor a folder, "
        f"nor in {cache_folder()}; give one of these, or owner/name of a model on the Hugging Face hub."
    )


def onnx_file(folder: Path) -> Path | None:
    """The ONNX file of a folder: one of the usual names, else the only ``*.onnx``, else ``None``."""
    for name in ONNX_NAMES:
        if (folder / name).is_file():
            return folder / name
    found = sorted(folder.glob("*.onnx")) or sorted(folder.glob("onnx/*.onnx"))
    if len(found) > 1:
        names = ", ".join(path.name for path in found)
        raise InputError(f"{folder} holds several ONNX files ({names}): name the one to use model.onnx.")
    return found[0] if found else None


def _shipped(name: str, kind: str) -> ModelEntry | None:
    for entry in _SHIPPED:
        if name.lower() in (entry.name, *entry.aliases):
            if entry.kind != kind:
                raise InputError(f"{name} is of kind {entry.kind}, where a model of kind {kind} is needed.")
            return entry
    return None


def _weights_folder() -> Path:
    return Path(__file__).resolve().parent.parent / "weights"


def _checked(entry: ModelEntry) -> Path:
    folder = _weights_folder() / entry.name
    for name, expected in entry.sha256.items():
        if _sha256_once(folder / name) != expected:
            raise FailureError(f"{folder / name} is damaged: reinstall longform.")
    return folder


@cache
def _sha256_once(path: Path) -> str:
    """Hashed once per process: 30 ms for the 24 MB of the shipped encoder."""
    try:
        return sha256_of(path)
    except OSError as error:
        raise FailureError(f"{path} cannot be read ({error.strerror}): reinstall longform.") from error


def _fetched(name: str) -> Path:
    """A model of the hub, copied into the cache; an interrupted copy leaves no folder of that name."""
    target = cache_folder() / name
    by_hand = f"put its config.json, tokenizer.json and model.onnx or model.safetensors into {target}"
    try:
        import huggingface_hub
    except ImportError as error:
        raise InputError(
            f"{name} is neither a folder nor in the cache, and fetching it needs huggingface_hub: "
            f"`pip install 'longform[hub]'`, or {by_hand}."
        ) from error
    unfinished = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        wanted = _wanted(huggingface_hub.HfApi().list_repo_files(name))
        huggingface_hub.snapshot_download(name, allow_patterns=wanted, local_dir=str(unfinished))
        shutil.rmtree(unfinished / ".cache", ignore_errors=True)
        unfinished.replace(target)
    except Exception as error:
        reason = reason_of(error)
        raise InputError(
            f"{name} is neither a folder nor in the cache ({target}), and the hub did not give it "
            f"({reason}): check the name and the network, or {by_hand}."
        ) from error
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    return target


def _wanted(files: list[str]) -> list[str]:
    """Of a repository's files, those that running the model takes: never pickled weights, never code.

    >>> _wanted(["config.json", "model.safetensors", "onnx/model.onnx", "onnx/model_O4.onnx", "modeling.py"])
    ['config.json', 'onnx/model.onnx']
    """
    small = [name for name in files if name.endswith((".json", "vocab.txt"))]
    small = [name for name in small if not name.startswith(("onnx/", "openvino/"))]
    for name in ONNX_NAMES:
        if name in files:
            # Weights beside the graph, as large models have them.
            return [
                *small,
                *(file for file in files if file == name or file.startswith((f"{name}_", f"{name}."))),
            ]
    return [
        *small,
        *(name for name in files if name.endswith(".safetensors") and not name.startswith("openvino/")),
    ]
