"""Draw what a command prints in a terminal as an SVG: python tools/picture.py OUT.svg COMMAND…"""

from __future__ import annotations

import io
import os
import pty
import sys
from pathlib import Path

from rich.console import Console
from rich.text import Text

# Rich's own template fetches fonts from the network; this one uses what the reader has.
TEMPLATE = """<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, Menlo, Consolas, monospace; font-size: {char_height}px;
line-height: {line_height}px; font-variant-east-asian: full-width; }}
{styles}
</style>
<defs><clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}" />
</clipPath>{lines}</defs>
<rect fill="#0f1720" x="1" y="1" width="{width}" height="{height}" rx="8"/>
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">{matrix}</g>
</g>
</svg>
"""


def output_of(command: list[str]) -> str:
    """What the command writes to a terminal of 100 columns; it is shown here too, as it comes."""
    chunks: list[bytes] = []

    def read(descriptor: int) -> bytes:
        chunk = os.read(descriptor, 65536)
        chunks.append(chunk)
        return chunk

    os.environ.update(COLUMNS="100", LINES="40", TERM="xterm-256color")
    pty.spawn(command, read)
    return b"".join(chunks).decode().replace("\r\n", "\n")


def main() -> None:
    """Run the command and draw it."""
    path, command = Path(sys.argv[1]), sys.argv[2:]
    shown = " ".join(f'"{word}"' if " " in word else word for word in [Path(command[0]).name, *command[1:]])
    console = Console(record=True, width=102, file=io.StringIO())
    console.print(Text(f"$ {shown}\n", style="bold green"))
    console.print(Text.from_ansi(output_of(command)))
    console.save_svg(str(path), title="", code_format=TEMPLATE, unique_id="longform")


if __name__ == "__main__":
    main()
