"""Suggestions for mistyped commands."""

from __future__ import annotations

import difflib

import click


class Suggesting(click.Group):
    """A group that suggests the nearest command for an unknown one."""

    def resolve_command(
        self, context: click.Context, arguments: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that was typed."""
        try:
            return super().resolve_command(context, arguments)
        except click.UsageError as error:
            near = difflib.get_close_matches(arguments[0], self.list_commands(context), 1)
            if near:
                raise click.UsageError(f"{error.message} Did you mean {near[0]!r}?", context) from None
            raise
