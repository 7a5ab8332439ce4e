"""Compile the kernels of an overlay now, so that nothing waits for them later."""

from __future__ import annotations

import time

import click

from workloads.cli.common import json_option, print_json

__all__ = ["command"]


@click.command("warm")
@json_option
def command(as_json: bool) -> None:
    """Compile the kernels of an overlay, or find that they are compiled.

    They are compiled when they are first needed anyway; this does it beforehand, in two processes. Kernels
    are kept in the user's cache folder, or below NUMBA_CACHE_DIR, and compiled anew after an edit.
    """
    began = time.monotonic()
    click.echo("compiling kernels, which takes about half a minute the first time ...", err=True)
    from sims.bench.warming import warm

    ready = []
    for name in warm():
        ready.append(name)
        click.echo(f"ready: {name}", err=True)
    if as_json:
        print_json({"ready": ready, "seconds": round(time.monotonic() - began, 1)})
