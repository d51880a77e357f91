"""The 32-bit weights that training starts from: a folder, a model of the hub, or what ships as 8-bit ONNX."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

from longform.errors import InputError, reason_of
from longform.files import sha256_of, sync_folder
from longform.models.registry import cache_folder, find_model, onnx_file

__all__ = ["base_folder", "weights_sha256"]

_HUB_NAME = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")


def base_folder(name_or_path: str | Path, kind: str = "encoder") -> Path:
    """A transformers folder (``config.json``, ``*.safetensors``, tokenizer) to train from.

    ``name_or_path`` is a shipped name, a folder, a name in the cache, or ``owner/name`` of the hub. Safetensors are
    taken as they are; from an 8-bit ONNX encoder that Longform wrote, as the shipped one, the weights are made once,
    into the cache. Pickled weights are never opened.

    >>> import tempfile; os.environ["LONGFORM_HOME"] = tempfile.mkdtemp()
    >>> sorted(path.name for path in base_folder("encoder").glob("*.safetensors"))
    ['model.safetensors']
    """
    name = str(name_or_path)
    local = Path(name).expanduser()
    if _HUB_NAME.fullmatch(name) and not local.exists() and not (cache_folder() / name).is_dir():
        return _fetched(name)
    files = find_model(name_or_path, kind)
    for folder in (files.folder, files.folder / "0_Transformer"):
        if list(folder.glob("*.safetensors")):
            if not (folder / "config.json").is_file():
                raise InputError(f"{folder} has weights but no config.json: get the model folder anew.")
            return folder
    model = onnx_file(files.folder)
    if model is None:
        pickled = sorted(path.name for path in files.folder.rglob("*.bin"))
        found = f"only pickled weights ({pickled[0]}), which Longform does not open," if pickled else "no weights"
        raise InputError(f"{files.folder} has {found} to train from: put a model.safetensors in it.")
    return _dequantised(files.folder, model)


def weights_sha256(folder: Path) -> dict[str, str]:
    """The sha256 of each weight file of a folder, by its name: what a model card says it was trained from."""
    return {path.name: sha256_of(path) for path in sorted(folder.glob("*.safetensors"))}


def _dequantised(folder: Path, model: Path) -> Path:
    """The weights in an ONNX file, in the cache; of two processes that make them at once, one is kept."""
    from longform.train.dequantise import bert_of, write_bert

    if not (folder / "tokenizer.json").is_file():
        raise InputError(f"{folder} has no tokenizer.json: get the model folder anew.")
    settings = folder / "config.json"
    described = sha256_of(settings)[:8] if settings.is_file() else "bare"
    target = cache_folder() / "bases" / f"{folder.resolve().name}-{sha256_of(model)[:16]}-{described}"
    if target.is_dir():
        return target
    bert = bert_of(model)
    unfinished = _unfinished(target)
    try:
        write_bert(bert, folder, unfinished)
        return _published(unfinished, target)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _fetched(name: str) -> Path:
    """The safetensors of a model of the hub; :func:`find_model` would fetch its ONNX file, where it has one."""
    target = cache_folder() / "bases" / name
    if target.is_dir():
        return target
    by_hand = f"put its config.json, tokenizer.json and model.safetensors into {target}"
    try:
        import huggingface_hub
    except ImportError as error:
        raise InputError(
            f"{name} is neither a folder nor in the cache, and fetching it needs huggingface_hub: "
            f"`pip install 'longform[train]'`, or {by_hand}."
        ) from error
    unfinished = _unfinished(target)
    try:
        huggingface_hub.snapshot_download(
            name,
            allow_patterns=["*.json", "vocab.txt", "*.safetensors"],
            ignore_patterns=["onnx/*", "openvino/*"],
            local_dir=str(unfinished),
        )
        if not list(unfinished.glob("*.safetensors")):
            raise InputError(f"{name} has no safetensors on the hub: name another model to train from, or {by_hand}.")
        shutil.rmtree(unfinished / ".cache", ignore_errors=True)
        return _published(unfinished, target)
    except InputError:
        raise
    except Exception as error:
        reason = reason_of(error)
        raise InputError(
            f"{name} is neither a folder nor in the cache ({target}), and the hub did not give it "
            f"({reason}): check the name and the network, or {by_hand}."
        ) from error
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _unfinished(target: Path) -> Path:
    unfinished = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(parents=True)
    return unfinished


def _published(unfinished: Path, target: Path) -> Path:
    try:
        unfinished.replace(target)
    except OSError:
        # A folder with files in it is not replaced: somebody else was faster, with the same bytes.
        if not target.is_dir():
            raise
    sync_folder(target.parent)
    return target
