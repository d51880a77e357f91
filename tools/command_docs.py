"""Put every command's --help into its page in docs/commands/; with --check, fail where a page is stale."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import click

from longform.cli.app import COMMANDS, app

PAGES = Path(__file__).parent.parent / "docs" / "commands"
BEGIN, END = "<!-- begin help -->", "<!-- end help -->"
WIDTH = 100


def help_texts(command: click.Command, parent: click.Context) -> Iterator[str]:
    """What ``--help`` prints for a command, and for its subcommands, at a width of 100 columns."""
    context = click.Context(
        command, info_name=command.name, parent=parent, terminal_width=WIDTH, max_content_width=WIDTH
    )
    yield command.get_help(context)
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner is not None
            yield from help_texts(inner, context)


def with_help(page: str, name: str) -> str:
    """The page with its help block renewed; a new page gets one under its title."""
    root = click.Context(app, info_name="longform", terminal_width=WIDTH, max_content_width=WIDTH)
    command = app.get_command(root, name)
    assert command is not None
    blocks = "\n".join(f"```\n{text}\n```" for text in help_texts(command, root))
    block = f"{BEGIN}\n{blocks}\n{END}"
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
