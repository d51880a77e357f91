"""A group of commands that loads a command's module when it is called, and not before."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click

__all__ = ["LazyGroup"]


class LazyGroup(click.Group):
    """Commands by name, each the ``command`` of the module of that name in ``package``.

    ``summaries`` are their names with the line that the group's help shows for each.
    """

    def __init__(self, *arguments: Any, package: str, summaries: Mapping[str, str], **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.package, self.summaries = package, summaries

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(self.summaries)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in self.summaries:
            return None
        command = import_module(f"{self.package}.{cmd_name}").command
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl(list(self.summaries.items()))
