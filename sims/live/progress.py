"""What a swarm shows while it runs: links, rings, deliveries and rates."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

from sims.live.swarm import Watch


def table(watch: Watch, before: Watch | None = None) -> dict[str, str]:
    """An observation of a swarm as names and values; rates are since the one before.

    Examples
    --------
    >>> table(Watch(3.0, 5.0, 0, 1.0, 1.0, []))["complete rings"]
    '100.0 %'
    """

    def mean(name: str) -> float:
        sizes = [len(getattr(report, name)) for report in watch.reports]
        return float(np.mean(sizes)) if sizes else 0.0

    def total(look: Watch, name: str) -> int:
        return sum(report.counts.get(name, 0) for report in look.reports)

    seconds = watch.seconds - before.seconds if before else watch.seconds
    peers = max(watch.peers, 1)

    def rate(name: str) -> float:
        gained = total(watch, name) - (total(before, name) if before else 0)
        return max(gained, 0) / max(seconds, 1e-9)

    return {
        "seconds": f"{watch.seconds:.0f}",
        "cycle": f"{watch.cycle:.0f}",
        "peers": f"{watch.peers}",
        "random links": f"{mean('random'):.1f} a peer",
        "proximity links": f"{mean('near'):.1f} a peer",
        "ring links": f"{mean('ring'):.1f} a peer",
        "ring links in place": f"{100 * watch.links:.1f} %",
        "complete rings": f"{100 * watch.complete:.1f} %",
        "deliveries": f"{total(watch, 'delivered'):,} ({rate('delivered'):.1f}/s)",
        "duplicates, spam": f"{total(watch, 'duplicates'):,}, {total(watch, 'spam'):,}",
        "frames sent": f"{total(watch, 'frames out'):,} ({rate('frames out') / peers:.1f}/s a peer)",
        "bytes sent": f"{total(watch, 'bytes out'):,} ({rate('bytes out') / peers / 1000:.1f} kB/s a peer)",
        "unreachable": f"{total(watch, 'unreachable'):,}",
    }


@contextmanager
def watching(title: str, quiet: bool = False) -> Iterator[Callable[[Watch], None]]:
    """A function to show looks with: a table that is redrawn on a terminal, a line each elsewhere."""
    before: Watch | None = None
    if quiet or not sys.stderr.isatty():

        def print_line(watch: Watch) -> None:
            if not quiet:
                rings = f"{100 * watch.links:5.1f} % of ring links, {100 * watch.complete:5.1f} % of rings"
                print(f"{title}: {watch.seconds:6.1f} s, {watch.peers} peers, {rings}", file=sys.stderr)

        yield print_line
        return
    from rich.console import Console
    from rich.live import Live
    from rich.table import Table

    with Live(console=Console(stderr=True), auto_refresh=False) as screen:

        def draw(watch: Watch) -> None:
            nonlocal before
            drawn = Table(title=f"{title}, {time.strftime('%H:%M:%S')}", show_header=False)
            for name, value in table(watch, before).items():
                drawn.add_row(name, value)
            screen.update(drawn, refresh=True)
            before = watch

        yield draw
