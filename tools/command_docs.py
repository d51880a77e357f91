"""Put every command's --help into its page in docs/commands/; with --check, fail where a page is stale."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from longform.cli.app import COMMANDS, app

PAGES = Path(__file__).parent.parent / "docs" / "commands"
BEGIN, END = "<!-- begin help -->", "<!-- end help -->"


def help_text(name: str) -> str:
    """What ``longform NAME --help`` prints at a width of 100 columns."""
    context = click.Context(app, info_name="longform", terminal_width=100, max_content_width=100)
    command = app.get_command(context, name)
    assert command is not None
    inner = click.Context(command, info_name=name, parent=context, terminal_width=100, max_content_width=100)
    return command.get_help(inner)


def with_help(page: str, name: str) -> str:
    """The page with its help block renewed; a new page gets one under its title."""
    block = f"{BEGIN}\n```\n{help_text(name)}\n```\n{END}"
    if BEGIN not in page:
        return f"{page.rstrip() or f'# longform {name}'}\n\n{block}\n"
    before, rest = page.split(BEGIN, 1)
    return f"{before}{block}{rest.split(END, 1)[1]}"


def main() -> None:
    """Write the pages, or only check them."""
    stale = []
    for name in COMMANDS:
        path = PAGES / f"{name}.md"
        page = path.read_text(encoding="utf-8") if path.exists() else ""
        renewed = with_help(page, name)
        if renewed != page:
            stale.append(name)
            if "--check" not in sys.argv:
                path.write_text(renewed, encoding="utf-8")
    if stale and "--check" in sys.argv:
        sys.exit(f"Stale pages in docs/commands: {', '.join(stale)}. Run `make docs`.")


if __name__ == "__main__":
    main()
