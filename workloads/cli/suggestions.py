"""Suggestions for mistyped commands."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from typing import Any

import click


def resolve(
    group: click.Group, usual: Callable[..., Any], context: click.Context, arguments: list[str]
) -> Any:
    """Resolve the arguments of a group as click does; for an unknown command, suggest the nearest."""
    try:
        return usual(context, arguments)
    except click.UsageError as error:
        near = difflib.get_close_matches(arguments[0], group.list_commands(context), 1)
        if near:
            raise click.UsageError(f"{error.message} Did you mean {near[0]!r}?", context) from None
        raise


class Suggesting(click.Group):
    """A group that suggests the nearest command for an unknown one."""

    def resolve_command(
        self, context: click.Context, arguments: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that was typed."""
        found: tuple[str | None, click.Command | None, list[str]]
        found = resolve(self, super().resolve_command, context, arguments)
        return found
