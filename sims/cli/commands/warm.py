"""Compile the kernels now, so that later commands do not wait for them."""

from __future__ import annotations

import time

import click

from workloads.cli.common import json_option, print_json


@click.command("warm")
@json_option
def command(as_json: bool) -> None:
    """Compile the kernels of an overlay, unless they are compiled already.

    Other commands compile them when they first need them; this does it beforehand, in two processes. Compiled
    kernels are kept in the user's cache folder, or in NUMBA_CACHE_DIR, and compiled again when their source
    changes.
    """
    began = time.monotonic()
    from sub2sub.warming import warm

    ready = []
    for name in warm():
        ready.append(name)
        click.echo(f"ready: {name}", err=True)
    if as_json:
        print_json({"ready": ready, "seconds": round(time.monotonic() - began, 1)})
