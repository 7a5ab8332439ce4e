"""Compile the kernels of an overlay now, so that nothing waits for them later."""

from __future__ import annotations

import click

__all__ = ["command"]


@click.command("warm")
def command() -> None:
    """Compile the kernels of an overlay, or find that they are compiled.

    They are compiled when they are first needed anyway; this does it beforehand, in two processes. Kernels
    are kept in the user's cache folder, or below NUMBA_CACHE_DIR, and compiled anew after an edit.
    """
    click.echo("compiling kernels, which takes about half a minute the first time ...", err=True)
    from sims.bench.warming import warm

    for name in warm():
        click.echo(f"ready: {name}", err=True)
