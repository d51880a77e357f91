"""The command line that the exporters share: ``python -m longform.train.export…``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from longform.errors import InputError, LongformError
from longform.files import sha256_of

__all__ = ["export_parser", "exported"]


def export_parser(module: str, description: str, folder: str) -> argparse.ArgumentParser:
    """The arguments that every exporter takes."""
    parser = argparse.ArgumentParser(prog=f"python -m {module}", description=description.split("\n")[0])
    parser.add_argument("folder", help=f"{folder} with safetensors weights")
    parser.add_argument("--out", required=True, help="the folder to write")
    precision = parser.add_mutually_exclusive_group()
    precision.add_argument("--int8", action="store_true", default=True, help="8-bit weights (the default)")
    precision.add_argument("--fp32", dest="int8", action="store_false", help="32-bit weights")
    parser.add_argument("--max-length", type=int, help="tokens of an input that count; else what the folder says")
    parser.add_argument("--name", help="the model's name in config.json; else the folder's name")
    return parser


def exported(given: argparse.Namespace, shortest: int, export: Callable[[], Path]) -> int:
    """Export, and print where the model is and its sha256, or one sentence of what is wrong; the exit code."""
    try:
        if given.max_length is not None and given.max_length < shortest:
            raise InputError(f"--max-length must be {shortest} or more.")
        out = export()
    except LongformError as error:
        sys.stderr.write(f"Error: {error}\n")
        return error.exit_code
    sys.stdout.write(f"{out / 'model.onnx'} {sha256_of(out / 'model.onnx')}\n")
    return 0
