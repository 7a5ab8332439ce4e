"""Write every decision of a few readable peers, for implementations in other languages."""

from __future__ import annotations

import contextlib
import json
import sys
from pathlib import Path

import click

from workloads.cli.common import OUT_FILE, NumberRange, always_json_option
from workloads.files.atomic import atomic_write


@click.command("trace")
@click.option("--peers", type=click.IntRange(2, 5000), default=50, help="Number of peers.")
@click.option("--attributes", type=click.IntRange(1, 16), default=2, help="Number of attributes.")
@click.option("--cycles", type=click.IntRange(1), default=20, help="Cycles to run.")
@click.option("--crash", type=NumberRange(0, 0.9), default=0.1, help="Share of peers that crash halfway.")
@click.option("--seed", type=click.IntRange(0), default=1, help="Random seed.")
@click.option("--out", type=OUT_FILE, metavar="FILE", help="File to write.  [default: standard output]")
@always_json_option
def command(peers: int, attributes: int, cycles: int, crash: float, seed: int, out: Path | None) -> None:
    """Write every decision of the readable peers of Sub-2-Sub as JSON lines: what a peer was given, drew, and
    returned, and its view before and after.

    How to check an implementation in another language against them: docs/trace.md.

    \b
    Examples:
      sub2sub trace --peers 50 --out trace.jsonl
      sub2sub trace --peers 5 --cycles 3
    """
    from sub2sub.overlay.trace import Trace

    with contextlib.ExitStack() as opened:
        draft = opened.enter_context(atomic_write(out)) if out else None
        file = opened.enter_context(draft.open("w")) if draft else sys.stdout
        for line in Trace(peers, attributes, seed, crash).run(cycles):
            print(json.dumps(line), file=file)
