"""What a model folder says about itself: length, pooling, normalisation, prompts.

Three shapes are read: Longform's own ``config.json`` (written by ``longform.train.export``), a
sentence-transformers folder (``modules.json`` and what it names, of version 2 to 6), and a bare transformers
folder (mean pooling, normalised).
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from longform.errors import InputError

__all__ = ["FORMAT", "EncoderSettings", "read_json", "read_settings"]

FORMAT = "longform-encoder/1"

# Where neither the folder nor its tokenizer limits the length: what BERT-like position tables hold.
LONGEST = 512

_POOLING_FLAGS = {
    "pooling_mode_cls_token": "cls",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_max_tokens": "max",
    "pooling_mode_mean_sqrt_len_tokens": "mean_sqrt_len_tokens",
    "pooling_mode_weightedmean_tokens": "weightedmean",
    "pooling_mode_lasttoken": "lasttoken",
}


@dataclass(frozen=True, slots=True)
class EncoderSettings:
    """How texts become vectors, apart from the weights.

    >>> EncoderSettings(name="tiny", question_prompt="query: ").to_json()["question_prompt"]
    'query: '
    """

    name: str
    max_length: int = LONGEST
    pooling: str = "mean"
    normalise: bool = True
    lowercase: bool = False
    question_prompt: str = ""
    passage_prompt: str = ""

    def to_json(self) -> dict[str, Any]:
        """The fields as a JSON object, with the format's name first."""
        return {"format": FORMAT, **asdict(self)}


def read_json(path: Path) -> Any:
    """The value in a JSON file, ``None`` where there is no such file."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise InputError(f"{path} is not readable JSON ({error}): get the model folder anew.") from error


def read_settings(folder: Path) -> EncoderSettings:
    """The settings of a model folder.

    >>> import tempfile
    >>> read_settings(Path(tempfile.mkdtemp())).pooling
    'mean'
    """
    config = _object(folder / "config.json")
    if config.get("format") == FORMAT:
        fields = {name: config[name] for name in EncoderSettings.__dataclass_fields__ if name in config}
        return EncoderSettings(**fields)
    pooling, normalise, transformer = _modules(folder)
    # Most folders without a Normalize module are meant for cosines all the same; only those for inner
    # products are not.
    described = _object(folder / "config_sentence_transformers.json")
    normalise = normalise or described.get("similarity_fn_name") not in ("dot", "dot_score")
    sentence = _object(transformer / "sentence_bert_config.json")
    question, passage = _prompts(described)
    return EncoderSettings(
        name=folder.name,
        max_length=_max_length(transformer, sentence),
        pooling=pooling,
        normalise=normalise,
        lowercase=bool(sentence.get("do_lower_case", False)),
        question_prompt=question,
        passage_prompt=passage,
    )


def _object(path: Path) -> dict[str, Any]:
    value = read_json(path)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise InputError(f"{path} should hold a JSON object: get the model folder anew.")
    return value


def _modules(folder: Path) -> tuple[str, bool, Path]:
    """Pooling, whether vectors are normalised, and the folder of the transformer itself."""
    modules = read_json(folder / "modules.json")
    if modules is None:
        pooling = _pooling(folder / "1_Pooling") if (folder / "1_Pooling").is_dir() else "mean"
        return pooling, True, folder
    pooling, normalise, transformer = "mean", False, folder
    for module in modules:
        # "sentence_transformers.models.Pooling" up to version 5,
        # "sentence_transformers.sentence_transformer.modules.pooling.Pooling" from 6 on.
        kind = str(module["type"]).rpartition(".")[2]
        if kind == "Transformer":
            transformer = folder / module["path"]
        elif kind == "Pooling":
            pooling = _pooling(folder / module["path"])
        elif kind == "Normalize":
            normalise = True
        else:
            raise InputError(
                f"{folder} has a module {kind}, which Longform cannot run: it takes Transformer, Pooling and Normalize."
            )
    return pooling, normalise, transformer


def _pooling(folder: Path) -> str:
    config = _object(folder / "config.json")
    named = config.get("pooling_mode")
    if named is None:
        modes = [mode for flag, mode in _POOLING_FLAGS.items() if config.get(flag)]
    else:
        modes = [named] if isinstance(named, str) else list(named)
    if not config.get("include_prompt", True):
        raise InputError(f"{folder} leaves the prompt out of pooling, which Longform cannot do.")
    if modes not in (["mean"], ["cls"], []):
        raise InputError(f"{folder} pools by {' + '.join(map(str, modes))}: Longform pools by mean or cls.")
    return modes[0] if modes else "mean"


def _max_length(folder: Path, sentence: dict[str, Any]) -> int:
    given = sentence.get("max_seq_length")
    if given:
        return int(given)
    # A tokenizer without a limit writes 1e30 here, so the smallest of the sane values counts. RoBERTa's table
    # has two rows more than it can use.
    config = _object(folder / "config.json")
    positions = config.get("max_position_embeddings") or LONGEST
    if config.get("model_type") in ("roberta", "xlm-roberta", "camembert", "mpnet"):
        positions -= 2
    limit = _object(folder / "tokenizer_config.json").get("model_max_length") or LONGEST
    return int(min(positions, limit))


def _prompts(config: dict[str, Any]) -> tuple[str, str]:
    prompts = config.get("prompts") or {}
    default = prompts.get(config.get("default_prompt_name"), "")
    question = prompts.get("query", default)
    passage = prompts.get("passage") or prompts.get("document") or default
    return str(question), str(passage)
