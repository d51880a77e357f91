"""From the name that a person types to a language model."""

from __future__ import annotations

from pathlib import Path

from longform.errors import InputError
from longform.files import sha256_of
from longform.models.fetch import FETCHABLE, installed
from longform.models.language.protocol import LanguageModel

__all__ = ["language_fingerprint", "open_language_model"]

_FORMS = "gguf:FILE, openai:NAME@URL, hf:FOLDER"


def open_language_model(name: str, *, context: int | None = None, threads: int | None = None) -> LanguageModel:
    """The model of a name: ``gguf:FILE``, ``openai:NAME@URL``, ``hf:FOLDER``, or one that was fetched (``smollm2``).

    ``context`` is how many tokens prompt and answer may have together; ``threads`` is for models in this process.

    >>> open_language_model("openai:some-model@https://example.org/v1").name
    'openai:some-model@https://example.org/v1'
    """
    kind, colon, rest = name.partition(":")
    kind = kind.lower()
    if colon and kind in ("gguf", "openai", "hf") and not rest.strip():
        raise InputError(f"{name} names no model: give one of {_FORMS}.")
    if colon and kind == "gguf":
        from longform.models.language.gguf import GgufModel

        return GgufModel.load(rest, context=context, threads=threads)
    if colon and kind == "openai":
        from longform.models.language.endpoint import EndpointModel

        return EndpointModel.open(rest, context=context)
    if colon and kind == "hf":
        from longform.models.language.folder import open_folder

        return open_folder(rest, context=context, threads=threads)
    if name.lower() in FETCHABLE:
        from longform.models.language.gguf import GgufModel

        entry = FETCHABLE[name.lower()]
        path = installed(entry)
        if path is None:
            raise InputError(f"{entry.name} is not installed: `longform models get {entry.name}` fetches it.")
        return GgufModel.load(path, name=entry.name, context=context, threads=threads)
    raise InputError(_unknown(name))


def language_fingerprint(name: str) -> str | None:
    """A hash of the weights that a name stands for; ``None`` where they are not on this machine.

    >>> language_fingerprint("openai:some-model@https://example.org/v1") is None
    True
    """
    kind, colon, rest = name.partition(":")
    kind = kind.lower()
    if colon and kind == "gguf" and Path(rest).is_file():
        return sha256_of(Path(rest))
    if colon and kind == "hf":
        return " ".join(sha256_of(path) for path in sorted(Path(rest).glob("*.safetensors"))) or None
    entry = None if colon else FETCHABLE.get(name.lower())
    path = installed(entry) if entry else None
    return None if path is None else sha256_of(path)


def _unknown(name: str) -> str:
    if Path(name).expanduser().is_file():
        return f"{name} is a file: write gguf:{name} to use it as a language model."
    if name.strip() and Path(name).expanduser().is_dir():
        return f"{name} is a folder: write hf:{name} to use it as a language model."
    known = ", ".join(FETCHABLE)
    return (
        f"There is no language model {name or '(empty name)'}: give {_FORMS}, or one that `longform models get` "
        f"fetches ({known})."
    )
