"""What is meant by a word that is no command."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from typing import Any

import click

__all__ = ["Suggesting", "resolve"]


def resolve(
    group: click.Group, usual: Callable[..., Any], context: click.Context, arguments: list[str]
) -> Any:
    """What click finds for the arguments of a group; a word that is no command with a suggestion."""
    try:
        return usual(context, arguments)
    except click.UsageError as error:
        near = difflib.get_close_matches(arguments[0], group.list_commands(context), 1)
        if near:
            raise click.UsageError(f"{error.message} Did you mean {near[0]!r}?", context) from None
        raise


class Suggesting(click.Group):
    """A group that names the nearest command where there is none of that name."""

    def resolve_command(
        self, context: click.Context, arguments: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that was typed."""
        found: tuple[str | None, click.Command | None, list[str]]
        found = resolve(self, super().resolve_command, context, arguments)
        return found
