"""The card of a fine-tuned writer."""

from __future__ import annotations

from dataclasses import fields, replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from longform.train.card import command_line, data_rows, table, write_card
from longform.train.generator_settings import GeneratorSettings

if TYPE_CHECKING:
    from longform.train.generator import GeneratorResult

__all__ = ["write_generator_card"]


def write_generator_card(
    folder: Path,
    result: GeneratorResult,
    base: str,
    questions: Path,
    settings: GeneratorSettings,
    record: dict[str, Any],
) -> None:
    """Write what the model is, what it learnt from, how, and how good it is."""
    write_card(
        folder,
        result.folder.resolve().name,
        "A language model fine-tuned to write long answers from passages (Christmann et al., 2024, "
        "*Retrieving Contextual Information for Long-Form Question Answering using Weak Supervision*, Algorithm 1), "
        "by low-rank additions that are merged into its weights. "
        f"Use it with `longform ask INDEX QUESTION --model hf:{result.folder}`"
        + (f" or `--model gguf:{result.gguf}`." if result.gguf else "."),
        {
            "Command": command_line() + f" peft {version('peft')}.",
            "Data": _data(result, questions, record),
            "Settings": _settings(base, settings, record),
            "Scores": _scores(result),
        },
    )


def _data(result: GeneratorResult, questions: Path, record: dict[str, Any]) -> str:
    lines = [data_rows([questions], [result.examples + result.held_out])]
    lines.append(
        f"{result.examples:,} answers to train on, {result.held_out:,} held out and looked at. In {result.cut:,} "
        f"prompts passages were cut; {result.left_out:,} answers left no room for passages and were left out. "
        f"Index: sha256 of its passages {record['index']}, searched by {record['mode']}, re-ranked by "
        f"{record['rerank']}."
    )
    if record["exclude"] is not None:
        lines.append(f"The questions of a list of ids were left out (sha256 of the list: {record['exclude']}).")
    return "\n\n".join(lines)


def _settings(base: str, settings: GeneratorSettings, record: dict[str, Any]) -> str:
    chosen = replace(settings, cite=settings.cites)
    shown = [[field.name.replace("_", " "), _shown(getattr(chosen, field.name))] for field in fields(settings)]
    sums = ", ".join(f"{name}: {value}" for name, value in record["base"].items())
    return table(["setting", "value"], [["base", base], *shown]) + f"\n\nBase weights, sha256: {sums}."


def _shown(value: Any) -> str:
    return ("no", "yes")[value] if isinstance(value, bool) else f"{value}"


def _scores(result: GeneratorResult) -> str:
    time = f"{result.seconds / 60:.0f} minutes of training."
    if result.before is None:
        return f"Nothing was held out. {time}"
    rows: list[list[object]] = [["before training", result.before]]
    rows += [[f"after step {step}", loss] for step, loss in result.looks]
    rows += [["of the best, which was kept", result.after], ["as exported", result.exported]]
    if result.exported_gguf is not None:
        rows.append(["as exported to GGUF", result.exported_gguf])
    head = ["loss of a token of held-out answers, in nats", "value"]
    return table(head, rows) + f"\n\n{time}"
